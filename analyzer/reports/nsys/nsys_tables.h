// The shared code of reports with nsys's names: columns of statistics, nsys's words, and selected rows. Numbers are the
// ones that nsys prints. Where nsys adds durations, overlap is counted several times: docs/reports/nsys.md.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/statistics.h"
#include "analyzer/table/table.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

// A table in nsys's layout.
Table nsys_table(std::string name, std::string title);

// Durations or sizes of one line of a summary table.
class Values {
 public:
  void add(int64_t value) {
    values_.push_back(value);
    total_ = add_saturated(total_, value);
  }
  bool empty() const { return values_.empty(); }
  uint64_t count() const { return values_.size(); }
  int64_t total() const { return total_; }
  Statistics statistics() { return statistics_of(values_); }

 private:
  std::vector<int64_t> values_;
  int64_t total_ = 0;
};

// "Avg", "Med", "Min", "Max", "StdDev".
void add_statistics_columns(Table& table);
// The cells are empty if there are no values.
void add_statistics(Table::Row& row, Values& values);

// "Time (%)", "Total Time", the count, the statistics, and the estimates for the whole run.
void add_sum_columns(Table& table, ColumnId count, const Estimates* estimates = nullptr);
// `all`: the sum of the totals of the table.
void add_sum(Table::Row& row, Values& values, double all);

// One line of a summary table: the texts that name it, and its values.
struct NsysLine {
  std::vector<std::string> texts;
  Values values;
  uint32_t number = 0;  // in order of first appearance: its group in the estimates
};
// Values grouped by texts. The texts are created only when a key that represents them (a KernelId, an api …) appears
// first.
class NsysLines {
 public:
  template <class Texts> NsysLine& line(uint64_t key, Texts&& texts) {
    const auto [found, added] = of_key_.try_emplace(key, 0);
    if (added) {
      const auto [line, fresh] = of_texts_.try_emplace(texts(), static_cast<uint32_t>(lines.size()));
      if (fresh) lines.push_back({line->first, {}, line->second});
      found->second = line->second;
    }
    return lines[found->second];
  }
  // Returns the number of the line.
  template <class Texts> uint32_t add(uint64_t key, int64_t value, Texts&& texts) {
    NsysLine& line = this->line(key, texts);
    line.values.add(value);
    return line.number;
  }

  std::vector<NsysLine> lines;

 private:
  std::unordered_map<uint64_t, uint32_t> of_key_;
  std::map<std::vector<std::string>, uint32_t> of_texts_;
};

double total_of(const std::vector<NsysLine>& lines);
// Sorts by total, then count, both descending, then by the texts, last text first.
void sort_lines(std::vector<NsysLine>& lines);
// Adds the rows: add_sum(), estimates and the texts. Adds the notes of the estimates.
void add_lines(Table& table, std::vector<NsysLine>& lines, const Estimates* estimates = nullptr);

// The name as nsys demangled it, where the export has it; else the full name. --names selects another form.
std::string_view nsys_kernel_name(const AnalysisInput& input, const GpuOperation& kernel);
// Add it to times of the model for the times of the export, whose zero is the start of the session. 0 if the input is
// anything but one export of nsys.
int64_t nsys_session_offset(const Trace& trace);
// Says so, if there is an offset.
void note_session_offset(Table& table, int64_t offset_ns);
// "[CUDA memcpy Host-to-Device]", "[CUDA memset]".
std::string nsys_memory_operation(const GpuOperation& operation);
// Removes "_v" and a version of four digits: "cudaLaunchKernel_v7000" -> "cudaLaunchKernel".
// "cudaLaunchKernelExC_v11060" is unchanged.
std::string_view nsys_api_name(std::string_view name);
// "domain:text", or ":text" in the default domain.
std::string nsys_range_name(const Trace& trace, const Range& range);
std::string_view nsys_style(const Range& range);
// How ranges of one thread contain each other in time. Push/pop ranges only, of all domains, as in nsys.
class NsysNesting {
 public:
  explicit NsysNesting(const Trace& trace);
  uint32_t level(uint32_t row) const { return level_[row]; }
  uint32_t children(uint32_t row) const { return children_[row]; }
  uint32_t parent(uint32_t row) const { return parent_[row]; }  // row of Trace::ranges; kNone: none
  int64_t children_ns(uint32_t row) const { return children_ns_[row]; }
  // Numbers of the ranges around the range, and its own number: ":3:4:9".
  std::string stack(uint32_t row) const;

 private:
  std::vector<uint32_t> parent_, level_, children_;  // by row of Trace::ranges
  std::vector<int64_t> children_ns_;
};
// Adds "PID", "TID", `more`, "Lvl", "NumChild", "RangeId", "ParentId" and "RangeStack". add_range_place() adds the
// cells after `more`.
void add_range_columns(Table& table, std::initializer_list<ColumnId> more = {});
void add_range_place(Table::Row& row, const Trace& trace, const Range& range);
void add_range_cells(Table::Row& row, const NsysNesting& nesting, uint32_t range_row);
// Operators and annotations of torch.profiler count as NVTX ranges. Python calls and overhead do not.
bool is_nsys_range(const Range& range);
// "   4    1    1".
std::string nsys_shape(const uint32_t (&shape)[3]);
double megabytes(uint64_t bytes);

// Rows as in selected_operations.h, limited to ranges that nsys has.
std::vector<uint32_t> selected_ranges(const AnalysisInput& input, Order order);

}  // namespace prof::analyzer
