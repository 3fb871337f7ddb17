// FLOPs of the operators of a trace as PyTorch counts them. Used by the report `ops` and its trace.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace prof::analyzer {

// FLOPs of an operator: as the trace has them, else by PyTorch's formulas. Results are cached; of() is thread-safe.
class OpFlops {
 public:
  explicit OpFlops(const Trace& trace) : trace_(trace) {}
  uint64_t of(const Range& range) const;

 private:
  const Trace& trace_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, uint64_t> known_;  // by label, dims, concrete inputs
};

}  // namespace prof::analyzer
