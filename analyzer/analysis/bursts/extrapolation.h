// From the launches that were timed (PROF_BUDGET: in bursts) to all of the run: what would a sum over GPU operations have been, and how sure
// is that? The host side knows every launch. Launches are told apart by what they launch (bursts.h) and, where the host side knows which
// launches a row of a report is about, by row: by stratum. Of each cell (stratum, kind) the N launches are taken to have what its n timed
// ones had:
//
//   total = Σ over cells N/n · Σ y        y: durations, or bytes, of what timed launches of the cell put into the group on a GPU
//
// Launches of one burst are alike, so bursts, not launches, are the sample: with w = N/n and, in each of the k bursts that met a cell of the
// group, m timed launches,
//   variance = k/(k − 1) · Σ over bursts (Σ over cells w · √(1 − n/N) · (y − m · Σy/n))²
// the linearised variance of a ratio estimator over clusters (Cochran, Sampling Techniques, 3rd ed. 1977, 6.4 and 11.3), and 95 % by
// Student's t with k − 1 degrees of freedom. A cell that one burst met tells nothing of how bursts differ: all of its y counts as
// deviation. Errors of different processes have nothing to do with each other: their variances and degrees add up. It holds for bursts that
// fall where they fall by chance: see docs/budget.md.
#pragma once

#include "analyzer/analysis/bursts.h"

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

struct Extrapolated {
  double operations = 0, total = 0;
  double half = 0;  // total ± half, 95 %; negative: not known, as fewer than two bursts met it
  // False: no burst held a launch of it from its begin to its end, and nothing follows for the run.
  bool known() const { return operations > 0; }
};

class Extrapolation {
 public:
  Extrapolation(const Trace& trace, const Bursts& bursts) : trace_(trace), bursts_(bursts) {}

  // A row of Trace::host is one of the stratum's launches. What is no launch, or of a process that was timed whole, does not matter.
  void launch(uint32_t row, uint32_t stratum);
  // Of a launch of the stratum an operation belongs to the group. What has its times by luck does not count; where all was timed, it counts
  // as it is.
  void add(const GpuOperation& operation, uint32_t stratum, uint32_t group, double value);

  Extrapolated of(uint32_t group) const { return of(std::span(&group, 1)); }
  Extrapolated of(std::span<const uint32_t> groups) const;  // their sum
  Extrapolated all() const;
  // Launches of what no burst met in the stratum, of one process or of all: in no sum.
  uint64_t not_met(uint32_t stratum, std::optional<ProcessId> process = {}) const;

 private:
  struct Cell {
    uint32_t process = 0;
    uint64_t launches = 0, timed = 0;
    std::vector<std::pair<uint32_t, uint32_t>> in_bursts;  // burst, timed launches: a burst may stand there twice
    bool several_bursts = false;
    double weight() const { return static_cast<double>(launches) / static_cast<double>(timed); }
  };
  struct Sum {  // of one group in one cell
    uint64_t operations = 0;
    std::vector<std::pair<uint32_t, double>> in_bursts;  // likewise
  };
  struct Group {
    double operations = 0, total = 0;  // of processes that were timed whole
    std::unordered_map<uint32_t, Sum> of_cell;
  };
  // Off: how much each burst is off the mean, and whether it met anything of what is asked for.
  struct Off {
    double value = 0;
    bool met = false;
  };
  void over(const Group& group, Extrapolated& total, std::vector<Off>& off) const;
  double half_of(const std::vector<Off>& off) const;

  const Trace& trace_;
  const Bursts& bursts_;
  std::unordered_map<uint64_t, uint32_t> numbers_;  // stratum << 32 | kind -> row of cells_
  std::unordered_map<uint32_t, std::vector<uint32_t>> of_stratum_;
  std::vector<Cell> cells_;
  std::unordered_map<uint32_t, Group> groups_;
};

// Of Student's t with that many degrees of freedom: the quantile 0.975.
double student_t_975(size_t degrees);

}  // namespace prof::analyzer
