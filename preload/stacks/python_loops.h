// Which runs of CPython's evaluation loop does the copy of a native stack have, and which Python frame did each of them
// run (3.12 and newer)? python_outside.cpp calls it on the helper thread. Nothing but the copy is read.
//
// Each run has an entry frame among the local variables of the loop's native frame. It is a link of the thread's chain
// of Python frames, and leads to the frame that the outer run was at:
//
//   native stack        run 0's frame              run 1's frame              run 2's frame
//                       [ .. entry 0 .. ]          [ .. entry 1 .. ]          [ .. entry 2 .. ]
//                              ^     |                    ^     |                    ^     |
//   Python frames   inner ... -+     +-> frame ... frame -+     +-> frame ... frame -+     +-> 0
//
// So the address of an entry identifies its run, and the copy contains what each run but the innermost was at.
#pragma once

#include "preload/format/stack_definitions.h"
#include "preload/stacks/copied_stack.h"
#include "preload/stacks/python/python_frames.h"

#include <cstdint>

namespace prof::preload {

// A run of the loop: its native frame is [begin, end). Its part of the copy, [low, end), has the frames of what it
// called too, up to the next run, with the registers that these saved.
struct CopiedLoop {
  uint64_t low = 0, begin = 0, end = 0;
};

struct CopiedLoops {
  CopiedLoop at[format::kMaxStackFrames];  // innermost first
  uint32_t count = 0;
  bool bounded = true;          // false: the ends of a native frame are not known
  bool starts_in_loop = false;  // the loop was interrupted so early that it may have no entry yet
};

// `loop`, `loop_bytes`: the instructions of the evaluation loop.
void find_loops(uint64_t loop, uint64_t loop_bytes, const StackCopy& copy, const CopiedStack& native, CopiedLoops& to);

// kNone: the address is in no frame of a loop.
uint32_t loop_at(const CopiedLoops& loops, uint64_t address);

// The entry frame at that address, as the copy has it. False: there is none.
bool copied_entry(const PythonLayout& layout, const StackCopy& copy, uint64_t at, PythonFrame& entry);

// The frame that a run was at when the copy was made; 0: the copy does not show it. `loop`: its index. `entry`: the
// address of its entry. The entry of the next inner run has the same place in its frame.
uint64_t frame_of_loop(const PythonLayout& layout, const StackCopy& copy, const CopiedLoops& loops, uint32_t loop,
                       uint64_t entry);

// What each run of the loop is at, by a walk from a thread's innermost frame outwards.
struct RunsOfLoop {
  static constexpr uint32_t kMost = 256;
  uint64_t entry[kMost] = {}, frame[kMost] = {};
  uint32_t count = 0;
};

// Walks outwards to the last frame, or to the entry `until`. False: it is not reached.
template <class Memory>
bool read_runs(const PythonLayout& layout, const Memory& memory, uintptr_t top, uintptr_t until, RunsOfLoop& to) {
  constexpr uint32_t kMostFrames = 1024;
  to.count = 0;
  uintptr_t at = top, begin = top;
  for (uint32_t i = 0; at != 0; ++i) {
    PythonFrame frame;
    if (i == kMostFrames || at % 8 != 0 || !read_frame(layout, memory, at, frame) || frame.owner > kOwnedByLoop + 1)
      return false;
    if (frame.code == 0) {
      if (to.count == RunsOfLoop::kMost) return false;
      to.entry[to.count] = at;
      to.frame[to.count++] = begin;
      if (at == until) return true;
      begin = frame.previous;
    }
    at = frame.previous;
  }
  return until == 0;
}

}  // namespace prof::preload
