// Which runs of CPython's evaluation loop does the copy of a native stack have, and which Python frame was each of them
// at? python_outside.cpp calls it on the helper thread.
//
// Each run has a mark among the local variables of the loop's native frame. Its address identifies the run. The marks
// of a thread are a list, which begins in its state. In 3.13 and newer, a mark is an entry frame. It is a link of the
// chain of Python frames, and leads to the frame that the outer run was at:
//
//   native stack        run 0's frame              run 1's frame              run 2's frame
//                       [ .. entry 0 .. ]          [ .. entry 1 .. ]          [ .. entry 2 .. ]
//                              ^     |                    ^     |                    ^     |
//   Python frames   inner ... -+     +-> frame ... frame -+     +-> frame ... frame -+     +-> 0
//
// In 3.11 and 3.12 it is a struct with the frame that its own run is at, and the struct of the outer run. So the copy
// contains what each run but the innermost was at.
//
// Up to 3.10, each Python frame has a run of its own and is its mark. It is not on the native stack, but its address is
// there: the loop and the functions that it calls keep it.
#pragma once

#include "preload/format/stack_definitions.h"
#include "preload/stacks/copied_stack.h"
#include "preload/stacks/python/python_frames.h"

#include <algorithm>
#include <cstdint>

namespace prof::preload {

inline constexpr uint64_t kSavedByCallee = 64;  // bytes below a frame's end in which it keeps its caller's registers

// A run of the loop: its native frame is [begin, end). Its part of the copy, [low, end), has the frames of what it
// called too, up to the next run, with the registers that these saved.
struct CopiedLoop {
  uint64_t low = 0, begin = 0, end = 0;
};

struct CopiedLoops {
  CopiedLoop at[format::kMaxStackFrames];  // innermost first
  uint32_t count = 0;
  bool bounded = true;          // false: the native frames of the loops are not known, or their ends are not
  bool starts_in_loop = false;  // the loop was interrupted so early that it may have no entry yet
};

// `loop`, `loop_bytes`: the instructions of the evaluation loop.
void find_loops(uint64_t loop, uint64_t loop_bytes, const StackCopy& copy, const CopiedStack& native, CopiedLoops& to);

// kNone: the address is in no frame of a loop.
uint32_t loop_at(const CopiedLoops& loops, uint64_t address);

// The entry frame at that address, as the copy has it. False: there is none.
bool copied_entry(const PythonLayout& layout, const StackCopy& copy, uint64_t at, PythonFrame& entry);

// The frame that a run was at when the copy was made; 0: the copy does not show it. `loop`: its index. `mark`: the
// address of its mark. That of the next inner run has the same place in its frame.
uint64_t frame_of_loop(const PythonLayout& layout, const StackCopy& copy, const CopiedLoops& loops, uint32_t loop,
                       uint64_t mark);

// Calls visit(word) for the words in which the functions inside a run keep their callers' registers, if they do: the
// last ones of their native frames. `begin`: that of the run's native frame.
template <class Visit>
void each_saved_word(const StackCopy& copy, const CopiedStack& native, uint64_t begin, const Visit& visit) {
  for (uint32_t i = 0; i + 1 < native.count && native.stack_pointers[i] < begin; ++i) {
    const uint64_t low = native.stack_pointers[i], end = native.stack_pointers[i + 1];
    if (low < copy.low || end <= low || end > begin) continue;
    uint64_t word = 0;
    for (uint64_t at = end - std::min(end - low, kSavedByCallee); at < end; at += 8) {
      if (copy.read(at, word)) visit(word);
    }
  }
}

inline constexpr uint64_t kLongestInstruction = 2 + 2 * 9;  // bytes of an instruction of Python, with its caches

// For builds that have a function for each instruction of Python, called by the loop: the index of the frame that the
// run was at. kNone: not proven. The function keeps the frame and the address of the next instruction in its native
// frame while it calls another function. Old words may be there too. So there must be one frame only, and the thread
// must still be at that instruction. `begin`: that of the run's native frame. `at`, `frames`: the chain of `count`
// frames.
uint32_t frame_of_instruction(const StackCopy& copy, const CopiedStack& native, uint64_t begin, const uintptr_t* at,
                              const PythonFrame* frames, uint32_t count);

// What the runs of a thread are at, innermost first.
struct RunsOfLoop {
  static constexpr uint32_t kMost = 512;
  uint64_t mark[kMost] = {};
  uint64_t frame[kMost] = {};
  uint32_t count = 0;
  bool add(uint64_t at, uint64_t its_frame) {
    if (count == kMost) return false;
    mark[count] = at;
    frame[count++] = its_frame;
    return true;
  }
};

// Walks outwards to the last frame, or to the mark `until`. `top`: the thread's innermost frame. False: it is not
// reached. Not for 3.11 and 3.12.
template <class Memory>
bool read_runs(const PythonLayout& layout, const Memory& memory, uintptr_t top, uintptr_t until, RunsOfLoop& to) {
  constexpr uint32_t kMostFrames = 1024;
  to.count = 0;
  uintptr_t at = top, begin = top;
  for (uint32_t i = 0; at != 0; ++i) {
    PythonFrame frame;
    if (i == kMostFrames || at % 8 != 0 || !read_frame(layout, memory, at, frame) || frame.owner > kOwnedByLoop + 1)
      return false;
    if (is_base_frame(layout, frame)) break;
    if (frame.code == 0) {
      if (!to.add(at, begin)) return false;
      if (at == until) return true;
      begin = frame.previous;
    } else if (layout.runs_are_frames()) {
      if (!to.add(at, at)) return false;
      if (at == until) return true;
    }
    at = frame.previous;
  }
  return until == 0;
}

// The same for 3.11 and 3.12. `innermost`: the first struct. The last one belongs to the thread, not to a run.
template <class Memory>
bool read_structs(const PythonLayout& layout, const Memory& memory, uintptr_t innermost, uintptr_t until,
                  RunsOfLoop& to) {
  to.count = 0;
  for (uintptr_t at = innermost; at != 0;) {
    uintptr_t frame = 0, outer = 0;
    if (!memory.read(at + layout.cframe, frame) || !memory.read(at + layout.cframe + 8, outer) || !to.add(at, frame))
      return false;
    if (at == until) return true;
    at = outer;
  }
  return until == 0;
}

}  // namespace prof::preload
