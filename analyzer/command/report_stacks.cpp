#include "analyzer/command/report_stacks.h"

#include "analyzer/analysis/stacks/stack_tree.h"
#include "analyzer/output/forms.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

// Operators of torch.profiler as a tree. The unit is that of export_stacks(): whole microseconds.
CallTree tree_of(const std::vector<ExportedStack>& stacks, std::string_view metric) {
  CallTree tree;
  tree.metric = metric;
  tree.unit = "microseconds";
  for (const ExportedStack& each : stacks) {
    uint32_t node = 0;
    for (size_t i = each.frames.size(); i-- > 0;)
      node = tree.child(node, tree.frame({tree.text(each.frames[i]), {}, {}, 0, TreeFrameKind::Python}));
    tree.node(node).value += each.time_ns / 1000;
    ++tree.node(node).count;
  }
  return tree;
}

// export_stacks() writes one line per operator, even if lines are equal.
void write_exported(const std::vector<ExportedStack>& stacks, Sink& sink) {
  for (const ExportedStack& each : stacks) {
    std::string line;
    for (size_t i = each.frames.size(); i-- > 0;) line.append(folded_frame(each.frames[i])).append(i == 0 ? " " : ";");
    sink.write(fmt::format("{}{}\n", line, each.time_ns / 1000));
  }
}

}  // namespace

std::optional<StackFormat> stack_format(std::string_view report, std::string_view form) {
  const auto* const exporter = is_about_stacks(report) ? exporter_named(kStackExporters, form) : nullptr;
  if (exporter == nullptr) return std::nullopt;
  return static_cast<StackFormat>(exporter - kStackExporters.data());
}

std::vector<std::string> write_stack_report(const AnalysisInput& input, const AnalysisInput* before, StackFormat format,
                                            Sink& sink) {
  StackFileInfo info;
  info.start_realtime_ns = input.trace.start_realtime_ns;
  info.duration_ns = input.trace.last_ns;
  info.title = input.options.metric;
  constexpr size_t kNamed = 3;
  for (size_t p = 0; p < std::min(input.trace.processes.size(), kNamed); ++p) {
    const Process& process = input.trace.processes[p];
    info.title +=
        fmt::format(" · {} ({})", process.executable.empty() ? process.source : process.executable, process.pid);
  }
  if (before != nullptr && !before->trace.processes.empty())
    info.title += fmt::format(", compared with {}", before->trace.processes[0].source);
  std::vector<std::string> notes;
  if (is_torch_metric(input.options.metric)) {
    const std::vector<ExportedStack> stacks = exported_stacks(input, input.options.metric);
    if (format == StackFormat::Folded && before == nullptr) {
      write_exported(stacks, sink);
    } else {
      const std::string& metric = input.options.metric;
      const CallTree tree = tree_of(stacks, metric);
      if (before == nullptr) {
        write_stacks(tree, format, info, sink);
      } else {
        write_stacks(compare_trees(tree, tree_of(exported_stacks(*before, metric), metric)), format, info, sink);
      }
    }
  } else {
    const StackMetric metric = stack_metric(input.options.metric);
    const StackTree answer = stack_tree(input, metric);
    notes = answer.notes;
    if (before != nullptr) {
      write_stacks(compare_trees(answer.tree, stack_tree(*before, metric).tree), format, info, sink);
    } else {
      write_stacks(answer.tree, format, info, sink);
    }
  }
  return notes;
}

}  // namespace prof::analyzer
