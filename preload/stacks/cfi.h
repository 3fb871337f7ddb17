// What do the unwind tables of an ELF file (.eh_frame_hdr, .eh_frame) say about a place in its code? Reads the mapped bytes,
// never beyond the segment they lie in; bytes that make no sense give Hard or Unknown. No state, no allocation. In the program.
#pragma once

#include "preload/stacks/unwind_rule.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// Where the tables lie. `begin` … `end`: the readable segment that holds `header` (.eh_frame_hdr) and .eh_frame.
struct UnwindTables {
  const uint8_t* begin = nullptr;
  const uint8_t* end = nullptr;
  const uint8_t* header = nullptr;
};

// `pc` is inside the instruction that is being executed: one less than a return address. Unknown: the tables have no entry.
UnwindRule rule_at(const UnwindTables& tables, uint64_t pc);

}  // namespace prof::preload
