#include "analyzer/analysis/cost/kernel_peaks.h"

#include "analyzer/analysis/bursts/estimates.h"
#include "analyzer/analysis/cost/kernel_costs.h"
#include "analyzer/analysis/cost/peak_rates.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/analysis/select/time_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

namespace {

// One kernel name on one device.
struct PeakRow {
  uint32_t device = 0;
  uint32_t example = kNone;  // row of Trace::operations
  uint32_t number = 0;       // of its group in the estimates
  PeakSums sums;
};

std::vector<PeakRow> peak_rows(const AnalysisInput& input, const PeaksOfDevices& peaks, const KernelCosts& costs,
                               Estimates& estimates) {
  const Trace& trace = input.trace;
  const IntervalSet wanted = union_of(report_windows(input));
  std::vector<PeakRow> rows;
  std::unordered_map<uint64_t, uint32_t> row_of;
  for_each_selected(
      input, [](StreamId) { return true; },
      [&](uint32_t row, const GpuOperation& operation) {
        if (operation.kind() != GpuKind::Kernel) return;
        if (wanted.overlap_ns(operation.start_ns, operation.end_ns) == 0 && !wanted.contains(operation.start_ns))
          return;
        const uint32_t device = index(trace.stream(operation.stream()).device);
        const uint32_t name = index(trace.kernels[index(input.views.names().named_by(operation))].name);
        const auto [found, added] =
            row_of.try_emplace(uint64_t{device} << 32 | name, static_cast<uint32_t>(rows.size()));
        if (added) rows.emplace_back(PeakRow{device, row, found->second, {}});
        estimates.add(operation, found->second);
        rows[found->second].sums.add(costs.of(row), operation.duration_ns(), peaks.of_device[device]);
      });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const PeakRow& a, const PeakRow& b) { return a.sums.total_ns > b.sums.total_ns; });
  return rows;
}

std::string note_of(const PeakSums& sums) {
  const std::string note = sums.note(), useful = sums.useful_note();
  return note.empty() || useful.empty() ? note + useful : note + ", " + useful;
}

void add_columns(Table& table, const Estimates& estimates) {
  table.add_columns({ColumnId::pid, ColumnId::device, ColumnId::count, ColumnId::total, ColumnId::mean, ColumnId::gflop,
                     ColumnId::tflops, ColumnId::useful_tflops, ColumnId::flops_percent, ColumnId::gb,
                     ColumnId::gb_per_s, ColumnId::bandwidth_percent});
  estimates.add_columns(table);
  table.add_columns({ColumnId::data_type, ColumnId::from, ColumnId::note, ColumnId::name});
}

}  // namespace

Table kernel_peaks(const AnalysisInput& input) {
  if (!input.options.group_by.empty())
    throw std::runtime_error("--peaks: rows are kernels of a device; --group-by belongs to the report roofline");
  const Trace& trace = input.trace;
  const PeaksOfDevices peaks = peaks_of_devices(input);
  const KernelCosts costs(trace, input.views, data_type(input.options.dtype));
  Table table("kernels", "Kernels against the peaks of their device");
  Estimates estimates(input, RowsAre::ByWork);
  add_columns(table, estimates);
  uint64_t above = 0;
  for (const PeakRow& each : peak_rows(input, peaks, costs, estimates)) {
    const PeakSums& sums = each.sums;
    const Device& device = trace.devices[each.device];
    Table::Row row = table.row();
    const auto real = [&](std::optional<double> value) { row.add(value); };
    const auto text = [&](const std::string& value) { row.add_text(value); };
    row.add_owner(device.process).add(device.ordinal).add(sums.count).add(sums.total_ns);
    row.add(static_cast<double>(sums.total_ns) / static_cast<double>(sums.count));
    real(sums.with_flops == 0 ? std::nullopt : std::optional(sums.flops / 1e9));
    real(sums.tera_flops());
    real(sums.useful_tera_flops());
    real(sums.flops_percent());
    real(sums.with_bytes == 0 ? std::nullopt : std::optional(sums.bytes / 1e9));
    real(sums.giga_bytes());
    real(sums.bytes_percent());
    estimates.add_cells(row, each.number);
    text(sums.type_text());
    text(sums.source_text());
    text(note_of(sums));
    row.add(operation_name(input.views.names(), trace.operations[each.example], input.options.names));
    above += sums.above_peak ? 1 : 0;
  }
  for (const Window& window : report_windows(input)) {
    if (table.notes.size() < 20) table.notes.push_back(window_note(window));
  }
  estimates.add_notes(table);
  table.notes.insert(table.notes.end(), peaks.notes.begin(), peaks.notes.end());
  if (!costs.remedy().empty()) table.notes.emplace_back(costs.remedy());
  table.notes.push_back(
      "rates: sums over the time of the launches whose number is known; an operator's numbers are its main kernel's");
  if (above != 0)
    table.notes.push_back(fmt::format(
        "rows above a peak: {}: data that stays in the cache, fewer operations than counted, or another type", above));
  return table;
}

}  // namespace prof::analyzer
