// What do the unwind tables of an ELF file (.eh_frame_hdr, .eh_frame) contain for an address in its code?
// code_images.cpp uses it, in the program. It never reads outside the mapped segment that contains the tables. Bytes
// that make no sense give Hard or Unknown. It has no state and allocates nothing.
#pragma once

#include "preload/stacks/unwind_rule.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// Where the tables are. `begin` … `end`: the readable segment that contains `header` (.eh_frame_hdr) and .eh_frame.
struct UnwindTables {
  const uint8_t* begin = nullptr;
  const uint8_t* end = nullptr;
  const uint8_t* header = nullptr;
};

// What the tables contain about an address.
struct UnwindEntry {
  UnwindRule rule = UnwindRule::of(RuleKind::Unknown);  // Unknown: there is no entry
  uint64_t begin = 0, bytes = 0;                        // the function
  uint64_t saved = 0;  // bytes from the CFA down to the lowest word in which it saved a register, at that address
};

// `pc` is inside the instruction that is being executed: a return address minus 1.
UnwindEntry unwind_entry_at(const UnwindTables& tables, uint64_t pc);

}  // namespace prof::preload
