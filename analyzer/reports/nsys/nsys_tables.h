// What the reports with nsys's names share: their columns of statistics, the words nsys uses, and which rows are selected.
// Numbers are those that nsys gives (sums where it sums, overlap not taken out): docs/reports/nsys.md.
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

// Durations or sizes of one line of a summary.
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
// Empty cells for no values.
void add_statistics(Table::Row& row, Values& values);

// "Time (%)", "Total Time", the count, the statistics, and the estimates for the whole run.
void add_sum_columns(Table& table, ColumnId count, const Estimates* estimates = nullptr);
// `all`: Σ of the totals of the table.
void add_sum(Table::Row& row, Values& values, double all);

// One line of a summary: the texts that name it, and its values.
struct NsysLine {
  std::vector<std::string> texts;
  Values values;
  uint32_t number = 0;  // in the order in which lines came up: their group in estimates
};
// Values grouped by texts that are only made when a number that stands for them (a KernelId, an api …) is first seen.
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
  // The number of the line.
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
// By total, then count, both descending, then the texts, last first.
void sort_lines(std::vector<NsysLine>& lines);
// Rows of add_sum(), estimates and the texts; what the estimates say of themselves.
void add_lines(Table& table, std::vector<NsysLine>& lines, const Estimates* estimates = nullptr);

// Full names unless --names says otherwise.
NameForm nsys_names(const AnalysisInput& input);
// "[CUDA memcpy Host-to-Device]", "[CUDA memset]".
std::string nsys_memory_operation(const GpuOperation& operation);
// Without the four digits of a version: "cudaLaunchKernel_v7000" -> "cudaLaunchKernel", "cudaLaunchKernelExC_v11060" stays.
std::string_view nsys_api_name(std::string_view name);
// "domain:text"; ":text" in the default domain.
std::string nsys_range_name(const Trace& trace, const Range& range);
std::string_view nsys_style(const Range& range);
// Numbers of the ranges around it and its own: ":3:4:9".
std::string nsys_range_stack(const Trace& trace, uint32_t row);
// "PID", "TID", `more`, "Lvl", "NumChild", "RangeId", "ParentId" and "RangeStack", and the cells after `more`.
void add_range_columns(Table& table, std::initializer_list<ColumnId> more = {});
void add_range_place(Table::Row& row, const Trace& trace, const Range& range);
void add_range_cells(Table::Row& row, const Trace& trace, uint32_t range_row);
// Operators and annotations of torch.profiler are ranges like those of NVTX; Python calls and overhead are not.
bool is_nsys_range(const Range& range);
// "   4    1    1".
std::string nsys_shape(const uint32_t (&shape)[3]);
double megabytes(uint64_t bytes);

// Those of selected_operations.h, of the ranges nsys knows.
std::vector<uint32_t> selected_ranges(const AnalysisInput& input, Order order);

}  // namespace prof::analyzer
