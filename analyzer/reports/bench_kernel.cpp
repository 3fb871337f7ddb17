// bench-kernel: how long does a kernel take if it is launched repeatedly, and how close is it to the device's peaks?
// The report covers launches that the recorder repeated (PROF_REPEAT_KERNEL). They are inside a range of the domain
// "prof".
#include "analyzer/analysis/cost/kernel_costs.h"
#include "analyzer/analysis/cost/peak_rates.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/analysis/sequences/repeated_launches.h"
#include "analyzer/base/statistics.h"
#include "analyzer/model/results.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace prof::analyzer {

namespace {

struct Bench {
  uint32_t range = kNone;         // row of Trace::ranges
  uint32_t own = kNone;           // row of Trace::operations: the program's own launch that was repeated
  std::vector<uint32_t> repeats;  // rows of Trace::operations: the repeats
  uint64_t fills = 0;             // memsets repeated with the launch
};

std::vector<Bench> find_benches(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  const RepeatedLaunches repeated(trace);
  std::vector<Bench> benches;
  for (const uint32_t range : repeated.ranges()) benches.emplace_back().range = range;
  if (benches.empty()) return benches;
  for_each_selected(
      input, [](StreamId) { return true; },
      [&](uint32_t row, const GpuOperation& operation) {
        if (operation.kind() == GpuKind::Copy || !operation.linked()) return;
        const HostEvent& launch = trace.host[operation.launch];
        const uint32_t range = repeated.range_at_or_behind(launch);
        if (range == kNone) return;
        Bench& bench =
            *std::find_if(benches.begin(), benches.end(), [&](const Bench& each) { return each.range == range; });
        const bool inside = launch.begin_ns >= trace.ranges[range].begin_ns;
        if (operation.kind() == GpuKind::Fill) {
          bench.fills += inside ? 1 : 0;
        } else if (inside) {
          bench.repeats.push_back(row);
        } else if (bench.own == kNone || trace.host[trace.operations[bench.own].launch].begin_ns < launch.begin_ns) {
          bench.own = row;  // the thread's last launch before the repeats
        }
      });
  return benches;
}

// The call whose error ended the repeats, as "cuLaunchKernel answered 700 (CUDA_ERROR_ILLEGAL_ADDRESS)". Empty if no
// call failed.
std::string refusal_of(const Trace& trace, const Range& range) {
  const Rows rows = trace.threads[index(range.thread)].host;
  for (uint32_t row = rows.first; row < rows.last; ++row) {
    const HostEvent& call = trace.host[row];
    if (call.begin_ns < range.begin_ns || call.begin_ns >= range.end_ns || !is_failure(call.result())) continue;
    const std::string_view api = trace.api_name(call), error = result_name(call.result(), api);
    return fmt::format("{} answered {}{}", api, call.result(), error.empty() ? "" : fmt::format(" ({})", error));
  }
  return "";
}

void add_launch_columns(Table& table) {
  table.add_columns({ColumnId::pid,           ColumnId::device,   ColumnId::repeats,
                     ColumnId::own_launch,    ColumnId::min,      ColumnId::q1,
                     ColumnId::median,        ColumnId::q3,       ColumnId::max,
                     ColumnId::mean,          ColumnId::stddev,   ColumnId::tflops,
                     ColumnId::flops_percent, ColumnId::gb_per_s, ColumnId::bandwidth_percent,
                     ColumnId::data_type,     ColumnId::from,     ColumnId::to_first_percent,
                     ColumnId::repeated,      ColumnId::name});
}

}  // namespace

Table report_bench_kernel(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  const PeaksOfDevices peaks = peaks_of_devices(input);
  const KernelCosts costs(trace, input.views, data_type(input.options.dtype));
  const std::vector<Bench> benches = find_benches(input);
  Table table("bench-kernel", "One kernel, launched again and again");
  add_launch_columns(table);
  std::unordered_map<std::string, double> first_median;
  uint64_t rows = 0, unseen = 0, shorter = 0;
  for (const Bench& bench : benches) {
    if (bench.repeats.empty()) {
      ++unseen;
      continue;
    }
    const GpuOperation& example = trace.operations[bench.repeats.front()];
    std::vector<int64_t> durations_ns;
    for (const uint32_t each : bench.repeats) durations_ns.push_back(trace.operations[each].duration_ns());
    const Statistics times = statistics_of(durations_ns);
    const uint32_t on = index(trace.stream(example.stream()).device);
    const Device& device = trace.devices[on];
    PeakSums sums;
    sums.add(costs.of(bench.repeats.front()), whole_ns(times.median), peaks.of_device[on]);
    Table::Row row = table.row();
    const auto real = [&](std::optional<double> value) { row.add(value); };
    const auto text = [&](const std::string& value) { row.add_text(value); };
    row.add_owner(device.process).add(device.ordinal).add(times.count);
    if (bench.own != kNone) {
      row.add(trace.operations[bench.own].duration_ns());
    } else {
      row.empty();
    }
    row.add(times.min).add(whole_ns(times.q1)).add(whole_ns(times.median)).add(whole_ns(times.q3)).add(times.max);
    row.add(times.mean).add(times.stddev);
    real(sums.tera_flops());
    real(sums.flops_percent());
    real(sums.giga_bytes());
    real(sums.bytes_percent());
    text(sums.type_text());
    text(sums.source_text());
    const std::string name(operation_name(input.views.names(), example, input.options.names));
    const auto [known, added] = first_median.try_emplace(name, times.median);
    real(added || known->second <= 0 ? std::nullopt : std::optional(100 * times.median / known->second));
    row.add(trace.text(trace.labels[index(trace.ranges[bench.range].label)].text).substr(7))
        .add(std::string_view(name));
    ++rows;
    const bool much_shorter =
        bench.own != kNone && 4 * times.median < 3 * static_cast<double>(trace.operations[bench.own].duration_ns());
    shorter += sums.above_peak || much_shorter ? 1 : 0;
  }
  table.notes.insert(table.notes.end(), peaks.notes.begin(), peaks.notes.end());
  for (const Bench& bench : benches) {
    const Range& range = trace.ranges[bench.range];
    const std::string what(trace.text(trace.labels[index(range.label)].text));
    if (const std::string refusal = refusal_of(trace, range); !refusal.empty())
      table.notes.push_back(fmt::format("{}: ended after {} repeats: {}", what, bench.repeats.size(), refusal));
    if (bench.fills != 0)
      table.notes.push_back(
          fmt::format("{}: the fills in front of the launch were made again with it: {}", what, bench.fills));
  }
  if (benches.empty())
    table.notes.push_back(
        "no launch was repeated: prof record --repeat-kernel NAME=100 --assume-idempotent -- PROGRAM");
  if (unseen != 0)
    table.notes.push_back(fmt::format("repeated launches without GPU times, or not selected: {}", unseen));
  if (shorter != 0) {
    table.notes.push_back(
        fmt::format("rows whose repeats are above a peak, or take less than 3/4 of the own launch: {}: its caches were "
                    "cold, or the kernel "
                    "keeps state (a counter of tiles, say) and did less when it ran again: not idempotent",
                    shorter));
  }
  if (rows != 0) {
    table.notes.push_back(
        "repeats run right after the program's own launch, on its stream, with its arguments: caches are warm");
    table.notes.push_back("rates are of the median");
  }
  return table;
}

}  // namespace prof::analyzer
