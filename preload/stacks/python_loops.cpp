#include "preload/stacks/python_loops.h"

#include <algorithm>

namespace prof::preload {

void find_loops(uint64_t loop, uint64_t loop_bytes, const StackCopy& copy, const CopiedStack& native, CopiedLoops& to) {
  constexpr uint64_t kPrologue = 256;  // bytes of code; the entry is made in the first 130 (3.13 of GCC 12 and 14)
  to.count = 0;
  to.bounded = native.stack_pointers != nullptr;
  to.starts_in_loop = native.count != 0 && native.frames[0] - 1 - loop < kPrologue;
  uint64_t low = copy.low;
  // The end of the last frame is not known. A stack that is not cut does not end in the loop.
  for (uint32_t i = 0; i + 1 < native.count && to.count < format::kMaxStackFrames; ++i) {
    if (native.frames[i] - 1 - loop >= loop_bytes) continue;
    CopiedLoop found;
    if (to.bounded) found = {low, native.stack_pointers[i], native.stack_pointers[i + 1]};
    to.bounded &= found.begin >= copy.low && found.end > found.begin && found.end - copy.low <= copy.bytes;
    low = found.end - kSavedByCallee;
    to.at[to.count++] = found;
  }
  // The walk ended before the first loop.
  const bool ends_early = (native.flags & (format::kStackNativeCut | format::kStackBroken)) != 0;
  to.bounded &= to.count != 0 || !ends_early;
}

uint32_t loop_at(const CopiedLoops& loops, uint64_t address) {
  for (uint32_t i = 0; i < loops.count; ++i) {
    if (address - loops.at[i].begin < loops.at[i].end - loops.at[i].begin) return i;
  }
  return kNone;
}

bool copied_entry(const PythonLayout& layout, const StackCopy& copy, uint64_t at, PythonFrame& entry) {
  const uint64_t owner_word = at + (layout.frame_owner & ~7u);
  uint64_t owner = 0;
  if (!copy.read(owner_word, owner) || !copy.read(at + layout.frame_previous, entry.previous) ||
      !copy.read(at + layout.frame_code, entry.code) || !copy.read(at + layout.frame_position, entry.position))
    return false;
  entry.owner = static_cast<uint8_t>(owner >> (layout.frame_owner & 7) * 8);
  return entry.owner >= kOwnedByLoop && entry.owner <= kOwnedByLoop + 1;
}

uint64_t frame_of_loop(const PythonLayout& layout, const StackCopy& copy, const CopiedLoops& loops, uint32_t loop,
                       uint64_t mark) {
  if (loop == 0 || !loops.bounded) return 0;
  if (layout.runs_are_frames()) {
    // In a slot of the loop's native frame, or in a register that the function which it called saved.
    for (uint64_t at = loops.at[loop].begin - kSavedByCallee, word = 0; at < loops.at[loop].end; at += 8) {
      if (copy.read(at, word) && word == mark) return mark;
    }
    return 0;
  }
  if (!layout.has_entry_frames()) {
    uint64_t frame = 0;
    return copy.read(mark + layout.cframe, frame) ? frame : 0;
  }
  if (loop == 1 && loops.starts_in_loop) return 0;
  const CopiedLoop &outer = loops.at[loop], &inner = loops.at[loop - 1];
  const uint64_t from_end = outer.end - mark;
  PythonFrame here, next;
  // All entries have the same code (none) and instruction.
  if (from_end > inner.end - inner.begin || !copied_entry(layout, copy, mark, here) ||
      !copied_entry(layout, copy, inner.end - from_end, next) || here.owner != next.owner || here.code != next.code ||
      here.position != next.position)
    return 0;
  return next.previous;
}

uint32_t frame_of_instruction(const StackCopy& copy, const CopiedStack& native, uint64_t begin, const uintptr_t* at,
                              const PythonFrame* frames, uint32_t count) {
  const uint64_t* const pointers = native.stack_pointers;
  const uint64_t* const end = std::find(pointers, pointers + native.count, begin);
  if (end == pointers || end == pointers + native.count || end[-1] < copy.low) return kNone;
  uint32_t found = kNone;
  uint64_t word = 0;
  for (uint64_t from = end[-1]; from < begin; from += 8) {
    if (!copy.read(from, word)) continue;
    const uint32_t index = static_cast<uint32_t>(std::find(at, at + count, word) - at);
    if (index == count || frames[index].code == 0 || index == found) continue;
    if (found != kNone) return kNone;
    found = index;
  }
  for (uint64_t from = end[-1]; from < begin && found != kNone; from += 8) {
    if (copy.read(from, word) && word - frames[found].position - 1 < kLongestInstruction) return found;
  }
  return kNone;
}

}  // namespace prof::preload
