// What do the analyses know about one row of the model beyond its record? The result is the members that `prof trace`
// adds to an event's args. It is the same for events written from the model and for events copied from another tool's
// trace. The keys are augment_keys.def.
#pragma once

#include "analyzer/analysis/collectives/collective_calls.h"
#include "analyzer/analysis/cost/device_peaks.h"
#include "analyzer/analysis/cost/kernel_costs.h"
#include "analyzer/analysis/critical/event_bounds.h"
#include "analyzer/analysis/idle/gap_division.h"
#include "analyzer/analysis/views.h"
#include "analyzer/model/fx_markers.h"
#include "analyzer/model/trace.h"
#include "analyzer/output/chrome/chrome_pieces.h"
#include "analyzer/output/chrome/event_list.h"

#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// The bit of a key by its text; 0: not one of our keys.
AugmentKeys augment_key(std::string_view text);

// Self and device time by node of an event tree.
struct RangeTimes {
  const EventTree& tree;
  Column<int64_t> device_ns;  // of the operations launched inside
  RangeTimes(const Trace& trace, const EventTree& of);
  // Returns kNone if the range has no node of its own.
  uint32_t node(uint32_t range_row) const {
    const uint32_t at = tree.of_range(range_row);
    return at != kNone && tree[at].source == range_row ? at : kNone;
  }
};

class Augment {
 public:
  // `fx` may be null. The object keeps references to all arguments. Members are made in the form of `events`.
  Augment(const Trace& trace, const Views& views, EventList& events, const FxMarkers* fx = nullptr);

  const EventBounds& bounds() const { return *bounds_; }
  // False if GPU times of a process were recorded in bursts. Members that would count the time between bursts as idle
  // are omitted.
  bool gpu_known() const { return gpu_known_; }

  // Each function adds the members of one row of a table of the model.
  void host(uint32_t row, EventMembers& members);
  void operation(uint32_t row, EventMembers& members);
  void range(uint32_t row, EventMembers& members);
  void mark(uint32_t row, EventMembers& members);

 private:
  void add_path(uint32_t host_row, EventMembers& members);
  void add_fx(ThreadId thread, int64_t time_ns, EventMembers& members) const;
  PathId path_of_call(uint32_t host_row);
  std::vector<std::string> bounds_texts_;  // pieces, by BoundBy
  void add_bound(const EventBound& bound, EventMembers& members) const;
  void add_times(uint32_t range_row, EventMembers& members);
  void prepare_idle();
  void add_capture(const GpuOperation& operation, EventMembers& members);
  void prepare_costs();
  void add_cost(uint32_t row, EventMembers& members) const;
  void add_category(const GpuOperation& operation, EventMembers& members);
  void prepare_stalls();
  void add_stalls(const GpuOperation& operation, EventMembers& members) const;
  void add_collective(const GpuOperation& operation, EventMembers& members) const;
  void prepare_gaps();
  void add_idle(uint32_t row, EventMembers& members);
  // A gap and what took most of it.
  struct IdleBefore {
    int64_t ns = 0;
    uint32_t call = kNone, range = kNone;
    GapCharge cause{};
    uint32_t host_code = 0;  // 1 + index into host_codes_; 0: none
  };
  const std::string& culprit(const IdleBefore& gap);

  const Trace& trace_;
  const Views& views_;
  EventList& events_;
  std::future<EventBounds> finding_bounds_;  // on a thread of its own, during the rest of the preparation
  std::optional<EventBounds> bounds_;
  const FxMarkers* fx_;
  const bool gpu_known_;
  PathTexts paths_;
  std::vector<bool> has_operators_;                   // by ProcessId: whether it has ranges other than NVTX
  std::unordered_map<uint32_t, PathCursor> cursors_;  // by ThreadId; only threads with path changes
  std::vector<IdleBefore> gaps_;
  std::vector<std::string> host_codes_;                 // pieces, of gaps with host samples
  std::vector<std::string> cause_texts_;                // pieces, by number of the cause
  Column<uint32_t> gap_of_operation_;                   // 1 + index into gaps_; 0: none
  std::unordered_map<uint64_t, std::string> culprits_;  // pieces, by the call's name and path
  CollectiveCalls collectives_;
  const RangeTimes ops_;                  // as in the report ops
  std::optional<EventTree> python_tree_;  // with Python functions, if there are any
  std::optional<RangeTimes> python_;
  std::vector<std::string> categories_;  // pieces, by KernelCategories' index
  struct FunctionStalls {
    std::string stalls, line;  // pieces; empty: none
  };
  std::unordered_map<uint32_t, FunctionStalls> stalls_;  // by mangled name of kernels with PC samples
  std::optional<KernelCosts> costs_;                     // only if there are shapes, hardware counters or similar data
  std::vector<DevicePeaks> peaks_;                       // by DeviceId
  struct OpSums {
    uint64_t flops = 0, bytes = 0;
  };
  std::unordered_map<uint32_t, OpSums> costs_of_op_;  // by row of Trace::ranges
  std::vector<IntervalSet> idle_, starved_;           // by ProcessId
};

}  // namespace prof::analyzer
