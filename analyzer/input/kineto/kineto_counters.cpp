// Values of hardware counters in a trace, and which launch or range they are about.
//
// In "args" of a kernel or range (traces of ours) they are about that. torch.profiler (`profiler_metrics`) writes events
// "cuda_profiler_range" without any id, with times that only split the window evenly, and collects no kernels beside them:
// per kernel one event for each launch on the device, in order, or one event "__profile__" for all. Those of kernels are
// joined by order if nothing speaks against it: as many launches as events, and one way to put both in order. Else they stay
// without a launch, with the reason.
#include "analyzer/input/kineto/kineto_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr std::string_view kWholeRange = "__profile__";
constexpr std::string_view kNoName = "__missing__";  // the driver did not tell it
// The only function at which Kineto takes down the kernel's name.
constexpr std::string_view kNamedLaunch = "cudaLaunchKernel";

int64_t moved(int64_t time_ns, int64_t by_ns) {
  return static_cast<int64_t>(static_cast<uint64_t>(time_ns) + static_cast<uint64_t>(by_ns));
}

// A range's number stands for the name that it has not.
bool is_name(std::string_view text) {
  return text != kNoName && text.find_first_not_of("0123456789") != std::string_view::npos;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t end = 0; end != std::string_view::npos; text.remove_prefix(std::min(end + 1, text.size()))) {
    end = text.find('\n');
    lines.push_back(text.substr(0, end));
  }
  return lines;
}

}  // namespace

void KinetoRowMaker::counted(KinetoCounted::Of of, size_t row) {
  if (event_.metrics.empty()) return aside(KinetoAside::NoMetrics);
  KinetoCounted counted;
  counted.of = of;
  counted.row = static_cast<uint32_t>(row);
  counted.first = rows_.counter_values.size();
  std::string names;
  for (const KinetoEvent::Metric& metric : event_.metrics) {
    names.append(names.empty() ? "" : "\n").append(metric.name);
    const char* const end = metric.value.data() + metric.value.size();
    double value = 0;
    const auto [read, error] = std::from_chars(metric.value.data(), end, value);
    if (error != std::errc() || read != end) {
      aside(KinetoAside::BadNumber);
      value = NAN;
    }
    rows_.counter_values.push_back(value);
  }
  if (last_metrics_text_ == 0 || names != last_metrics_) {
    last_metrics_text_ = text(keep(names));
    last_metrics_ = std::move(names);
  }
  counted.metrics = last_metrics_text_;
  if (of != KinetoCounted::Range || event_.has(KinetoArgument::DeviceOrdinal)) counted.device = device_or_pid();
  if (of == KinetoCounted::Own) {
    counted.name = text(event_.name), counted.pid = pid_text();
    counted.begin_ns = begin_ns_;
  }
  rows_.counted.push_back(counted);
}

void KinetoModel::add_counted(const KinetoRows& rows, size_t first_operation, size_t first_range) {
  const uint64_t first_value = counter_values_.size();
  for (const KinetoCounted& each : rows.counted) {
    Counted& counted = counted_.emplace_back();
    counted.own = each.of == KinetoCounted::Own;
    counted.of = each.of == KinetoCounted::Operation ? Counted::Operation
                 : each.of == KinetoCounted::Range   ? Counted::Range
                                                     : Counted::Unplaced;
    if (!counted.own)
      counted.row = each.row + static_cast<uint32_t>(counted.of == Counted::Range ? first_range : first_operation);
    counted.metrics = StringId{text_[each.metrics]};
    counted.name = StringId{text_[each.name]};
    counted.pid = text_[each.pid];
    counted.device = each.device;
    counted.first = first_value + each.first;
    counted.begin_ns = each.begin_ns;
    if (counted.of != Counted::Range) continue;
    const Range& range = trace_.ranges[counted.row];
    counted.begin_ns = range.begin_ns, counted.end_ns = range.end_ns;
    counted.owner = index(range.thread), counted.tie = index(range.label);
  }
  counter_values_.insert(counter_values_.end(), rows.counter_values.begin(), rows.counter_values.end());
}

// Of each device its events with its kernels, else, where the trace has no kernels, with the launches.
void KinetoModel::join_counters() {
  std::map<uint32_t, std::vector<size_t>> of_device;
  for (size_t i = 0; i < counted_.size(); ++i) {
    if (!counted_[i].own) continue;
    counted_[i].kernel = trace_.strings[counted_[i].name] != kWholeRange;
    if (counted_[i].kernel) of_device[counted_[i].device].push_back(i);
  }
  const bool one_process = trace_.processes.size() - mark_.processes == 1;
  for (const Counted& each : counted_) {
    if (one_process && each.device != kNone) device_row(mark_.processes, each.device);
  }
  bool any_kernel = false;
  std::map<uint32_t, std::vector<uint32_t>> kernels;  // by device
  for (uint32_t row = mark_.operations; !of_device.empty() && row < trace_.operations.size(); ++row) {
    const GpuOperation& operation = trace_.operations[row];
    if (operation.kind() != GpuKind::Kernel) continue;
    any_kernel = true;
    kernels[streams_[operation.stream_index].device].push_back(row);
  }
  for (auto& [device, ranges] : of_device) {
    std::stable_sort(ranges.begin(), ranges.end(),
                     [&](size_t a, size_t b) { return counted_[a].begin_ns < counted_[b].begin_ns; });
    const std::string why =
        any_kernel ? join_with_kernels(ranges, kernels[device]) : join_with_launches(ranges, of_device.size());
    std::string fact = fmt::format("device {}: {} ranges of kernels ", device, ranges.size());
    if (why.empty()) {
      fact += any_kernel ? "joined with as many kernels, in order" : "joined with as many launches, in order";
    } else {
      fact += "without their launch: " + why;
      const StringId text = trace_.strings.intern(why);
      for (const size_t i : ranges) counted_[i].why = text;
    }
    counter_facts_.push_back(std::move(fact));
  }
}

// Both say the reason if there is one.
std::string KinetoModel::join_with_kernels(const std::vector<size_t>& ranges, const std::vector<uint32_t>& kernels) {
  if (kernels.size() != ranges.size()) return fmt::format("{} ranges, {} kernels", ranges.size(), kernels.size());
  std::vector<uint32_t> rows = kernels;
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return trace_.operations[a].start_ns < trace_.operations[b].start_ns;
  });
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string_view name = trace_.strings[counted_[ranges[i]].name];
    const std::string_view kernel = trace_.text(trace_.kernels[trace_.operations[rows[i]].detail].name);
    if (is_name(name) && name != kernel)
      return fmt::format("{} ranges and kernels, but the names of number {} differ", rows.size(), i + 1);
    if (i != 0 && trace_.operations[rows[i]].start_ns == trace_.operations[rows[i - 1]].start_ns)
      return "kernels that start at the same moment";
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    Counted& counted = counted_[ranges[i]];
    counted.of = Counted::Operation, counted.row = rows[i];
  }
  return {};
}

std::string KinetoModel::join_with_launches(const std::vector<size_t>& ranges, size_t devices) {
  if (trace_.processes.size() - mark_.processes > 1) return "the file has several processes";
  if (devices > 1) return fmt::format("the launches do not say on which of {} devices they are", devices);
  std::vector<uint32_t> launches;
  for (uint32_t row = mark_.host; row < trace_.host.size(); ++row) {
    const HostKind kind = trace_.host[row].kind();
    if (kind == HostKind::GraphLaunch) return "graphs were launched too";
    if (kind == HostKind::KernelLaunch) launches.push_back(row);
  }
  std::stable_sort(launches.begin(), launches.end(), [&](uint32_t a, uint32_t b) {
    const HostEvent &x = trace_.host[a], &y = trace_.host[b];
    return x.begin_ns != y.begin_ns ? x.begin_ns < y.begin_ns : x.end_ns > y.end_ns;
  });
  size_t kept = 0;
  bool overlap = false;
  std::map<uint32_t, int64_t> busy_until;  // by thread
  for (const uint32_t row : launches) {
    const HostEvent& launch = trace_.host[row];
    int64_t& until_ns = busy_until.try_emplace(index(launch.thread), INT64_MIN).first->second;
    if (launch.begin_ns < until_ns && launch.end_ns <= until_ns) continue;  // the driver's call inside
    until_ns = launch.end_ns;
    overlap = overlap || (kept != 0 && launch.begin_ns < trace_.host[launches[kept - 1]].end_ns);
    launches[kept++] = row;
  }
  launches.resize(kept);
  if (kept != ranges.size()) return fmt::format("{} ranges, {} launches", ranges.size(), kept);
  if (overlap) return fmt::format("{} ranges and launches, but launches overlap: their order is not known", kept);
  size_t named = 0;
  for (size_t i = 0; i < kept; ++i) {
    HostEvent& launch = trace_.host[launches[i]];
    Counted& counted = counted_[ranges[i]];
    counted.of = Counted::Launch, counted.row = launches[i];
    Kernel kernel;
    // The first names are those of such launches, whatever stands between them.
    const bool has_name = trace_.api_name(launch) == kNamedLaunch;
    const StringId name = has_name ? counted_[ranges[named++]].name : StringId{};
    if (is_name(trace_.strings[name])) kernel.name = name;
    kernel.from_gpu = true;
    launch.subject = kernel_of(kernel);
    time_launch(counted, launch);
  }
  return {};
}

// A GPU operation as long as the values say, where hardware_counters.h says. Which stream it was on is not known: 0.
void KinetoModel::time_launch(const Counted& counted, HostEvent& launch) {
  const std::vector<std::string_view> metrics = lines_of(trace_.strings[counted.metrics]);
  const auto at = std::find(metrics.begin(), metrics.end(), kCounterTime);
  const double ns =
      at == metrics.end() ? -1 : counter_values_[counted.first + static_cast<uint64_t>(at - metrics.begin())];
  Coverage& coverage = trace_.processes[mark_.processes].coverage;
  if (launch.correlation == 0 || !(ns >= 0 && ns <= kLongestKernelNs)) {  // nor a NaN
    ++coverage.counters_without_time;
    return;
  }
  ++coverage.counters_timed;
  GpuOperation operation;
  const int64_t duration_ns = std::llround(ns);
  operation.start_ns = std::max(launch.begin_ns, launch.end_ns - duration_ns);
  operation.end_ns = operation.start_ns + duration_ns;
  operation.correlation = launch.correlation;
  operation.detail = static_cast<uint32_t>(launch.subject);
  operation.kind_bits = static_cast<uint32_t>(GpuKind::Kernel) & 7;
  operation.stream_index = stream_key({counted.pid, counted.device, 0, 0}) & ((1u << 29) - 1);
  trace_.operations.push_back(operation);
  operation_external_.push_back(0);
}

// Rows will be sorted: from here on they are known by what they are sorted by.
void KinetoModel::find_counted() {
  for (Counted& counted : counted_) {
    switch (counted.of) {
      case Counted::Operation: {
        const GpuOperation& row = trace_.operations[counted.row];
        counted.begin_ns = row.start_ns, counted.end_ns = row.end_ns;
        counted.owner = row.stream_index, counted.tie = row.correlation;
        break;
      }
      case Counted::Launch: {
        const HostEvent& row = trace_.host[counted.row];
        counted.begin_ns = row.begin_ns, counted.end_ns = row.end_ns;
        counted.owner = index(row.thread), counted.tie = row.correlation;
        break;
      }
      case Counted::Range:
      case Counted::Unplaced: break;
    }
  }
}

uint32_t KinetoModel::counter_set(uint32_t process, const Counted& counted) {
  CounterTable& to = trace_.counters;
  const auto [found, added] =
      counter_sets_.try_emplace({process, counted.device, static_cast<uint32_t>(counted.metrics)}, row_count(to.sets));
  if (!added) return found->second;
  CounterSet& set = to.sets.emplace_back();
  set.process = process, set.device = counted.device;
  const std::string names(trace_.strings[counted.metrics]);
  for (const std::string_view name : lines_of(names)) set.metrics.push_back(trace_.strings.intern(name));
  return found->second;
}

void KinetoModel::place_counters(int64_t moved_ns) {
  CounterTable& to = trace_.counters;
  const CounterMark before{to.launches.size(), to.ranges.size()};
  const bool one = trace_.processes.size() - mark_.processes == 1;
  std::vector<uint32_t> operations_of(counted_.empty() ? 0 : trace_.host.size());  // by launch
  for (uint32_t row = mark_.operations; !counted_.empty() && row < trace_.operations.size(); ++row) {
    if (trace_.operations[row].linked()) ++operations_of[trace_.operations[row].launch];
  }
  const auto add = [&](Column<CounterRow>& rows, uint32_t row, uint32_t process, const Counted& counted) {
    const uint32_t set = counter_set(process, counted);
    rows.push_back({row, set, to.values.size()});
    for (size_t i = 0; i < to.sets[set].metrics.size(); ++i) to.values.push_back(counter_values_[counted.first + i]);
  };
  for (const Counted& counted : counted_) {
    const int64_t begin_ns = moved(counted.begin_ns, moved_ns), end_ns = moved(counted.end_ns, moved_ns);
    // Of rows that are alike in all of this any is as good.
    const auto find = [&](const auto& rows, Rows of, auto time, auto matches) {
      const auto first = rows.begin() + of.first, last = rows.begin() + of.last;
      auto at = std::lower_bound(first, last, begin_ns, [&](const auto& row, int64_t t) { return time(row) < t; });
      for (; at != last && time(*at) == begin_ns; ++at) {
        if (at->end_ns == end_ns && matches(*at)) return static_cast<uint32_t>(at - rows.begin());
      }
      return kNone;
    };
    const auto same_correlation = [&](const auto& row) { return row.correlation == counted.tie; };
    const auto begin = [](const auto& row) { return row.begin_ns; };
    Coverage& first_coverage = trace_.processes[mark_.processes].coverage;
    if (counted.of == Counted::Range) {
      const uint32_t thread = counted.owner;
      const uint32_t row = thread == kNone ? kNone
                                           : find(trace_.ranges, trace_.threads[thread].ranges, begin,
                                                  [&](const Range& r) { return index(r.label) == counted.tie; });
      if (row == kNone) {
        ++first_coverage.counters_unmatched;
      } else {
        add(to.ranges, row, index(trace_.threads[thread].process), counted);
      }
      continue;
    }
    uint32_t process = one ? mark_.processes : kNone;
    UnplacedWork work;
    work.name = counted.name, work.why = counted.why, work.kernel = counted.kernel;
    uint32_t launch = kNone;
    if (counted.of == Counted::Launch) {
      launch = find(trace_.host, trace_.threads[counted.owner].host, begin, same_correlation);
    } else if (counted.of == Counted::Operation) {
      const uint32_t row = find(
          trace_.operations, trace_.streams[counted.owner].operations, [](const GpuOperation& o) { return o.start_ns; },
          same_correlation);
      process = index(trace_.process_of(StreamId{counted.owner}));
      if (row != kNone) {
        launch = trace_.operations[row].launch;
        work.name = trace_.kernels[trace_.operations[row].detail].name;
        const bool linked = launch != kNone;
        if (linked && operations_of[launch] != 1) launch = kNone;
        work.why = trace_.strings.intern(linked ? "it launched more, as graphs do" : "its launch is not in the trace");
      }
    }
    if (launch != kNone) {
      add(to.launches, launch, process, counted);
    } else {
      add(to.of_unplaced, row_count(to.unplaced), process, counted);
      to.unplaced.push_back(work);
      ++(process == kNone ? first_coverage : trace_.processes[process].coverage).counters_unplaced;
    }
  }
  order_counters(trace_, before);
  counted_ = {}, counter_values_ = {};
}

}  // namespace prof::analyzer
