// Which code does a quantity belong to? The values of a metric as a tree of call stacks. Called by the reports stacks,
// hot-stacks and flame. Definitions: docs/reports/stacks.md.
#pragma once

#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/model/call_tree.h"
#include "analyzer/table/table.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class StackMetric { GpuTime, CpuTime, Launches, Bytes, AllocatedBytes, Idle, HostTime };

// Throws std::runtime_error if the word is no metric.
StackMetric stack_metric(std::string_view word);

struct StackTree {
  CallTree tree;
  int64_t without_stack = 0;  // part of the value without a known stack: directly below the root
  std::vector<std::string> notes;

  // If GPU times were taken in bursts, values of GPU operations are extrapolated to the whole run. The groups of each
  // node:
  std::shared_ptr<const Estimates> estimates;
  std::vector<std::vector<uint32_t>> groups;  // by node; empty: nothing is extrapolated
  bool estimated() const { return !groups.empty(); }
  // The column "+- (95 %)" after the column of a value, and its cell: of the sum of groups.
  void add_half_column(Table& table, ColumnId column) const;
  void add_half_cell(Table::Row& row, const std::vector<uint32_t>& of_groups) const;
  // By node: its own groups and those of all its descendants.
  std::vector<std::vector<uint32_t>> groups_below() const;
};

StackTree stack_tree(const AnalysisInput& input, StackMetric metric);

// One operator as torch.autograd.profiler's export_stacks() writes it.
struct ExportedStack {
  std::vector<std::string_view> frames;  // innermost first
  int64_t time_ns = 0;
};

// The metrics of torch.profiler: self_cpu_time_total, self_cuda_time_total and its newer name self_device_time_total.
bool is_torch_metric(std::string_view word);
// Operators in order of start that have a stack and at least a microsecond.
std::vector<ExportedStack> exported_stacks(const AnalysisInput& input, std::string_view metric);

}  // namespace prof::analyzer
