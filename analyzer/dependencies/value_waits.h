// Which writes of a word of memory may have ended a stream's wait for it? By address, width, value and the wait's condition, in the
// order in which the host gave them: the writes that fit and that no other write has come between. If the last write before the wait
// fits, these are it and what fits right before it; else the first that fits behind the wait and what fits right behind that. A word
// that the program, a kernel or another device wrote has none. Only logs have memory operations. O(n log n).
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <span>
#include <vector>

namespace prof::analyzer {

// Whether a word with this value ends the wait: CU_STREAM_WAIT_VALUE_GEQ (signed difference), EQ, AND, NOR.
bool ends_wait(const StreamMemoryOp& wait, uint64_t value);

class ValueWaits {
 public:
  explicit ValueWaits(const Trace& trace);

  // What the call told its stream, rows of Trace::memory_ops in their order; empty: nothing of the kind.
  std::span<const uint32_t> of_call(uint32_t call) const;
  // Rows of Trace::memory_ops. Empty: none fits, or too many to tell.
  std::span<const uint32_t> writes_for(uint32_t wait) const;

 private:
  bool same_word(uint32_t a, uint32_t b) const;
  uint32_t process(uint32_t row) const { return index(trace_.thread(trace_.memory_ops[row].thread).process); }

  const Trace& trace_;
  std::vector<uint32_t> by_call_;
  std::vector<uint32_t> writes_;  // by word, then by time
};

}  // namespace prof::analyzer
