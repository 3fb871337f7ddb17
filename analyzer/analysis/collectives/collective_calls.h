// Which communicator, rank and size does an NCCL kernel belong to? Used by collective_kernels.h.
//
// NCCL attaches a payload to the NVTX range of each of its calls. It has the number of the communicator and, for calls
// that create or end a communicator, also the rank. A communicator that is created non-blocking, or inside a group, has
// no number yet when its payload is attached (NCCL writes 0). Then the rank comes from a later call: a collective, if
// library calls were recorded (PROF_LIBS=1), or the call that ends the communicator. Traces of torch.profiler have
// these values as arguments of the operator "record_param_comms" around the call.
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
  uint32_t range = kNone;         // row of Trace::ranges: the NCCL call, or the operator
  bool grouped = false;           // launched at the end of a group; `range` is the thread's last call before the launch
  std::string_view name;          // "ncclAllReduce", "allreduce"
  std::string_view communicator;  // NCCL's number, as in the payload; the name of PyTorch's process group
  std::string_view rank_source;   // the source of rank and ranks; if they are empty, the reason
  std::optional<int64_t> rank, ranks, bytes, peer;  // empty: not in the trace. bytes: message size of this rank's call
  std::optional<int64_t> sequence;                  // number of the call on its communicator; equal on all ranks
  std::string_view reduction;                       // "Sum", …
  std::string_view type;                            // of the elements, as PyTorch names it
  CollectiveKind kind = CollectiveKind::Other;
  std::optional<uint64_t> size;  // S of collective_traffic.h, in bytes
  uint64_t known_ranks() const { return ranks && *ranks > 0 ? static_cast<uint64_t>(*ranks) : 0; }
};

class CollectiveCalls {
 public:
  explicit CollectiveCalls(const Trace& trace);

  // False: no range is an NCCL call, and of() always returns nullopt.
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
  std::vector<std::vector<uint32_t>> calls_;                            // by ThreadId: rows of Trace::ranges, by start
  std::vector<std::vector<uint32_t>> library_;                          // by ThreadId: recorded calls of NCCL, by start
  std::map<std::pair<ProcessId, std::string_view>, Membership> ranks_;  // by communicator
  // By process: ranks and sizes in payloads of communicators that NCCL had not numbered yet (number 0).
  std::map<ProcessId, std::vector<Membership>> unnumbered_;
};

}  // namespace prof::analyzer
