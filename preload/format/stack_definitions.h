// Definitions of call stacks (see definitions.h): their frames, the files that these are in, and what the frames are called.
#pragma once

#include "preload/format/ids.h"
#include "preload/format/numbers.h"

#include <cstdint>
#include <string_view>

namespace prof::format {

// A call stack, innermost frame first. The two halves belong together: the frame of Python that a native frame runs is
// found offline, where the interpreter's evaluation loops are in `native` and the entry bits in `python` (call_stack.h of the model).
inline constexpr uint32_t kMaxStackFrames = 128;  // of each half: both and the rest fit kMaxRecordBytes
inline constexpr uint32_t kStackNativeCut = 1;    // flags: there were more native frames, towards main()
inline constexpr uint32_t kStackPythonCut = 2;    // there were more Python frames
inline constexpr uint32_t kStackCut = kStackNativeCut | kStackPythonCut;
inline constexpr uint32_t kStackFramePointers = 4;  // found by frame pointers: functions without one are missing
inline constexpr uint32_t kStackBroken = 8;         // ended at code that says nothing about its caller
inline constexpr uint32_t kStackNoNative = 16;      // native frames were asked for and could not be taken
inline constexpr uint32_t kStackNoPython = 32;      // the same for Python
// A frame of StackDef::python: the frame's id << 1 | kPythonEntry where an evaluation loop began with it.
inline constexpr uint64_t kPythonEntry = 1;
constexpr uint64_t python_frame_word(uint64_t frame, bool entry) { return frame << 1 | (entry ? kPythonEntry : 0); }
constexpr PythonFrameId python_frame_of(uint64_t word) { return static_cast<PythonFrameId>(word >> 1); }
constexpr bool is_python_entry(uint64_t word) { return (word & kPythonEntry) != 0; }

struct StackDef {
  static constexpr uint32_t kKind = 50;
  static constexpr std::string_view kName = "stack";
  StackId id{};
  uint64_t generation = 0;  // of the images (ImageDef) by which its addresses are to be read
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

// A place in Python code: a code object and the line it was at.
struct PythonFrameDef {
  static constexpr uint32_t kKind = 51;
  static constexpr std::string_view kName = "python_frame";
  PythonFrameId id{};
  StringId file{};
  StringId function{};      // qualified where the interpreter has that (3.11 and newer)
  uint32_t line = 0;        // 0: not known
  uint32_t first_line = 0;  // of the function
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("file", s.file);
    v.value("function", s.function);
    v.value("line", s.line);
    v.value("first_line", s.first_line);
  }
};

// An ELF file mapped into the process: the program or a shared library. An address of a stack of generation g belongs to the
// image with begin <= address - 1 < end, generation <= g, and no ImageGone of a generation <= g. Memory without a file
// (made at run time, the vdso) has no image.
struct ImageDef {
  static constexpr uint32_t kKind = 52;
  static constexpr std::string_view kName = "image";
  ImageId id{};
  uint64_t generation = 0;  // dlcloses that took code away before it was first met
  uint64_t base = 0;        // address in the process minus address in the file ("load bias")
  uint64_t begin = 0;       // of its executable segments, first to last, in the process
  uint64_t end = 0;
  StringId path{};
  std::string_view build_id;  // hex digits; empty: it has none
  uint64_t file_bytes = 0;    // size and time of change of the file at `path` when it was met; 0: not there
  uint64_t file_time = 0;     // seconds since 1970
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

// From this generation on the image is not there any more.
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

// What an address of an image is called. Never written while recording: `prof symbolize --embed` adds these, so that a log can
// be read where the program's files are not. Records of one address follow each other, the innermost function first; the
// one that is not inlined is the last.
struct SymbolDef {
  static constexpr uint32_t kKind = 60;
  static constexpr std::string_view kName = "symbol";
  ImageId image{};       // or any other of the same file
  uint64_t address = 0;  // of the file: a stack's address − the image's base
  StringId function{};   // mangled, where it has such a name
  StringId file{};
  uint32_t line = 0;     // 0: not known
  uint32_t inlined = 0;  // 1: into the function of the next record
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
