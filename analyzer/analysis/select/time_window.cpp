#include "analyzer/analysis/select/time_window.h"

#include "analyzer/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>

namespace prof::analyzer {

namespace {

// The process whose events make a window; nullopt: all.
using Only = std::optional<ProcessId>;

std::vector<Window> gpu_window(const Trace& trace, Only only) {
  int64_t first = std::numeric_limits<int64_t>::max(), last = std::numeric_limits<int64_t>::min();
  const auto add = [&](const GpuOperation& operation) {
    first = std::min(first, operation.start_ns);
    last = std::max({last, operation.start_ns, operation.end_ns});
  };
  if (!only) {
    for (const GpuOperation& operation : trace.operations) add(operation);
  } else {
    for (const Stream& stream : trace.streams) {
      if (stream.operations.size() == 0 || trace.device(stream.device).process != *only) continue;
      for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) add(trace.operations[row]);
    }
  }
  if (first > last) return {};
  return {{"gpu", first, last}};
}

template <class Take> std::vector<Window> range_windows(const Trace& trace, Only only, Take take) {
  std::vector<Window> windows;
  for (const Range& range : trace.ranges) {
    if (only && trace.thread(range.thread).process != *only) continue;
    if (range.kind != RangeKind::Python && range.kind != RangeKind::Overhead && take(range))
      windows.push_back({std::string(trace.range_name(range)), range.begin_ns, range.end_ns});
  }
  std::stable_sort(windows.begin(), windows.end(),
                   [](const Window& a, const Window& b) { return a.begin_ns < b.begin_ns; });
  return windows;
}

// torch.profiler's steps; without them the ranges whose names count the steps of the program.
std::vector<Window> step_windows(const Trace& trace, Only only, const RangeCounters& counters) {
  std::vector<Window> windows = range_windows(
      trace, only, [&](const Range& range) { return trace.range_name(range).starts_with(kProfilerStep); });
  const uint32_t steps = counters.steps();
  if (!windows.empty() || steps == kNone) return windows;
  return range_windows(trace, only, [&](const Range& range) { return counters.folded_as(range.label) == steps; });
}

// Numbers the windows of one name: "forward#2".
void number(std::vector<Window>& windows) {
  if (windows.size() < 2) return;
  for (size_t i = 0; i < windows.size(); ++i) windows[i].label += fmt::format("#{}", i + 1);
}

// The windows, uncut. Empty if the input has none of that kind.
std::vector<Window> find_windows(const AnalysisInput& input, Only only, const std::string& words) {
  const Trace& trace = input.trace;
  if (words == "gpu") return gpu_window(trace, only);
  if (words == "run") return {{"run", 0, trace.last_ns}};
  if (words == "step") return step_windows(trace, only, input.views.range_counters());
  if (words.starts_with("nvtx:")) {
    const std::string_view wanted = std::string_view(words).substr(5);
    std::vector<Window> windows =
        range_windows(trace, only, [&](const Range& range) { return trace.range_name(range) == wanted; });
    number(windows);
    return windows;
  }
  if (const size_t dots = words.find(".."); dots != std::string::npos) {
    return {{words, parse_moment(trace, std::string_view(words).substr(0, dots), false),
             parse_moment(trace, std::string_view(words).substr(dots + 2), true)}};
  }
  throw std::runtime_error(fmt::format("--window '{}': write gpu, run, step, nvtx:NAME or A..B", words));
}

void cut_windows(const Selection& selection, std::vector<Window>& windows) {
  for (Window& window : windows) {
    window.begin_ns = std::max(window.begin_ns, selection.from_ns);
    window.end_ns = std::min(window.end_ns, selection.to_ns);
  }
  std::erase_if(windows, [](const Window& window) { return window.end_ns <= window.begin_ns; });
}

}  // namespace

std::vector<Window> report_windows(const AnalysisInput& input) {
  const std::string& words = input.options.window;
  std::vector<Window> windows = find_windows(input, std::nullopt, words);
  if (windows.empty() && words == "step")
    throw std::runtime_error(
        "--window step: the input has no ranges ProfilerStep#N, and no NVTX ranges or annotations whose names count "
        "steps (step 0, step 1 ...); nvtx:NAME selects the ranges of one name");
  if (windows.empty() && words.starts_with("nvtx:"))
    throw std::runtime_error(fmt::format("--window: no range '{}' in the input", words.substr(5)));
  cut_windows(input.selection, windows);
  return windows;
}

std::vector<Window> windows_of_process(const AnalysisInput& input, ProcessId process, const std::string& words) {
  std::vector<Window> windows = find_windows(input, process, words);
  cut_windows(input.selection, windows);
  return windows;
}

IntervalSet union_of(const std::vector<Window>& windows) {
  std::vector<Interval> stretches(windows.size());
  std::transform(windows.begin(), windows.end(), stretches.begin(), [](const Window& window) {
    return Interval{window.begin_ns, window.end_ns};
  });
  return IntervalSet(std::move(stretches));
}

std::string window_note(const Window& window) {
  return fmt::format("window: {}, {} to {} ({})", window.label, scaled_time(window.begin_ns),
                     scaled_time(window.end_ns), scaled_time(window.length_ns()));
}

}  // namespace prof::analyzer
