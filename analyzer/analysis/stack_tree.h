// Which code does a quantity belong to? The values of a metric by call stack, as a tree. Called by the reports stacks, hot-stacks and
// flame. Definitions: docs/reports/stacks.md.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/model/call_tree.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class StackMetric { GpuTime, CpuTime, Launches, Bytes, AllocatedBytes, Idle };

// Throws std::runtime_error for a word that is no metric.
StackMetric stack_metric(std::string_view word);

struct StackTree {
  CallTree tree;
  int64_t without_stack = 0;  // part of the value whose stack is not known: directly below the root
  std::vector<std::string> notes;
};

StackTree stack_tree(const AnalysisInput& input, StackMetric metric);

// One operator as torch.autograd.profiler's export_stacks() writes it.
struct ExportedStack {
  std::vector<std::string_view> frames;  // innermost first
  int64_t time_ns = 0;
};

// Its metrics: self_cpu_time_total, self_cuda_time_total and self_device_time_total, its newer name.
bool is_torch_metric(std::string_view word);
// In order of begin, those with a stack and at least a microsecond.
std::vector<ExportedStack> exported_stacks(const AnalysisInput& input, std::string_view metric);

}  // namespace prof::analyzer
