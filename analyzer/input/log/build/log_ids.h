// Which id in the model has what one log defined? Offline, inside the builder only.
#pragma once

#include "analyzer/base/strings.h"
#include "analyzer/model/row_ids.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// Ids of one log -> ids of the model.
class IdMap {
 public:
  void set(uint32_t from, uint32_t to) {
    if (from < kDense) {
      if (dense_.size() <= from) dense_.resize(from + 1, kNone);
      dense_[from] = to;
    } else {
      sparse_[from] = to;
    }
  }
  // kNone: not defined in the remaining part of the log.
  uint32_t find(uint32_t from) const {
    if (from < dense_.size()) return dense_[from];
    if (from < kDense || sparse_.empty()) return kNone;
    const auto found = sparse_.find(from);
    return found == sparse_.end() ? kNone : found->second;
  }
  uint32_t find_or(uint32_t from, uint32_t other) const {
    const uint32_t found = find(from);
    return found == kNone ? other : found;
  }

 private:
  static constexpr uint32_t kDense = 1u << 22;
  std::vector<uint32_t> dense_;
  std::unordered_map<uint32_t, uint32_t> sparse_;
};

// A context with PC samples.
struct PcContext {
  DeviceId device{};
  struct Reason {
    StringId name{};  // without kPcNotIssued
    bool not_issued = false;
  };
  std::vector<Reason> reasons;  // by number
};

// The ids of everything that one log defines.
struct LogIds {
  IdMap apis;                             // -> index of Trace::apis
  std::vector<uint32_t> outer;            // indices of Trace::apis that are of the CUDA runtime
  std::vector<bool> of_handles;           // by index of Trace::apis: the address of an allocation is a handle
  IdMap configs;                          // -> KernelId
  IdMap config_apis;                      // ConfigId -> index of Trace::apis
  IdMap kernels;                          // -> KernelId
  IdMap graphs;                           // -> GraphId
  IdMap graph_runs;                       // CUPTI's number of an executable graph -> KernelId with its name
  IdMap host_streams;                     // -> HostStreamId
  IdMap contexts;                         // -> HostStreamId that represents the context
  IdMap pools;                            // -> row of Trace::memory_pools
  IdMap streams;                          // -> StreamId
  IdMap labels;                           // -> LabelId
  IdMap domains;                          // -> StringId
  IdMap threads;                          // -> ThreadId
  IdMap stacks;                           // -> StackId
  IdMap counter_sets;                     // -> CounterTable::sets
  std::vector<size_t> counter_metrics;    // number of values of the counter sets from first_counter_set on
  IdMap texts;                            // StringId -> StringId; only of logs with host or PC samples
  IdMap sampled_sets;                     // -> SampleTable::sets
  std::vector<uint32_t> sampled_metrics;  // number of values of a sample of the sampled sets from first_sampled_set on
  IdMap cubins;                           // -> PcSampleTable::cubins
  IdMap pc_contexts;                      // ContextId -> pc_sampled
  std::vector<PcContext> pc_sampled;      // contexts with PC samples
  uint32_t unknown_stream = kNone;        // GPU stream for records whose definition is lost
  // The rows of a log follow each other. Its first ones, so that what is kept by row does not grow with the other logs.
  uint32_t first_stream = 0, first_thread = 0, last_thread = 0, first_counter_set = 0, first_sampled_set = 0;
};

}  // namespace prof::analyzer
