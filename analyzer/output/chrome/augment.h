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

#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

enum class AugmentKey : uint8_t {
#define PROF_AUGMENT(name, key, events, meaning) name,
#include "analyzer/output/chrome/augment_keys.def"
#undef PROF_AUGMENT
  kCount
};
static_assert(static_cast<size_t>(AugmentKey::kCount) <= 64);

// One bit per key.
using AugmentKeys = uint64_t;
constexpr AugmentKeys bit(AugmentKey key) { return AugmentKeys{1} << static_cast<size_t>(key); }
// The bit of a key by its text; 0: not one of our keys.
AugmentKeys augment_key(std::string_view text);

// Members of a JSON object, without a leading comma.
class AugmentMembers {
 public:
  // Keys in `present` already exist in the event. They are kept and not added again.
  void clear(AugmentKeys present = 0) {
    text_.clear();
    present_ = present;
  }
  void add_micros(AugmentKey key, int64_t ns);
  void add_count(AugmentKey key, uint64_t count);
  void add_real(AugmentKey key, double value, int digits);  // significant digits; adds only finite values
  void add_json(AugmentKey key, std::string_view json);
  const std::string& text() const { return text_; }

 private:
  bool begin(AugmentKey key);
  std::string text_;
  AugmentKeys present_ = 0;
};

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
  // `fx` may be null. The object keeps references to all arguments.
  Augment(const Trace& trace, const Views& views, const FxMarkers* fx = nullptr);

  const EventBounds& bounds() const { return *bounds_; }
  // False if GPU times of a process were recorded in bursts. Members that would count the time between bursts as idle
  // are omitted.
  bool gpu_known() const { return gpu_known_; }

  // Each function adds the members of one row of a table of the model.
  void host(uint32_t row, AugmentMembers& members);
  void operation(uint32_t row, AugmentMembers& members);
  void range(uint32_t row, AugmentMembers& members);
  void mark(uint32_t row, AugmentMembers& members);

 private:
  void add_path(uint32_t host_row, AugmentMembers& members);
  void add_fx(ThreadId thread, int64_t time_ns, AugmentMembers& members) const;
  PathId path_of_call(uint32_t host_row);
  void add_bound(const EventBound& bound, AugmentMembers& members) const;
  void add_times(uint32_t range_row, AugmentMembers& members);
  void prepare_idle();
  void add_capture(const GpuOperation& operation, AugmentMembers& members);
  void prepare_costs();
  void add_cost(uint32_t row, AugmentMembers& members) const;
  void add_category(const GpuOperation& operation, AugmentMembers& members);
  void add_collective(const GpuOperation& operation, AugmentMembers& members) const;
  void prepare_gaps();
  void add_idle(uint32_t row, AugmentMembers& members);
  // A gap and what took most of it.
  struct IdleBefore {
    int64_t ns = 0;
    uint32_t call = kNone, range = kNone;
    GapCharge cause{};
  };
  const std::string& culprit(const IdleBefore& gap);

  const Trace& trace_;
  const Views& views_;
  std::future<EventBounds> finding_bounds_;  // on a thread of its own, during the rest of the preparation
  std::optional<EventBounds> bounds_;
  const FxMarkers* fx_;
  const bool gpu_known_;
  PathTexts paths_;
  std::vector<bool> has_operators_;                   // by ProcessId: whether it has ranges other than NVTX
  std::unordered_map<uint32_t, PathCursor> cursors_;  // by ThreadId; only threads with path changes
  std::vector<IdleBefore> gaps_;
  std::vector<std::string> cause_texts_;                // JSON, by number of the cause
  Column<uint32_t> gap_of_operation_;                   // 1 + index into gaps_; 0: none
  std::unordered_map<uint64_t, std::string> culprits_;  // JSON, by the call's name and path
  CollectiveCalls collectives_;
  const RangeTimes ops_;                  // as in the report ops
  std::optional<EventTree> python_tree_;  // with Python functions, if there are any
  std::optional<RangeTimes> python_;
  std::vector<std::string> categories_;  // JSON, by KernelCategories' index
  std::optional<KernelCosts> costs_;     // only if there are shapes, hardware counters or similar data
  std::vector<DevicePeaks> peaks_;       // by DeviceId
  struct OpSums {
    uint64_t flops = 0, bytes = 0;
  };
  std::unordered_map<uint32_t, OpSums> costs_of_op_;  // by row of Trace::ranges
  std::vector<IntervalSet> idle_, starved_;           // by ProcessId
};

}  // namespace prof::analyzer
