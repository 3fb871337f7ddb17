// Which code did a thread run, or wait in, during the pieces of gaps that no call explains? Host samples
// (PROF_HOST_SAMPLES) are taken at random times, so the share of the samples with a stack is an estimate of its share
// of the time. Used by every report that shows host samples. Definitions: docs/reports/idle.md.
//
//   piece   |───────────────────────────────────────────────|
//   samples      A    A      B   A                     B
//   sampled |────────────────────────────|        |─────────|    at most kReach periods before and after a sample
//                                          not sampled
//
// The sampled time is divided over the stacks by their samples. If the log has the states of the thread, running,
// runnable and blocked time are exact, and each is divided over the samples in it. Long waits are divided by
// themselves: each of them has a sample, while short ones have fewer than their time explains if the recorder is late.
// If there are fewer samples than their period explains, only the time that they represent is divided. The rest is not
// sampled, and is never spread.
// No sample reaches into time in which sampling was off (prof ctl PID samples).
//
// O(log n) for each piece and O(1) for each sample. Memory: at most 8 bytes for each sample, and the different stacks.
#pragma once

#include "analyzer/analysis/idle/gap_division.h"
#include "analyzer/analysis/views.h"
#include "analyzer/base/intervals.h"
#include "analyzer/model/host_samples.h"
#include "analyzer/model/trace.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

// "blocked in a file", "sleeping", "waiting for the GIL".
std::string_view blocked_text(BlockedIn blocked_in);

// The rows of each thread in the tables of host samples. Thread-safe.
class HostSampleRows {
 public:
  HostSampleRows(const Trace& trace, const Views&);

  // Whether host samples of any process were recorded.
  bool any() const { return any_; }
  // Whether host samples of the process were recorded, even if none was taken.
  bool recorded(ProcessId process) const { return recorded_[index(process)]; }
  Rows samples(uint32_t thread) const { return samples_[thread]; }
  Rows states(uint32_t thread) const { return states_[thread]; }
  // Rows of the samples of a thread in [begin, end).
  Rows samples_in(uint32_t thread, int64_t begin_ns, int64_t end_ns) const;
  // Mean time between two samples of the thread's process at that time; 0: it was not sampled.
  double period_ns(uint32_t thread, int64_t time_ns) const {
    const Rate* const rate = rate_at(thread, time_ns);
    return rate == nullptr ? 0 : rate->period_ns;
  }
  // Calls take(part, sampled) for the parts of an interval in which the thread's process was sampled, or not, in order
  // of time.
  template <class Take> void each_part(uint32_t thread, const Interval& interval, Take&& take) const {
    const std::vector<Rate>& rates = rates_[index(trace_.threads[thread].process)];
    size_t next = after(rates, interval.begin_ns);
    bool sampled = next != 0 && rates[next - 1].period_ns > 0;
    for (int64_t now = interval.begin_ns; now < interval.end_ns; sampled = !sampled) {
      while (next < rates.size() && (rates[next].period_ns > 0) == sampled) ++next;
      const int64_t end_ns =
          next == rates.size() ? interval.end_ns : std::clamp(rates[next].from_ns, now, interval.end_ns);
      if (end_ns > now) take(Interval{now, end_ns}, sampled);
      now = end_ns;
    }
  }
  // The time that a sample represents. The kernel samples running threads by their CPU time, with a period that
  // changes from time to time. If the states of the thread are known, it is the distance of the samples around it.
  double weight_ns(uint32_t thread, uint32_t row) const {
    const double weight = weights_.empty() ? 0 : static_cast<double>(weights_[row]);
    return weight > 0 ? weight : period_ns(thread, trace_.host_sampling.samples.time_ns[row]);
  }
  // How much the time between two samples varies: the square of its standard deviation as a share of its mean. 1: the
  // sampling times are independent of each other, or nothing is known.
  // `running`: of samples in time in which the kernel reported that the thread ran.
  double variation(uint32_t thread, bool running) const {
    return running ? running_variation_[thread] : variation_[thread];
  }

 private:
  struct Rate {
    int64_t from_ns;
    double period_ns;  // 0: off
    bool starved;      // samples are taken only while the GPUs seem to wait
  };
  // Index of the first rate that begins after that time.
  static size_t after(const std::vector<Rate>& rates, int64_t time_ns) {
    const auto is_before = [&](const Rate& rate) { return rate.from_ns <= time_ns; };
    return static_cast<size_t>(std::partition_point(rates.begin(), rates.end(), is_before) - rates.begin());
  }
  // Null: the thread's process was not sampled yet.
  const Rate* rate_at(uint32_t thread, int64_t time_ns) const {
    const std::vector<Rate>& rates = rates_[index(trace_.threads[thread].process)];
    const size_t next = after(rates, time_ns);
    return next == 0 ? nullptr : &rates[next - 1];
  }
  void find_variation(uint32_t thread);
  void find_weights(uint32_t thread);

  const Trace& trace_;
  bool any_ = false;
  std::vector<float> weights_;                         // by row of the samples; 0: the period. Empty: no states
  std::vector<double> variation_, running_variation_;  // by ThreadId
  std::vector<bool> recorded_;                         // by ProcessId
  std::vector<Rows> samples_, states_;                 // by ThreadId
  std::vector<std::vector<Rate>> rates_;               // by ProcessId, then by time
};

inline const HostSampleRows& host_sample_rows(const Views& views) { return views.derived<HostSampleRows>(); }

// Whether what a thread did in such a piece is not recorded, so that samples answer it.
constexpr bool needs_samples(GapPart part) {
  return part == GapPart::Python || part == GapPart::Operator || part == GapPart::Waiting ||
         part == GapPart::UnknownWait || part == GapPart::Outside;
}
inline bool needs_samples(const GapPiece& piece) { return piece.thread != kNone && needs_samples(piece.part()); }

// What a sample shows. Code with equal fields is counted together.
struct HostCode {
  StackId stack{};
  StringId detail{};  // of the wait
  HostState state{};
  BlockedIn blocked_in{};
  bool operator==(const HostCode&) const = default;
};

// "running", "runnable", "sleeping", "waiting for a lock: thread 7".
std::string host_state_text(const Trace& trace, const HostCode& code);

// Estimated time of a group of samples. The 95 % interval is time_ns +- half_ns.
struct HostCodeTime {
  uint32_t group = 0;
  uint64_t samples = 0;
  int64_t time_ns = 0, half_ns = 0;
};

struct HostCodeDivision {
  std::vector<HostCodeTime> groups;  // the longest time first; of equal times, the first group met
  uint64_t samples = 0;
  int64_t total_ns = 0;
  int64_t not_sampled_ns = 0;  // total_ns less the times of the groups
  // Parts of not_sampled_ns in which the state of the thread is known, by HostState.
  std::array<int64_t, 3> not_sampled_in_state_ns{};
  int64_t sampled_ns() const { return total_ns - not_sampled_ns; }
};

// Sums up the samples in intervals of threads.
class HostCodeTimes {
 public:
  // A sample represents at most so many mean periods before it, and as many after it.
  static constexpr double kReach = 4;
  // A wait of so many mean periods has a sample: the recorder's periods are at most 1.5 times the mean.
  static constexpr double kLongWait = 1.6;

  explicit HostCodeTimes(const Trace& trace, const HostSampleRows& rows) : trace_(&trace), rows_(&rows) {}

  // Adds an interval of a thread. Intervals must not overlap each other on their thread.
  void add(uint32_t thread, const Interval& interval);
  void clear();

  int64_t total_ns() const { return total_ns_; }
  uint64_t samples() const { return samples_; }
  const std::vector<HostCode>& codes() const { return codes_; }

  // The time by group. group(index into codes()) may be any number; equal numbers are one group.
  HostCodeDivision divide(const std::function<uint32_t(uint32_t)>& group) const;

 private:
  // Time of one state: Running, Runnable, Blocked (short waits), kUnknown or kBlockedLong. Weights are the periods of
  // samples.
  static constexpr size_t kUnknown = 3, kBlockedLong = 4, kStrata = 5;
  static HostState state_of(size_t stratum) {
    return stratum == kBlockedLong ? HostState::Blocked : static_cast<HostState>(stratum);
  }
  struct Weight {
    double sum = 0, squares = 0;
    void add(double weight) { sum += weight, squares += weight * weight; }
    void add(const Weight& other) { sum += other.sum, squares += other.squares; }
  };
  using Weights = std::array<Weight, kStrata>;
  struct Hash {
    size_t operator()(const HostCode& code) const;
  };
  // Two samples of a thread, one right after the other, in one state.
  using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;  // both indexes of codes_
  struct PairCounts {
    std::vector<double> both, one;  // by group: pairs of two samples of it, samples of it in pairs
    double all = 0;
  };
  static PairCounts pair_counts(const Pairs& pairs, const std::vector<size_t>& group_of_code, size_t groups);
  static double design_effect(const PairCounts& pairs, size_t group, double share, double samples, double variation);
  struct Counted {
    uint64_t samples = 0;
    Weights weights{};
  };
  void add_sampled(uint32_t thread, const Interval& interval);
  // The strata of an interval whose samples are known to represent it, or not.
  template <class Take> void each_state(uint32_t thread, const Interval& interval, Take&& take) const;
  Counted& counted(const HostCode& code);

  const Trace* trace_;
  const HostSampleRows* rows_;
  std::vector<HostCode> codes_;
  std::vector<Counted> counts_;  // by index of codes_
  std::unordered_map<HostCode, uint32_t, Hash> index_of_;
  uint32_t last_ = 0;                                     // of codes_
  std::array<int64_t, kStrata> reached_ns_{}, far_ns_{};  // near a sample, and farther away
  int64_t total_ns_ = 0;
  uint64_t samples_ = 0;
  std::array<Pairs, kStrata> pairs_;
  uint32_t pair_row_ = kNone, pair_code_ = 0;  // the last sample: its row, and index of codes_
  size_t pair_stratum_ = 0;
  std::array<double, kStrata> variation_{}, in_stratum_{};  // sum over samples, and their number
};

}  // namespace prof::analyzer
