// What would a sum over GPU operations be for the whole run, if only launches in bursts were timed (PROF_BUDGET), and
// how certain is it? Used by estimates.h. The host side knows every launch. Launches are classified by kind (bursts.h)
// and by stratum: if the host side knows which launches a row of a report is about, the row has a stratum of its own.
// In each cell (stratum, kind), the N launches are assumed to have what its n timed launches had:
//
//   total = Σ over cells N/n · Σ y
//
// y: durations, or bytes, of operations in the group that timed launches of the cell put on a GPU.
//
// Launches of one burst are alike, so bursts, not launches, are the sample. With w = N/n and, in each of the k bursts
// that met a cell of the group, m timed launches,
//   variance = k/(k − 1) · Σ over bursts (Σ over cells w · √(1 − n/N) · (y − m · Σy/n))²
// This is the linearised variance of a ratio estimator over clusters (Cochran, Sampling Techniques, 3rd ed. 1977, 6.4
// and 11.3). The 95 % interval uses Student's t with k − 1 degrees of freedom. A cell that only one burst met does
// not show how bursts differ, so all of its y counts as deviation. Errors of different processes are independent: their
// variances and degrees add up. The formula holds for bursts at random moments: see docs/budget.md.
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
  double half = 0;  // total ± half, 95 %; negative: unknown, because fewer than two bursts met the group
  // False: no burst contains a launch of the group from its start to its end, so no estimate exists.
  bool known() const { return operations > 0; }
};

class Extrapolation {
 public:
  Extrapolation(const Trace& trace, const Bursts& bursts) : trace_(trace), bursts_(bursts) {}

  // Adds a row of Trace::host to the launches of the stratum. A row that is no launch, or whose process did not take
  // GPU times in bursts, is ignored.
  void launch(uint32_t row, uint32_t stratum);
  // Adds an operation of a launch of the stratum to the group. An operation whose launch is in no burst is ignored. If
  // the process did not take GPU times in bursts, the operation counts as it is.
  void add(const GpuOperation& operation, uint32_t stratum, uint32_t group, double value);

  Extrapolated of(uint32_t group) const { return of(std::span(&group, 1)); }
  Extrapolated of(std::span<const uint32_t> groups) const;  // their sum
  Extrapolated all() const;
  // The number of launches in cells of the stratum that no burst met, of one process or of all. They are in no sum.
  uint64_t not_met(uint32_t stratum, std::optional<ProcessId> process = {}) const;

 private:
  struct Cell {
    uint32_t process = 0;
    uint64_t launches = 0, timed = 0;
    std::vector<std::pair<uint32_t, uint32_t>> in_bursts;  // burst, timed launches; a burst may appear twice
    bool several_bursts = false;
    double weight() const { return static_cast<double>(launches) / static_cast<double>(timed); }
  };
  struct Sum {  // of one group in one cell
    uint64_t operations = 0;
    std::vector<std::pair<uint32_t, double>> in_bursts;  // burst, sum of values; a burst may appear twice
  };
  struct Group {
    double operations = 0, total = 0;  // of processes without bursts
    std::unordered_map<uint32_t, Sum> of_cell;
  };
  // Off: the deviation of each burst from the mean, and whether the burst met a cell of the group.
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

// The quantile 0.975 of Student's t distribution with that many degrees of freedom.
double student_t_975(size_t degrees);

}  // namespace prof::analyzer
