// Which writes to an address may have ended a stream's wait for its value? Matched by address, width, value and the
// wait's condition, in the order in which the host made the calls. Candidates are consecutive fitting writes without
// another write between them. If the last write before the wait fits, it and the fitting writes right before it are the
// candidates. Otherwise they are the first fitting write after the wait and those right after it. A value that the
// program, a kernel or another device wrote has none. Only logs have memory operations. O(n log n).
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <span>
#include <vector>

namespace prof::analyzer {

// Whether this value ends the wait: CU_STREAM_WAIT_VALUE_GEQ (signed difference), EQ, AND, NOR.
bool ends_wait(const StreamMemoryOp& wait, uint64_t value);

class ValueWaits {
 public:
  explicit ValueWaits(const Trace& trace);

  // The memory operations of the call: rows of Trace::memory_ops in their order. Empty: none.
  std::span<const uint32_t> of_call(uint32_t call) const;
  // Rows of Trace::memory_ops. Empty: no write fits, or too many do.
  std::span<const uint32_t> writes_for(uint32_t wait) const;

 private:
  bool same_word(uint32_t a, uint32_t b) const;
  uint32_t process(uint32_t row) const { return index(trace_.thread(trace_.memory_ops[row].thread).process); }

  const Trace& trace_;
  std::vector<uint32_t> by_call_;
  std::vector<uint32_t> writes_;  // by address, then by time
};

}  // namespace prof::analyzer
