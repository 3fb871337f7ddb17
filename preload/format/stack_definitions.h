// What is a recorded call stack? These definitions (see definitions.h) hold the frames of stacks, the files that
// contain them, and the names of the frames. The recorder writes them, except SymbolDef, and the reader reads them.
#pragma once

#include "preload/format/ids.h"
#include "preload/format/numbers.h"

#include <cstdint>
#include <string_view>

namespace prof::format {

// A call stack, innermost frame first, has native and Python frames. The reader merges the two lists
// (analyzer/analysis/stacks/merged_stacks.h). It finds the Python frame that a native frame runs from the interpreter's
// evaluation loops in `native` and the entry bits in `python`.
inline constexpr uint32_t kMaxStackFrames = 128;  // of each list: both and the other fields fit in kMaxRecordBytes
inline constexpr uint32_t kStackNativeCut = 1;    // flags: more native frames existed, towards main()
inline constexpr uint32_t kStackPythonCut = 2;    // more Python frames existed
inline constexpr uint32_t kStackCut = kStackNativeCut | kStackPythonCut;
inline constexpr uint32_t kStackFramePointers = 4;  // unwound by frame pointers: functions without one are missing
inline constexpr uint32_t kStackBroken = 8;         // ended at code without information about its caller
inline constexpr uint32_t kStackNoNative = 16;      // native frames were requested and could not be read
inline constexpr uint32_t kStackNoPython = 32;      // the same for Python frames
inline constexpr uint32_t kStackPythonInner = 64;   // the thread went on: inner Python frames are not known
// The name of the frame that such a stack has for each evaluation loop whose frames are not known.
inline constexpr std::string_view kUnknownPythonFrames = "[Python frames not known]";
// A frame of StackDef::python: the id of the frame << 1. kPythonEntry is added if an evaluation loop started with that
// frame.
inline constexpr uint64_t kPythonEntry = 1;
constexpr uint64_t python_frame_word(uint64_t frame, bool entry) { return frame << 1 | (entry ? kPythonEntry : 0); }
constexpr PythonFrameId python_frame_of(uint64_t word) { return static_cast<PythonFrameId>(word >> 1); }
constexpr bool is_python_entry(uint64_t word) { return (word & kPythonEntry) != 0; }

struct StackDef {
  static constexpr uint32_t kKind = 50;
  static constexpr std::string_view kName = "stack";
  StackId id{};
  uint64_t generation = 0;  // generation of the images (ImageDef) to which its addresses refer
  Numbers native;           // return addresses in the process; the first is that of the recorded call
  Numbers python;           // python_frame_word()
  uint32_t flags = 0;       // kStack…
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("generation", s.generation);
    v.numbers("native", s.native);
    v.numbers("python", s.python);
    v.optional("flags", s.flags);
  }
};

// A place in Python code: a code object and its current line.
struct PythonFrameDef {
  static constexpr uint32_t kKind = 51;
  static constexpr std::string_view kName = "python_frame";
  PythonFrameId id{};
  StringId file{};
  StringId function{};      // qualified name if the interpreter has it (3.11 and newer)
  uint32_t line = 0;        // 0: not known
  uint32_t first_line = 0;  // first line of the function
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("file", s.file);
    v.value("function", s.function);
    v.value("line", s.line);
    v.value("first_line", s.first_line);
  }
};

// An ELF file mapped into the process: the program or a shared library. An address of a stack of generation g belongs
// to the image with begin <= address - 1 < end and generation <= g. That image must have no ImageGone of a generation
// <= g. Memory without a file (code that was generated while the program runs, the vdso) has no image.
struct ImageDef {
  static constexpr uint32_t kKind = 52;
  static constexpr std::string_view kName = "image";
  ImageId id{};
  uint64_t generation = 0;  // number of dlcloses that unloaded code before the image was first seen
  uint64_t base = 0;        // address in the process minus address in the file ("load bias")
  uint64_t begin = 0;       // in the process; from its first executable segment to its last one
  uint64_t end = 0;
  StringId path{};
  std::string_view build_id;  // hex digits; empty: the file has none
  uint64_t file_bytes = 0;    // size of the file at `path` when it was first seen; 0: it did not exist
  uint64_t file_time = 0;     // modification time of that file, seconds since 1970; 0: it did not exist
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("generation", s.generation);
    v.value("base", s.base);
    v.value("begin", s.begin);
    v.value("end", s.end);
    v.value("path", s.path);
    v.text("build_id", s.build_id);
    v.value("file_bytes", s.file_bytes);
    v.value("file_time", s.file_time);
  }
};

// From this generation on, the image is no longer mapped.
struct ImageGone {
  static constexpr uint32_t kKind = 53;
  static constexpr std::string_view kName = "image_gone";
  ImageId id{};
  uint64_t generation = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("generation", s.generation);
  }
};

// The name of an address of an image. The recorder never writes it: `prof symbolize --embed` adds these records, so
// that a log can be read on a machine without the program's files. The records of one address follow each other, the
// innermost function first. The last one is the function that is not inlined.
struct SymbolDef {
  static constexpr uint32_t kKind = 60;
  static constexpr std::string_view kName = "symbol";
  ImageId image{};       // or another image of the same file
  uint64_t address = 0;  // address in the file: address of a stack − base of the image
  StringId function{};   // mangled, if it has a mangled name
  StringId file{};
  uint32_t line = 0;     // 0: not known
  uint32_t inlined = 0;  // 1: inlined into the function of the next record
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("image", s.image);
    v.value("address", s.address);
    v.value("function", s.function);
    v.optional("file", s.file);
    v.optional("line", s.line);
    v.optional("inlined", s.inlined);
  }
};

}  // namespace prof::format
