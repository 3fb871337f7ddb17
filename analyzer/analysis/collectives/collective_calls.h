// Which communicator, rank and size does an NCCL kernel belong to? NCCL attaches a payload to the NVTX range of each of its calls, with its
// number of the communicator, and to those that make or end a communicator also the rank. A communicator that is made non-blocking, or inside a
// group, has no number yet when that payload is attached (NCCL says 0): then the rank is what NCCL itself said when a collective was called,
// where library calls were recorded (PROF_LIBS=1), or when it was ended. torch.profiler's traces have it as arguments of the operator
// "record_param_comms" around the call.
#pragma once

#include "analyzer/analysis/collectives/collective_traffic.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

struct CollectiveCall {
  uint32_t range = kNone;         // row of Trace::ranges: the call of NCCL, or the operator
  bool grouped = false;           // launched at the end of a group: the last call before it on that thread
  std::string_view name;          // "ncclAllReduce", "allreduce"
  std::string_view communicator;  // NCCL's number, as the payload has it; the name of PyTorch's process group
  std::string_view rank_source;   // who says rank and ranks; where they are empty: why
  std::optional<int64_t> rank, ranks, bytes, peer;  // not in the trace: empty. bytes: that the call names, on this rank
  std::string_view reduction;                       // "Sum", …
  std::string_view type;                            // of the elements, as PyTorch names it
  CollectiveKind kind = CollectiveKind::Other;
  std::optional<uint64_t> size;  // S of collective_traffic.h, in bytes
  uint64_t known_ranks() const { return ranks && *ranks > 0 ? static_cast<uint64_t>(*ranks) : 0; }
};

class CollectiveCalls {
 public:
  explicit CollectiveCalls(const Trace& trace);

  // False: no range says anything about NCCL, and of() need not be asked.
  bool any() const { return any_; }
  // The call that launched this GPU operation; nullopt: none is known.
  std::optional<CollectiveCall> of(const GpuOperation& operation) const;

 private:
  struct Membership {
    std::optional<int64_t> rank, ranks;
    std::string_view source;
  };
  void take_payloads();
  void take_operators();
  void take_library_calls();
  bool is_call(const Range& range) const;
  void join(const std::pair<ProcessId, std::string_view>& communicator, const Membership& one);
  Membership said_by_payload(const Range& range) const;
  bool may_be_another(ProcessId process, const Membership& said) const;
  std::optional<Membership> said_by_library(const Range& range) const;
  CollectiveCall call(uint32_t row, bool grouped) const;
  void read_payload(const Range& range, CollectiveCall& call) const;
  void read_arguments(const OperatorDetail& detail, CollectiveCall& call) const;
  std::string_view value(const Range& range, std::string_view name) const;

  const Trace& trace_;
  bool any_ = false;
  std::vector<bool> operator_label_;                                    // by LabelId
  std::vector<std::vector<uint32_t>> calls_;                            // by ThreadId: rows of Trace::ranges, by begin
  std::vector<std::vector<uint32_t>> library_;                          // by ThreadId: recorded calls of NCCL, by begin
  std::map<std::pair<ProcessId, std::string_view>, Membership> ranks_;  // by communicator
  // Of processes that made communicators whose payload said 0, as NCCL had not numbered them yet: what else it said.
  std::map<ProcessId, std::vector<Membership>> unnumbered_;
};

}  // namespace prof::analyzer
