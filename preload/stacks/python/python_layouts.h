// Where does the CPython of this process keep its frames, code objects and texts? choose_layout() fills the layout in
// from python_layouts.def or from what the interpreter publishes. This file needs no header of Python and links nothing
// of it.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace prof::preload {

inline constexpr uint32_t kNone = ~0u;

// How code objects store their lines: co_lnotab (3.8, 3.9), co_linetable of 3.10, and that of 3.11 and newer.
enum class LineFormat : uint32_t { Lnotab, Ranges, Locations };
// How a frame stores its position: bytes or 2-byte units from the start of the code, or an address.
enum class Position : uint32_t { Bytes, Units, Pointer };

struct PythonLayout {
  uint32_t minor = 0;
  bool free_threaded = false;
  uint32_t finalizing = 0;  // in _PyRuntime: not null while the interpreter finalizes
  // In _PyRuntime up to 3.11, where a thread's registered state stays the first one that it had: the newest
  // interpreter, followed by the main one, and the thread state that holds the GIL. kNone: the registered state is the
  // running one.
  uint32_t interpreters = kNone, current_thread = kNone;
  uint32_t thread_id = 0, thread_frame = 0, cframe = 0;  // cframe: kNone if thread_frame is the frame itself
  uint32_t frame_code = 0, frame_previous = 0, frame_position = 0;
  Position position = Position::Bytes;
  uint32_t frame_owner = 0, frame_entry = 0;
  uint32_t code_file = 0, code_name = 0, code_lines = 0;
  LineFormat lines = LineFormat::Lnotab;
  uint32_t code_first_line = 0;
  uint32_t code_start = 0;  // of its instructions, inside the object; kNone: in a separate object
  uint32_t code_identity =
      0;  // 8 bytes that differ between most code objects; 3.12 and newer: between all (co_version)
  uint32_t object_type = 8;
  uint32_t bytes_size = 16, bytes_data = 32;
  uint32_t text_size = 16, text_state = 32, text_ascii = 0, text_other = 0;
  uint32_t text_kind = 2;  // the first of the bits of a text's state: kind (bytes a character) 3, compact 1, ascii 1
  // 3.14 and newer without the GIL: threads run copies of the code's instructions. A frame has the index of its copy.
  // The code object has a pointer to their table: a 64-bit count, then an address for each index. Copy 0 is the code's
  // own one.
  uint32_t frame_copy = kNone, code_copies = kNone;

  bool operator==(const PythonLayout&) const = default;

  // An index of an instruction. Frames before it are being set up and Python does not show them either (3.11 and
  // newer).
  uint32_t code_first_traceable() const {
    return code_start == kNone ? kNone : (code_copies == kNone ? code_start : code_copies) - 16;
  }

  // Each run of the evaluation loop has a frame of its own in the chain, which is in the loop's native frame.
  bool has_entry_frames() const { return minor >= 13; }
  // Each frame has a run of its own.
  bool runs_are_frames() const { return minor <= 10; }
  // The chain ends with a frame that is part of the thread's state. It looks like a run of the loop.
  bool has_base_frame() const { return minor >= 15; }
};

// Frames with this owner or a higher one represent a run of the evaluation loop, not code (3.12 and newer).
inline constexpr uint8_t kOwnedByLoop = 3;

// Two mutexes of the GIL are before gilstate.tstate_current in _PyRuntime. A mutex has 40 bytes on x86-64, as in the
// rows, and 48 on aarch64.
constexpr uint32_t current_thread_of(uint32_t in_row) {
  return in_row == kNone ? kNone : in_row + 2 * (static_cast<uint32_t>(sizeof(pthread_mutex_t)) - 40);
}

inline constexpr PythonLayout kPythonLayouts[] = {
#define PYTHON_LAYOUT(minor, finalizing, interpreters, current, thread_id, thread_frame, cframe, code, previous,   \
                      position, unit, owner, entry, file, name, lines, format, first_line, start, identity, ascii, \
                      other)                                                                                       \
  {minor,                                                                                                          \
   false,                                                                                                          \
   finalizing,                                                                                                     \
   interpreters,                                                                                                   \
   current_thread_of(current),                                                                                     \
   thread_id,                                                                                                      \
   thread_frame,                                                                                                   \
   cframe,                                                                                                         \
   code,                                                                                                           \
   previous,                                                                                                       \
   position,                                                                                                       \
   Position::unit,                                                                                                 \
   owner,                                                                                                          \
   entry,                                                                                                          \
   file,                                                                                                           \
   name,                                                                                                           \
   lines,                                                                                                          \
   LineFormat::format,                                                                                             \
   first_line,                                                                                                     \
   start,                                                                                                          \
   identity,                                                                                                       \
   8,                                                                                                              \
   16,                                                                                                             \
   32,                                                                                                             \
   16,                                                                                                             \
   32,                                                                                                             \
   ascii,                                                                                                          \
   other},
#define PYTHON_PUBLISHED(...)
#define PYTHON_LOCK(...)
#include "preload/stacks/python/python_layouts.def"
#undef PYTHON_LAYOUT
#undef PYTHON_PUBLISHED
#undef PYTHON_LOCK
};

// From this version on the interpreter publishes its layout. A row here contains only the usual values.
inline constexpr uint32_t kFirstPublished = 13;

struct PythonInterpreter;
// Null, or the reason why there is no layout.
const char* choose_layout(const PythonInterpreter& python, PythonLayout& layout);

// The lock of an interpreter (GIL), for 3.12 and newer.
struct PythonLock {
  uint32_t pointer = 0;           // in the interpreter: the address of its lock
  uint32_t holder = 0, held = 0;  // in the lock: the thread state that had it last, and whether that one still has it
};
// False: this version has none, or it is not known where.
bool choose_lock(const PythonInterpreter& python, PythonLock& lock);

}  // namespace prof::preload
