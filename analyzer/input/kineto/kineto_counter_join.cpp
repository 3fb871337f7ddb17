#include "analyzer/input/kineto/kineto_counter_join.h"

#include "analyzer/input/kineto/kineto_rows.h"
#include "analyzer/model/hardware_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace prof::analyzer {

namespace {

constexpr std::string_view kWholeRange = "__profile__";
constexpr std::string_view kNoName = "__missing__";  // the driver did not report it
// The only function for which Kineto records the name of the kernel.
constexpr std::string_view kNamedLaunch = "cudaLaunchKernel";

// Kineto writes a number in place of a name that it does not have.
bool is_name(std::string_view text) {
  return text != kNoName && text.find_first_not_of("0123456789") != std::string_view::npos;
}

// One join of a file. The functions that join return the reason if they do not.
class CounterJoin {
 public:
  CounterJoin(Trace& trace, const ImportMark& mark, KinetoStreams& streams, KinetoKernels& kernels,
              KinetoCounters& counters)
      : trace_(trace),
        mark_(mark),
        streams_(streams),
        kernels_(kernels),
        counters_(counters),
        counted_(counters.counted()) {}

  std::vector<std::string> run();

 private:
  using Events = std::vector<size_t>;  // indices of counted_, in order of time

  bool one_process() const { return trace_.processes.size() - mark_.processes == 1; }
  std::map<uint32_t, Events> events_by_device();
  std::map<uint32_t, std::vector<uint32_t>> kernels_by_device() const;
  std::string join_with_kernels(const Events& events, std::vector<uint32_t> rows);
  std::string join_with_launches(const Events& events, size_t devices);
  void add_operation(const KinetoCounted& counted, const HostEvent& launch);

  Trace& trace_;
  const ImportMark& mark_;
  KinetoStreams& streams_;
  KinetoKernels& kernels_;
  KinetoCounters& counters_;
  std::vector<KinetoCounted>& counted_;
};

std::map<uint32_t, CounterJoin::Events> CounterJoin::events_by_device() {
  std::map<uint32_t, Events> by_device;
  for (size_t i = 0; i < counted_.size(); ++i) {
    if (!counted_[i].own_event) continue;
    counted_[i].of_kernel = trace_.strings[counted_[i].name] != kWholeRange;
    if (counted_[i].of_kernel) by_device[counted_[i].device].push_back(i);
  }
  for (auto& [device, events] : by_device) {
    std::stable_sort(events.begin(), events.end(),
                     [&](size_t a, size_t b) { return counted_[a].event_ns < counted_[b].event_ns; });
  }
  return by_device;
}

std::map<uint32_t, std::vector<uint32_t>> CounterJoin::kernels_by_device() const {
  std::map<uint32_t, std::vector<uint32_t>> by_device;
  for (uint32_t row = mark_.operations; row < trace_.operations.size(); ++row) {
    const GpuOperation& operation = trace_.operations[row];
    if (operation.kind() == GpuKind::Kernel) by_device[streams_.key(operation.stream_index).device].push_back(row);
  }
  return by_device;
}

// Each device's events with its kernels; with the launches if the trace has no kernel at all.
std::vector<std::string> CounterJoin::run() {
  const std::map<uint32_t, Events> by_device = events_by_device();
  for (const KinetoCounted& each : counted_) {
    if (one_process() && each.device != kNone) streams_.device(mark_.processes, each.device);
  }
  std::vector<std::string> facts;
  if (by_device.empty()) return facts;
  std::map<uint32_t, std::vector<uint32_t>> kernels = kernels_by_device();
  const bool any_kernel = !kernels.empty();
  for (const auto& [device, events] : by_device) {
    const std::string why =
        any_kernel ? join_with_kernels(events, kernels[device]) : join_with_launches(events, by_device.size());
    std::string fact = fmt::format("device {}: {} ranges of kernels ", device, events.size());
    if (why.empty()) {
      fact += any_kernel ? "joined with as many kernels, in order" : "joined with as many launches, in order";
    } else {
      fact += "without their launch: " + why;
      const StringId text = trace_.strings.intern(why);
      for (const size_t i : events) counted_[i].why = text;
    }
    facts.push_back(std::move(fact));
  }
  return facts;
}

std::string CounterJoin::join_with_kernels(const Events& events, std::vector<uint32_t> rows) {
  if (rows.size() != events.size()) return fmt::format("{} ranges, {} kernels", events.size(), rows.size());
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return trace_.operations[a].start_ns < trace_.operations[b].start_ns;
  });
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string_view name = trace_.strings[counted_[events[i]].name];
    const std::string_view kernel = trace_.text(trace_.kernels[trace_.operations[rows[i]].detail].name);
    if (is_name(name) && name != kernel)
      return fmt::format("{} ranges and kernels, but the names of number {} differ", rows.size(), i + 1);
    if (i != 0 && trace_.operations[rows[i]].start_ns == trace_.operations[rows[i - 1]].start_ns)
      return "kernels that start at the same moment";
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    counted_[events[i]].of = KinetoCounted::Operation;
    counted_[events[i]].row = rows[i];
  }
  return {};
}

std::string CounterJoin::join_with_launches(const Events& events, size_t devices) {
  if (!one_process()) return "the file has several processes";
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
  std::map<ThreadId, int64_t> busy_until;
  for (const uint32_t row : launches) {
    const HostEvent& launch = trace_.host[row];
    int64_t& until_ns = busy_until.try_emplace(launch.thread, INT64_MIN).first->second;
    if (launch.begin_ns < until_ns && launch.end_ns <= until_ns) continue;  // the driver's call inside
    until_ns = launch.end_ns;
    overlap = overlap || (kept != 0 && launch.begin_ns < trace_.host[launches[kept - 1]].end_ns);
    launches[kept++] = row;
  }
  launches.resize(kept);
  if (kept != events.size()) return fmt::format("{} ranges, {} launches", events.size(), kept);
  if (overlap) return fmt::format("{} ranges and launches, but launches overlap: their order is not known", kept);
  size_t named = 0;
  for (size_t i = 0; i < kept; ++i) {
    HostEvent& launch = trace_.host[launches[i]];
    KinetoCounted& counted = counted_[events[i]];
    counted.of = KinetoCounted::Launch;
    counted.row = launches[i];
    Kernel kernel;
    // Names are written for such launches only, and stand in the first events, whatever these were measured of.
    const bool has_name = trace_.api_name(launch) == kNamedLaunch;
    const StringId name = has_name ? counted_[events[named++]].name : StringId{};
    if (is_name(trace_.strings[name])) kernel.name = name;
    kernel.from_gpu = true;
    launch.subject = index(kernels_.row(kernel));
    add_operation(counted, launch);
  }
  return {};
}

// A GPU operation as long as the values say, placed as hardware_counters.h describes. Its stream is not known: 0.
void CounterJoin::add_operation(const KinetoCounted& counted, const HostEvent& launch) {
  const double ns = counters_.value(counted, kCounterTime).value_or(-1);
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
  operation.set_kind(GpuKind::Kernel);
  operation.set_stream(streams_.number({counted.pid, counted.device, 0, 0}));
  trace_.operations.push_back(operation);
}

}  // namespace

std::vector<std::string> join_counters(Trace& trace, const ImportMark& mark, KinetoStreams& streams,
                                       KinetoKernels& kernels, KinetoCounters& counters) {
  return CounterJoin(trace, mark, streams, kernels, counters).run();
}

}  // namespace prof::analyzer
