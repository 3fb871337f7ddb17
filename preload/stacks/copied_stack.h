// Which native frames does a thread have, of which only registers and a copy of its stack are known? host_samples/
// calls it on the helper thread. The rules are those of native_stack.cpp. Nothing but the copy is read, so the thread
// may run meanwhile.
#pragma once

#include "preload/stacks/unwind_rule.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace prof::preload {

// The bytes from the address `low` on.
struct StackCopy {
  uint64_t low = 0;
  const uint8_t* data = nullptr;
  size_t bytes = 0;

  bool read(uint64_t address, uint64_t& value) const {
    if ((address & 7) != 0 || address < low || address - low >= bytes || bytes - (address - low) < 8) return false;
    std::memcpy(&value, data + (address - low), 8);
    return true;
  }
};

struct CopiedStack {
  uint64_t* frames = nullptr;  // innermost first; the first one is the instruction that the thread was at, plus 1
  uint64_t* stack_pointers = nullptr;  // of each frame, 0: not known; null: not wanted. A frame ends at the next one's
  uint32_t most = 0;                   // room in each list
  uint32_t count = 0;
  uint32_t flags = 0;                // format::kStack…
  bool needs_register = false;       // ended at a frame whose place depends on a register that no inner frame saved
  bool reaches_end_of_copy = false;  // ended where the copy ends
};

// The caller is inside a scope. `knows_fp`: `at.fp` is the thread's frame pointer. Otherwise it is not known, until a
// frame saved it.
void walk_copy(const StackCopy& copy, FrameRegisters at, bool knows_fp, CopiedStack& to);

}  // namespace prof::preload
