// What would the rows of a report be for the whole run, if GPU times were taken in bursts (PROF_BUDGET)? Every report
// that sums GPU time adds these columns, cells and notes; extrapolation.h has the formula. Nothing is added if no
// selected process took GPU times in bursts.
//
// A report states which launches a row is about, as far as the host side shows it:
//   by work     a row is what ran (a kernel's name): every selected launch may belong to every row
//   by launch   a row has launches (of a range, a call stack, a thread); a launch is in several rows if rows are nested
// --nvtx, --thread, --process and --rank select launches, and the estimate is made from the selected launches alone.
// --device and --stream only leave out operations.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/bursts/extrapolation.h"
#include "analyzer/table/table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prof::analyzer {

enum class RowsAre { ByWork, ByLaunch };

// The columns of an estimate.
struct EstimateColumns {
  ColumnId count = ColumnId::estimated_count, total = ColumnId::estimated_total,
           half_width = ColumnId::estimated_half_width, not_met = ColumnId::not_met;
};

class Estimates {
 public:
  Estimates(const AnalysisInput& input, RowsAre rows);

  bool any() const { return any_; }

  // Calls take(row of Trace::host) for each selected launch.
  template <class Take> void for_each_launch(Take&& take) const {
    for (uint32_t row = 0; any_ && row < input_.trace.host.size(); ++row) {
      if (selects(row)) take(row);
    }
  }
  // By launch: the launch is one of the stratum's. A stratum is a group, or whatever else the report estimates a number
  // for.
  void launch(uint32_t row, uint32_t stratum) { numbers_.launch(row, stratum); }

  // Adds an operation that the row counts. By launch: to the stratum that has the group's number.
  void add(const GpuOperation& operation, uint32_t group) {
    add(operation, group, static_cast<double>(operation.duration_ns()));
  }
  void add(const GpuOperation& operation, uint32_t group, double value) {
    add_of(rows_ == RowsAre::ByWork ? 0 : group, operation, group, value);
  }
  // Adds an operation to an explicit stratum. By work, stratum 0 is all selected launches, so other strata begin at 1.
  void add_of(uint32_t stratum, const GpuOperation& operation, uint32_t group, double value) {
    if (any_ && counts(operation)) numbers_.add(operation, stratum, group, value);
  }
  Extrapolated of(std::span<const uint32_t> groups) const { return numbers_.of(groups); }
  Extrapolated of(uint32_t group) const { return numbers_.of(group); }
  Extrapolated all() const { return numbers_.all(); }

  // Count of operations, total and half width; by launch also the launches not met. One table can have several sets.
  void add_columns(Table& table, const EstimateColumns& columns = {}) const;
  // Totals in MB: cells of bytes have the scale 1e-6.
  void add_megabyte_columns(Table& table) const;
  void add_cells(Table::Row& row, uint32_t group, double scale = 1) const;
  void add_cells(Table::Row& row, const Extrapolated& estimate, std::optional<uint64_t> not_met = {},
                 double scale = 1) const;
  void add_no_cells(Table::Row& row) const;
  // One line per process: how many launches were timed, and that the rest is extrapolated.
  void add_notes(Table& table) const;
  std::vector<std::string> notes() const;

 private:
  bool selects(uint32_t row) const;
  // An operation of an unselected launch is not part of the selection's sample.
  bool counts(const GpuOperation& operation) const {
    return !bursts_.applies(input_.trace.process_of(operation.stream())) ||
           (operation.linked() && selects(operation.launch));
  }

  const AnalysisInput& input_;
  const Bursts& bursts_;
  const RowsAre rows_;
  bool any_ = false;
  Extrapolation numbers_;
  struct Count {
    uint64_t launches = 0, timed = 0;
  };
  std::vector<Count> counts_;  // by ProcessId
};

// "PROF_BUDGET=2%: GPU times of 40 of 1000 launches, in 3 bursts"
std::string bursts_text(const Process& process, uint64_t timed, uint64_t launches, uint64_t bursts);
// The same, and that the numbers are extrapolated. `not_met`: how many launches are in no sum.
std::string estimates_text(const Process& process, uint64_t timed, uint64_t launches, uint64_t bursts,
                           uint64_t not_met);

}  // namespace prof::analyzer
