#include "analyzer/reports/ranks/rank_sums.h"

#include "analyzer/analysis/collectives/rank_blame.h"
#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/analysis/select/window_finder.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr std::string_view kClockMetric = "gpc__cycles_elapsed";

// Kernels of one name and launch shape, or copies of one direction, without texts.
struct OperationKey {
  RankItemKind kind{};
  uint32_t name = 0;    // KernelId that names it, or the kinds of a copy
  uint32_t kernel = 0;  // KernelId of the shape
  auto operator<=>(const OperationKey&) const = default;
};

struct Calls {
  uint64_t bytes = 0;
  int64_t total_ns = 0;
  std::vector<WeightedValue> values;
};

RankItem item_of(Calls& calls) {
  RankItem item;
  item.count = calls.values.size();
  item.bytes = calls.bytes;
  item.total_ns = calls.total_ns;
  const RankValue limits = limits_of_median(std::move(calls.values));
  item.typical = limits.value;
  item.low = limits.low;
  item.high = limits.high;
  return item;
}

// Empty if it is not known, as of a whole graph.
std::string shape_of(const Kernel& kernel) {
  if (kernel.grid[0] == 0) return {};
  return fmt::format("{}x{}x{} of {}x{}x{}", kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0],
                     kernel.block[1], kernel.block[2]);
}

// Adds the operations of the process that start in the window, as items.
void add_operations(const AnalysisInput& input, const Interval& window, RankSums& sums) {
  const Trace& trace = input.trace;
  const KernelNames& names = input.views.names();
  const KernelCategories& categories = input.views.categories();
  std::map<OperationKey, Calls> found;
  const auto any_stream = [](StreamId) { return true; };
  for_each_selected(input, any_stream, [&](uint32_t, const GpuOperation& operation) {
    if (operation.start_ns < window.begin_ns || operation.start_ns >= window.end_ns) return;
    ++sums.operations;
    const int64_t ns = std::max<int64_t>(0, operation.end_ns - operation.start_ns);
    OperationKey key;
    if (operation.has_kernel()) {
      const KernelId name = names.named_by(operation);
      const bool communicates = categories.purpose(name) == Purpose::Communication;
      key = {communicates ? RankItemKind::Collective : RankItemKind::Kernel, index(name), operation.detail};
    } else if (operation.kind() == GpuKind::Copy && operation.bytes != 0) {
      key = {RankItemKind::Copy, operation.detail, 0};
    } else {
      return;
    }
    Calls& calls = found[key];
    grow(calls.total_ns, ns);
    if (key.kind == RankItemKind::Copy) {
      const auto bytes = static_cast<double>(operation.bytes);
      calls.bytes += operation.bytes;
      calls.values.push_back({static_cast<double>(ns) / bytes, bytes});
    } else {
      calls.values.push_back({static_cast<double>(ns), 1});
    }
  });
  // Two ids may have one name and shape.
  std::map<RankItemKey, Calls> by_text;
  for (auto& [key, calls] : found) {
    RankItemKey text{key.kind, {}, {}};
    if (key.kind == RankItemKind::Copy) {
      text.name = fmt::format("{} {} -> {}", copy_kind_name(GpuOperation::copy_kind_of(key.name)),
                              memory_kind_name(key.name >> 8 & 0xff), memory_kind_name(key.name >> 16 & 0xff));
    } else {
      text.name = std::string(names.name(KernelId{key.name}, NameForm::Full));
      text.shape = shape_of(trace.kernels[key.kernel]);
    }
    Calls& all = by_text[text];
    all.bytes += calls.bytes;
    grow(all.total_ns, calls.total_ns);
    all.values.insert(all.values.end(), calls.values.begin(), calls.values.end());
  }
  for (auto& [key, calls] : by_text) sums.items.emplace(key, item_of(calls));
}

// If the log lacks calls, the causes are those of the missing calls, not of the rank: they are no items.
void add_idle(const AnalysisInput& input, ProcessId process, const Interval& window, const std::vector<Window>& steps,
              RankSums& sums) {
  const bool comparable = why_calls_lost(input.trace.processes[index(process)]).empty();
  std::vector<std::vector<int64_t>> by_step(kGapCharges);
  const WindowFinder finder(steps);
  divide_gaps(input.trace, input.views, input.selection, window,
              [&](const DeviceGap&, std::span<const GapPiece> pieces) {
                for (const GapPiece& piece : pieces) {
                  const Interval part = inside(piece, window.begin_ns, window.end_ns);
                  if (part.length_ns() <= 0) continue;
                  const size_t charge = piece.charge.number();
                  grow(sums.idle_by_cause_ns[charge], part.length_ns());
                  std::vector<int64_t>& of_steps = by_step[charge];
                  if (of_steps.empty()) of_steps.resize(steps.size());
                  finder.each(part.begin_ns, part.end_ns, [&](size_t step) {
                    grow(of_steps[step], inside(piece, steps[step].begin_ns, steps[step].end_ns).length_ns());
                  });
                }
              });
  for (size_t charge = 0; charge < kGapCharges; ++charge) {
    const int64_t total_ns = sums.idle_by_cause_ns[charge];
    if (total_ns == 0 || !comparable) continue;
    RankItem item;
    item.count = 1;
    if (steps.empty()) {
      item.typical = static_cast<double>(total_ns) / static_cast<double>(sums.window_ns);
      item.low = item.high = item.typical;
    } else {
      Calls calls;
      for (const int64_t ns : by_step[charge]) calls.values.push_back({static_cast<double>(ns), 1});
      item = item_of(calls);
    }
    item.total_ns = total_ns;
    sums.items.emplace(RankItemKey{RankItemKind::Idle, std::string(GapCharge::of_number(charge).text()), {}}, item);
  }
}

void add_clock(const AnalysisInput& input, ProcessId process, const Interval& window, RankSums& sums) {
  const SampleTable& samples = input.trace.samples;
  Calls calls;
  for (uint32_t s = 0; s < samples.sets.size(); ++s) {
    const SampledSet& set = samples.sets[s];
    if (index(set.device) >= input.trace.devices.size() || input.trace.device(set.device).process != process) continue;
    for (size_t m = 0; m < set.metrics.size(); ++m) {
      const std::string_view metric = input.trace.text(set.metrics[m]);
      if (!metric.starts_with(kClockMetric)) continue;
      const SampledUnit unit = sampled_unit(metric);
      for (size_t row = set.first; row < set.last; ++row) {
        const SampleRow& sample = samples.rows[row];
        if (sample.begin_ns < window.begin_ns || sample.begin_ns >= window.end_ns) continue;
        const double ghz = unit.of(samples.values_of(s, row)[m], sample.end_ns - sample.begin_ns);
        if (std::isfinite(ghz) && ghz > 0) calls.values.push_back({1 / ghz, 1});
      }
    }
  }
  if (!calls.values.empty()) sums.items.emplace(RankItemKey{RankItemKind::Clock, "SM clock", {}}, item_of(calls));
}

// The number at the end of a name: 17 of "ProfilerStep#17"; 0 without one.
int64_t number_at_end(std::string_view name) {
  size_t at = name.size();
  while (at > 0 && std::isdigit(static_cast<unsigned char>(name[at - 1])) != 0) --at;
  int64_t number = 0;
  std::from_chars(name.data() + at, name.data() + name.size(), number);
  return number;
}

// `devices`: measured in the whole window, then in each step.
void add_steps(const std::vector<Window>& steps, const std::vector<DeviceBreakdown>& devices, bool numbered,
               RankSums& sums) {
  sums.steps = steps.size();
  if (steps.empty()) return;
  sums.first_step = numbered ? number_at_end(steps.front().label) : 0;
  std::vector<WeightedValue> lengths;
  std::vector<double> own_ns;
  for (size_t i = 0; i < steps.size(); ++i) {
    lengths.push_back({static_cast<double>(steps[i].length_ns()), 1});
    double waited_ns = 0;
    for (const DeviceBreakdown& device : devices)
      waited_ns += static_cast<double>(device.windows[i + 1].exposed_communication_ns);
    own_ns.push_back(std::max(0.0, lengths.back().value - waited_ns / static_cast<double>(devices.size())));
  }
  sums.step_ns = limits_of_median(std::move(lengths)).value;
  while (steps.size() / sums.steps_a_number > kMostKeptSteps) sums.steps_a_number *= 2;
  for (size_t first = 0; first < own_ns.size(); first += sums.steps_a_number) {
    const size_t last = std::min<size_t>(own_ns.size(), first + sums.steps_a_number);
    double total = 0;
    for (size_t i = first; i < last; ++i) total += own_ns[i];
    sums.own_step_ns.push_back(static_cast<float>(total / static_cast<double>(last - first)));
  }
}

void add_launches(const AnalysisInput& input, ProcessId process, const Interval& window, RankSums& sums) {
  for (const Thread& thread : input.trace.threads) {
    if (thread.process != process || !input.selection.has_thread(thread)) continue;
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
      const HostEvent& event = input.trace.host[row];
      if (event.is_launch() && event.begin_ns >= window.begin_ns && event.begin_ns < window.end_ns) ++sums.launches;
    }
  }
}

}  // namespace

std::string_view rank_item_kind_text(RankItemKind kind) {
  constexpr std::string_view kTexts[] = {"kernel", "copy", "collective", "idle", "clock"};
  return kTexts[static_cast<size_t>(kind)];
}

std::optional<RankSums> sums_of_rank(const AnalysisInput& all, ProcessId process) {
  Selection selection = all.selection;
  selection.processes.assign(all.trace.processes.size(), false);
  selection.processes[index(process)] = true;
  const AnalysisInput input{all.trace, all.views, selection, all.options};
  const std::string& words = all.options.window;
  const bool whole = words == "gpu" || words == "run";
  std::vector<Window> windows = windows_of_process(input, process, words);
  const bool ranges = !whole && words.find("..") == std::string::npos;
  std::vector<Window> steps = ranges ? windows : windows_of_process(input, process, "step");
  if (words == "gpu" && !steps.empty()) windows = steps;
  if (windows.empty()) return std::nullopt;
  const Interval window = WindowFinder(windows).hull();
  std::erase_if(steps, [&](const Window& step) {
    return step.begin_ns < window.begin_ns || step.end_ns > window.end_ns;  // --window A..B cuts it
  });

  RankSums sums;
  sums.process = index(process);
  sums.window_ns = window.length_ns();
  std::vector<Window> measured = {{"", window.begin_ns, window.end_ns}};
  measured.insert(measured.end(), steps.begin(), steps.end());
  const std::vector<DeviceBreakdown> devices = break_down(input, measured, {});
  if (devices.empty()) return std::nullopt;
  std::set<std::string> names;
  for (const DeviceBreakdown& device : devices) {
    const Breakdown& part = device.windows.front();
    grow(sums.busy_ns, part.busy_ns);
    grow(sums.compute_ns, part.compute_ns);
    grow(sums.exposed_communication_ns, part.exposed_communication_ns);
    grow(sums.copies_ns, part.memory_ns);
    grow(sums.exposed_copies_ns, part.exposed_memory_ns);
    grow(sums.idle_ns, part.idle_ns());
    names.insert(all.trace.devices[device.device].name);
    ++sums.devices;
  }
  sums.gpu = fmt::format("{}", fmt::join(names, ", "));
  add_steps(steps, devices, !words.starts_with("nvtx:"), sums);
  add_launches(input, process, window, sums);
  add_operations(input, window, sums);
  add_idle(input, process, window, steps, sums);
  add_clock(input, process, window, sums);
  return sums;
}

}  // namespace prof::analyzer
