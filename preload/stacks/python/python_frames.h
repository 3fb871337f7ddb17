// How is the next frame of a thread's chain of Python frames read, by a PythonLayout? python_stack.cpp and
// python_check.cpp use it. `Memory` decides how bytes are read: plainly after the layout was checked, or through the
// kernel, which reports an error where a load would crash (python_check.cpp).
#pragma once

#include "preload/stacks/python/python_layouts.h"

#include <cstdint>
#include <cstring>

namespace prof::preload {

struct PlainMemory {
  template <class T> bool read(uintptr_t at, T& to) const {
    std::memcpy(&to, reinterpret_cast<const void*>(at), sizeof to);
    return true;
  }
};

struct PythonFrame {
  uintptr_t previous = 0;
  uintptr_t code = 0;     // 0: the frame is a run of the evaluation loop, not code
  uint64_t position = 0;  // in the frame's own unit: PythonLayout::position
  int32_t copy = 0;       // which copy of the code's instructions `position` is in (PythonLayout::frame_copy)
  uint8_t owner = 0;
  bool entry =
      false;  // known to be the first of its loop; 3.12 and newer: when the frame before it is a run of the loop
};

// The innermost frame of a thread state. 0: the thread runs no Python code.
template <class Memory>
bool top_frame(const PythonLayout& layout, const Memory& memory, uintptr_t thread, uintptr_t& frame) {
  if (!memory.read(thread + layout.thread_frame, frame)) return false;
  return layout.cframe == kNone || frame == 0 || memory.read(frame + layout.cframe, frame);
}

template <class Memory>
__attribute__((always_inline)) inline bool read_frame(const PythonLayout& layout, const Memory& memory, uintptr_t at,
                                                      PythonFrame& frame) {
  if (!memory.read(at + layout.frame_previous, frame.previous)) return false;
  if (layout.frame_owner != kNone && !memory.read(at + layout.frame_owner, frame.owner)) return false;
  if (frame.owner >= kOwnedByLoop) {
    frame.code = 0;
    return true;
  }
  if (!memory.read(at + layout.frame_code, frame.code)) return false;
  if (layout.minor >= 14) frame.code &= ~uintptr_t{7};  // tags
  if (layout.position == Position::Pointer) {
    if (!memory.read(at + layout.frame_position, frame.position)) return false;
    if (layout.frame_copy != kNone && !memory.read(at + layout.frame_copy, frame.copy)) return false;
  } else {
    int32_t index = 0;
    if (!memory.read(at + layout.frame_position, index)) return false;
    frame.position = static_cast<uint64_t>(int64_t{index});
  }
  frame.entry = layout.minor <= 10;
  return layout.frame_entry == kNone || memory.read(at + layout.frame_entry, frame.entry);
}

// Whether the chain ends with this frame, which is no run of the loop.
inline bool is_base_frame(const PythonLayout& layout, const PythonFrame& frame) {
  return layout.has_base_frame() && frame.code == 0 && frame.previous == 0;
}

// Where the instructions begin that the frame runs (3.11 and newer). False: there is no such copy.
template <class Memory>
bool first_instruction(const PythonLayout& layout, const Memory& memory, const PythonFrame& frame, uintptr_t& first) {
  first = frame.code + layout.code_start;
  if (frame.copy == 0) return true;
  uintptr_t copies = 0;
  int64_t count = 0;
  return memory.read(frame.code + layout.code_copies, copies) && copies % 8 == 0 && memory.read(copies, count) &&
         frame.copy > 0 && frame.copy < count && memory.read(copies + 8 + uint64_t(frame.copy) * 8, first) &&
         first != 0;
}

// Makes a position in a copy of the code one in the code itself. False: there is no such copy.
template <class Memory> bool leave_copy(const PythonLayout& layout, const Memory& memory, PythonFrame& frame) {
  uintptr_t first = 0;
  if (frame.copy == 0) return true;
  if (!first_instruction(layout, memory, frame, first)) return false;
  frame.position += frame.code + layout.code_start - first;
  frame.copy = 0;
  return true;
}

// The position in bytes from the start of the code. Negative: before its first instruction.
inline int64_t offset_of(const PythonLayout& layout, const PythonFrame& frame) {
  switch (layout.position) {
    case Position::Bytes: return static_cast<int64_t>(frame.position);
    case Position::Units: return static_cast<int64_t>(frame.position) * 2;
    case Position::Pointer: break;
  }
  return static_cast<int64_t>(frame.position - frame.code - layout.code_start);
}

}  // namespace prof::preload
