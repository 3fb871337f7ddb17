#include "analyzer/command/report_stacks.h"

#include "analyzer/analysis/stacks/stack_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace prof::analyzer {

namespace {

bool is_about_stacks(std::string_view report) {
  return report == "stacks" || report == "flame" || report == "hot-stacks";
}

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

std::vector<std::string> stack_format_names() {
  std::vector<std::string> names;
  for (const auto& exporter : kStackExporters) names.emplace_back(exporter.name);
  return names;
}

std::optional<StackFormat> stack_format(std::string_view report, const std::string& word, const std::string& output) {
  if (word.empty()) {
    const auto* const by_file = report == "flame" ? exporter_of_file(kStackExporters, output) : nullptr;
    if (by_file == nullptr) return std::nullopt;
    return static_cast<StackFormat>(by_file - kStackExporters.data());
  }
  if (!is_about_stacks(report))
    throw std::runtime_error(
        fmt::format("--format {}: only the reports stacks, hot-stacks and flame have that form, not {}", word, report));
  return static_cast<StackFormat>(exporter_named(kStackExporters, word) - kStackExporters.data());
}

std::vector<std::string> write_stack_report(const AnalysisInput& input, const AnalysisInput* before, StackFormat format,
                                            const std::string& output) {
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
  Sink sink(output);
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
  sink.close();
  return notes;
}

}  // namespace prof::analyzer
