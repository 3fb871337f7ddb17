// sequences: which short sequences of kernels repeat, and how much time is lost between their kernels?
#include "analyzer/analysis/sequences/repeated_sequences.h"
#include "analyzer/analysis/sequences/sequence_counts.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

// Kernels that a tensor compiler can fuse: elementwise operators and reductions, its own and those of the framework.
bool can_fuse(const AnalysisInput& input, const Sequence& sequence) {
  return std::all_of(sequence.example.begin(), sequence.example.end(), [&](uint32_t row) {
    const GpuOperation& operation = input.trace.operations[row];
    if (!operation.has_kernel()) return false;
    const std::string_view category = input.views.categories().category(operation);
    return category == "pointwise" || category == "reduction" || category == "persistent_reduction" ||
           category == "foreach" || category == "pytorch" || category == "xla";
  });
}

bool in_graph(const AnalysisInput& input, const Sequence& sequence) {
  return std::all_of(sequence.example.begin(), sequence.example.end(),
                     [&](uint32_t row) { return input.trace.operations[row].graph_node != 0; });
}

}  // namespace

Table report_sequences(const AnalysisInput& input) {
  const std::vector<Window> windows = report_windows(input);
  const Sequences sequences = find_sequences(input, windows);
  Table table("sequences", "Sequences of kernels that repeat");
  table.add_columns({ColumnId::candidate, ColumnId::sequence_length, ColumnId::count, ColumnId::gpu_time,
                     ColumnId::gap_time, ColumnId::gaps_window_percent, ColumnId::launch_time, ColumnId::short_kernels,
                     ColumnId::sequence});
  int64_t window_ns = 0;
  for (const Window& window : windows) {
    grow(window_ns, window.length_ns());
    if (windows.size() <= 20) table.notes.push_back(window_note(window));
  }
  table.notes.push_back(
      fmt::format("gaps inside: time the stream waited between the operations of a sequence, the most that joining "
                  "them could save on "
                  "it; short: below {}; a pause of {} ends a sequence",
                  scaled_time(kShortKernel), scaled_time(kSequencePause)));
  if (sequences.set_aside != 0) {
    table.notes.push_back(
        fmt::format("too many distinct sequences: {} occurrences were not looked at", sequences.set_aside));
  }
  for (const Sequence& sequence : sequences.found) {
    const bool fusion = can_fuse(input, sequence), graph = in_graph(input, sequence);
    Table::Row row = table.row();
    row.add(std::string_view(fusion ? graph ? "fusion" : "fusion, graph" : graph ? "" : "graph"));
    row.add(static_cast<uint64_t>(sequence.example.size())).add(sequence.count).add(sequence.gpu_ns);
    row.add(sequence.gap_ns);
    row.add_percent(sequence.gap_ns, window_ns);
    row.add(sequence.launch_ns).add(sequence.short_kernels);
    std::string text;
    for (const uint32_t each : sequence.example) {
      text += text.empty() ? "" : "; ";
      text += operation_name(input.views.names(), input.trace.operations[each], input.options.names);
    }
    row.add(std::string_view(text));
  }
  return table;
}

}  // namespace prof::analyzer
