// Which communicator and rank does an NCCL kernel belong to? NCCL attaches a payload to the NVTX range of each of its calls, with its
// number of the communicator, and to those that make a communicator also the rank.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

struct CollectiveCall {
  uint32_t range = kNone;         // row of Trace::ranges: the call of NCCL
  bool grouped = false;           // launched at the end of a group: the last call before it on that thread
  std::string_view communicator;  // NCCL's number, as the payload has it
  std::optional<int64_t> rank, ranks, bytes, peer;  // not in the trace: empty
  std::string_view reduction;                       // "Sum", …
};

class CollectiveCalls {
 public:
  explicit CollectiveCalls(const Trace& trace);

  // False: no range says anything about NCCL, and of() need not be asked.
  bool any() const { return any_; }
  // The call that launched this GPU operation; nullopt: none is known.
  std::optional<CollectiveCall> of(const GpuOperation& operation) const;

 private:
  struct OfThread {
    std::vector<uint32_t> ranges;  // with a communicator, by begin
  };
  std::optional<CollectiveCall> call(uint32_t row, bool grouped) const;
  std::string_view value(const Range& range, std::string_view name) const;

  const Trace& trace_;
  bool any_ = false;
  std::vector<OfThread> threads_;
  std::map<std::pair<ProcessId, std::string_view>, std::pair<int64_t, int64_t>> ranks_;  // -> rank, ranks
};

}  // namespace prof::analyzer
