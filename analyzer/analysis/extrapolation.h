// From the launches that were timed (PROF_BUDGET: in bursts) to all of the run: what would the sums of GPU time have been, and how sure is that?
// The host side knows every launch. Launches are told apart by what they launch: kernels by name, graphs each for itself, copies and
// fills by their call. Of each such class the N launches of the run are taken to have what the n timed ones had:
//
//   total = Σ over classes N/n · Σ y        y: durations of the operations of a group that timed launches of the class put on a GPU
//
// Launches of one burst are alike, so bursts, not launches, are the sample: with w = N/n and, in each of k bursts, m timed launches,
//   variance = k/(k − 1) · Σ over bursts (Σ over classes w · √(1 − n/N) · (y − m · Σy/n))²
// the linearised variance of a ratio estimator over clusters (Cochran, Sampling Techniques, 3rd ed. 1977, 6.4 and 11.3), and 95 % by
// Student's t with k − 1 degrees of freedom. It holds for bursts that fall where they fall by chance: see docs/budget.md.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// PROF_BUDGET of the process; empty: all of it was timed, or nothing.
std::string budget_of(const Process& process);

// Throws std::runtime_error if GPU times were taken in bursts: `what` would take the time between them for idle, or miss what ran then.
void need_all_times(std::string_view what, const Trace& trace);

struct Extrapolated {
  double operations = 0, total_ns = 0;
  double half_ns = 0;  // total ± half, 95 %; negative: not known, there were fewer than two bursts
  // False: no burst held a launch of it from its begin to its end, and nothing follows for the run.
  bool known() const { return operations > 0; }
};

class Extrapolation {
 public:
  // Of one process, or of all that had a budget.
  explicit Extrapolation(const Trace& trace, ProcessId process);

  bool applies() const { return launches_ != 0; }
  uint64_t launches() const { return launches_; }
  uint64_t timed() const { return timed_; }
  uint64_t never_timed() const { return never_timed_; }  // launches of what no burst met: in no sum
  size_t bursts() const { return first_ns_.size(); }

  // An operation belongs to group number `group`, below 2^32 − 1.
  void add(const GpuOperation& operation, uint32_t group);
  Extrapolated of(uint32_t group) const;
  Extrapolated all() const;

  // The line that every use of these numbers shows.
  std::string text() const;

 private:
  struct Class {
    uint64_t launches = 0, timed = 0;
    std::vector<std::pair<uint32_t, uint32_t>> in_bursts;  // burst, timed launches: by burst
    double weight() const { return static_cast<double>(launches) / static_cast<double>(timed); }
  };
  struct Sum {  // of one group in one class
    uint64_t operations = 0;
    std::unordered_map<uint32_t, double> ns;  // by burst
  };
  uint64_t class_key(const HostEvent& launch) const;
  uint32_t burst_of(int64_t begin_ns) const;
  void count(const std::vector<const HostEvent*>& launches);
  Extrapolated over(const std::unordered_map<uint32_t, Sum>& by_class, std::vector<double>& off) const;
  Extrapolated finished(Extrapolated sum, const std::vector<double>& off) const;

  const Trace& trace_;
  std::string budget_;
  uint64_t launches_ = 0, timed_ = 0, never_timed_ = 0;
  std::vector<int64_t> first_ns_;  // of each burst, by time
  std::unordered_map<uint64_t, uint32_t> numbers_;
  std::vector<Class> classes_;
  std::unordered_map<uint32_t, std::unordered_map<uint32_t, Sum>> groups_;
};

// Of Student's t with that many degrees of freedom: the quantile 0.975.
double student_t_975(size_t degrees);

}  // namespace prof::analyzer
