// What the rows of a report would be for all of the run, where GPU times were taken in bursts (PROF_BUDGET): the columns, cells and notes
// that every report which sums GPU time adds by the formula of extrapolation.h. Does nothing where all of the selection was timed.
//
// A report says which launches a row is about, as far as the host side tells:
//   by work     rows are told apart by what ran (a kernel's name): every launch selected may belong to each of them
//   by launch   launches themselves belong to rows (of a range, a call stack, a thread), to several where rows enclose each other
// Parts of the run that launches belong to, --nvtx, --thread, --process and --rank, are extrapolated from their own launches; of --device and
// --stream only operations are left out.
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

class Estimates {
 public:
  Estimates(const AnalysisInput& input, RowsAre rows);

  bool any() const { return any_; }

  // take(row of Trace::host) for each launch selected.
  template <class Take> void for_each_launch(Take&& take) const {
    for (uint32_t row = 0; any_ && row < input_.trace.host.size(); ++row) {
      if (selects(row)) take(row);
    }
  }
  // By launch: it is one of those of the group, or of whatever else a number stands for.
  void launch(uint32_t row, uint32_t stratum) { numbers_.launch(row, stratum); }

  // An operation that the row counts. By launch: of the group's own launches.
  void add(const GpuOperation& operation, uint32_t group) {
    add(operation, group, static_cast<double>(operation.duration_ns()));
  }
  void add(const GpuOperation& operation, uint32_t group, double value) {
    add_of(rows_ == RowsAre::ByWork ? 0 : group, operation, group, value);
  }
  // Of launches that have a number of their own, from 1 on where rows are by work.
  void add_of(uint32_t stratum, const GpuOperation& operation, uint32_t group, double value) {
    if (any_ && counts(operation)) numbers_.add(operation, stratum, group, value);
  }
  Extrapolated of(std::span<const uint32_t> groups) const { return numbers_.of(groups); }
  Extrapolated of(uint32_t group) const { return numbers_.of(group); }
  Extrapolated all() const { return numbers_.all(); }

  // "Est Count" (of operations), "Est Total" and "+- (95 %)"; by launch also "Not met". `title` and `key` tell several of them in one table
  // apart: "Self CUDA" and "self_device" make "Est Self CUDA Total" and estimated_self_device_total.
  void add_columns(Table& table, std::string_view title = "", std::string_view key = "") const;
  // Totals in MB: cells of bytes have the scale 1e-6.
  void add_megabyte_columns(Table& table) const;
  void add_cells(Table::Row& row, uint32_t group, double scale = 1) const;
  void add_cells(Table::Row& row, const Extrapolated& estimate, std::optional<uint64_t> not_met = {},
                 double scale = 1) const;
  void add_no_cells(Table::Row& row) const;
  // A line for each process: how much was timed, and what was made of it.
  void add_notes(Table& table) const;
  std::vector<std::string> notes() const;

 private:
  bool selects(uint32_t row) const;
  // What an unselected launch put on a GPU is no part of the selection's sample.
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
// The same and that it was extrapolated; `not_met`: how many launches are in no sum.
std::string estimates_text(const Process& process, uint64_t timed, uint64_t launches, uint64_t bursts,
                           uint64_t not_met);

}  // namespace prof::analyzer
