#include "analyzer/analysis/idle/torch_queue_depth.h"

#include "analyzer/analysis/gpu_order.h"
#include "analyzer/base/saturated.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

namespace prof::analyzer {

namespace {

constexpr uint32_t kPeakFrom = 4;

// Logs have driver calls only, so the driver's launch counts as the runtime's.
bool is_launch(const Trace& trace, const HostEvent& event) {
  const std::string_view name = trace.api_name(event);
  for (const std::string_view start : {"cudaLaunchKernel", "__cudaLaunchKernel", "cudaLaunchCooperativeKernel"}) {
    if (name.starts_with(start)) return true;
  }
  return trace.process_of(event).is_prof_log() && event.kind() == HostKind::KernelLaunch && !event.has(kHostCaptured);
}

bool is_kernel_name(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  for (const char* part : {"mem", "cpy", "alloc", "free"}) {
    if (lower.find(part) != std::string::npos) return false;
  }
  return true;
}

std::vector<uint32_t> kernels_by_start(const Trace& trace, const Views& views) {
  std::vector<int8_t> taken(trace.kernels.size(), -1);  // by KernelId: each name is checked once
  std::vector<uint32_t> kernels;
  std::vector<StreamId> streams;
  for (uint32_t s = 0; s < trace.streams.size(); ++s) streams.push_back(StreamId{s});
  in_order_of_start(trace, streams, [&](uint32_t row) {
    const GpuOperation& operation = trace.operations[row];
    if (!operation.has_kernel()) return;
    int8_t& take = taken[index(views.names().named_by(operation))];
    if (take < 0) take = is_kernel_name(views.names().name(operation, NameForm::Full)) ? 1 : 0;
    if (take == 1) kernels.push_back(row);
  });
  return kernels;
}

// The operator that a launch belongs to. A launch outside operators is identified by its correlation id.
uint64_t operator_of(const Trace& trace, const Views& views, uint32_t launch) {
  const uint32_t range = views.range_of_call()[launch];
  if (range != kNone) return range;
  const uint32_t correlation = trace.host[launch].correlation;
  return uint64_t{1} << 32 | (correlation != 0 ? correlation : uint64_t{1} << 33 | launch);
}

// A launch call and the index of its kernel, kNone if none was found. Ordered by start.
struct Launch {
  uint32_t row;
  uint32_t kernel;
};
std::vector<Launch> match_launches(const Trace& trace, const Views& views, const std::vector<uint32_t>& kernels) {
  std::vector<Launch> launches;
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    if (is_launch(trace, trace.host[row])) launches.push_back({row, kNone});
  }
  std::stable_sort(launches.begin(), launches.end(), [&](const Launch& a, const Launch& b) {
    return trace.host[a.row].begin_ns < trace.host[b.row].begin_ns;
  });
  std::vector<std::pair<uint64_t, uint32_t>> of_operator;  // (operator, index of the kernel)
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    const GpuOperation& kernel = trace.operations[kernels[i]];
    if (kernel.linked()) of_operator.emplace_back(operator_of(trace, views, kernel.launch), i);
  }
  std::sort(of_operator.begin(), of_operator.end());
  uint32_t last = 0;
  for (Launch& launch : launches) {
    const std::pair<uint64_t, uint32_t> wanted{operator_of(trace, views, launch.row), last};
    const auto found = std::lower_bound(of_operator.begin(), of_operator.end(), wanted);
    if (found == of_operator.end() || found->first != wanted.first) continue;
    launch.kernel = last = found->second;
  }
  return launches;
}

std::vector<uint32_t> events_by_begin(const Trace& trace) {
  std::vector<uint32_t> events;
  for (uint32_t row = 0; row < trace.ranges.size(); ++row) {
    if (TorchQueueDepth::is_event(trace.ranges[row])) events.push_back(row);
  }
  std::stable_sort(events.begin(), events.end(),
                   [&](uint32_t a, uint32_t b) { return trace.ranges[a].begin_ns < trace.ranges[b].begin_ns; });
  return events;
}

}  // namespace

TorchQueueDepth::TorchQueueDepth(const Trace& trace, const Views& views) : depth_of_range_(trace.ranges.size()) {
  const std::vector<uint32_t> kernels = kernels_by_start(trace, views);
  const std::vector<Launch> launches = match_launches(trace, views, kernels);
  const std::vector<uint32_t> events = events_by_begin(trace);
  // Merges three lists in order of start. At equal moments launches come first, then kernels, then events.
  int64_t spawned = -1, started = 0;
  size_t l = 0, k = 0;
  const auto depth = [&](int64_t now) {
    while (static_cast<size_t>(started) < kernels.size() &&
           trace.operations[kernels[static_cast<size_t>(started)]].start_ns <= now)
      ++started;
    return static_cast<uint32_t>(std::max<int64_t>(0, spawned - started + 1));
  };
  const auto add_points_until = [&](int64_t now) {
    while (l < launches.size() || k < kernels.size()) {
      const bool launch_next =
          l < launches.size() &&
          (k >= kernels.size() || trace.host[launches[l].row].begin_ns <= trace.operations[kernels[k]].start_ns);
      const int64_t at = launch_next ? trace.host[launches[l].row].begin_ns : trace.operations[kernels[k]].start_ns;
      if (at > now) return;
      int64_t end = 0;
      if (launch_next) {
        end = trace.host[launches[l].row].end_ns;
        if (launches[l].kernel != kNone) spawned = launches[l].kernel;
        ++l;
      } else {
        end = trace.operations[kernels[k++]].end_ns;
      }
      points_.push_back({at, end, depth(at)});
    }
  };
  for (const uint32_t row : events) {
    add_points_until(trace.ranges[row].begin_ns);
    depth_of_range_[row] = depth(trace.ranges[row].begin_ns);
  }
  add_points_until(std::numeric_limits<int64_t>::max());
  if (points_.empty()) return;

  std::vector<Interval> idle;
  if (!events.empty()) {
    idle.push_back({trace.ranges[events.front()].begin_ns, points_.front().start_ns});
    idle.push_back({points_.back().end_ns, trace.ranges[events.back()].end_ns});
  }
  bool is_idle = false;
  int64_t since_ns = 0;
  for (const Point& point : points_) {
    if (point.depth == 0 && !is_idle) {
      since_ns = point.end_ns;
      is_idle = true;
    }
    if (point.depth > 0 && is_idle) {
      idle.push_back({since_ns, point.start_ns});
      is_idle = false;
    }
  }
  // The intervals are disjoint, so a set gives the heuristic's sums. A reversed first one may still hide the second
  // one.
  idle_ = reference_counted(std::move(idle));
}

std::vector<Interval> TorchQueueDepth::falling() const {
  // Points are visited from the last to the first. Between two zeros there is one peak; of equally high points it is
  // the latest.
  std::vector<Interval> found;
  const size_t n = points_.size();
  const auto point = [&](size_t i) -> const Point& { return points_[n - 1 - i]; };
  struct Stretch {
    size_t next_zero = 0;  // index of the zero after the peak; n: none
    size_t peak = SIZE_MAX;
  };
  // For every zero: the first stretch after it whose peak is high enough.
  std::vector<size_t> zeros;
  for (size_t i = 0; i < n; ++i) {
    if (point(i).depth == 0) zeros.push_back(i);
  }
  std::vector<Stretch> high(zeros.size());
  Stretch later{n, SIZE_MAX};
  for (size_t z = zeros.size(); z-- > 0;) {
    const size_t end = z + 1 < zeros.size() ? zeros[z + 1] : n;
    size_t peak = SIZE_MAX;
    for (size_t i = zeros[z] + 1; i < end; ++i) {
      if (peak == SIZE_MAX || point(i).depth > point(peak).depth) peak = i;
    }
    if (peak != SIZE_MAX && point(peak).depth >= kPeakFrom) later = {end, peak};
    high[z] = later;
  }
  for (size_t z = 0; z < zeros.size(); ++z) {
    const Stretch& stretch = high[z];
    if (stretch.peak == SIZE_MAX) continue;
    found.push_back({point(stretch.peak).start_ns, point(zeros[z]).start_ns});
    if (stretch.next_zero == n) continue;
    // The search goes on after the zero at which the stretch ended.
    while (z + 1 < zeros.size() && zeros[z + 1] <= stretch.next_zero) ++z;
  }
  return found;
}

namespace {

// One pass of the heuristic: calls counts(interval) for each interval that it counts, and moves starts in place.
template <class Counts> void reference_pass(std::vector<Interval>& shared, Counts counts) {
  std::vector<size_t> order(shared.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return shared[a].begin_ns < shared[b].begin_ns; });
  if (order.empty()) return;
  counts(shared[order[0]]);
  for (size_t i = 0, j = 1; j < order.size();) {
    const Interval before = shared[order[i]];
    Interval& now = shared[order[j]];
    ++j;
    if (before.end_ns > now.begin_ns) {
      if (before.end_ns > now.end_ns) {
        ++j;
        continue;
      }
      now.begin_ns = before.end_ns;
      i = j;  // the next iteration compares this interval with the one after it
    }
    counts(now);
  }
}

}  // namespace

int64_t reference_overlap_ns(const Interval& event, std::vector<Interval>& intervals) {
  int64_t sum = 0;
  reference_pass(intervals, [&](const Interval& interval) {
    const int64_t begin = std::max(event.begin_ns, interval.begin_ns), end = std::min(event.end_ns, interval.end_ns);
    if (begin < end) grow(sum, end - begin);
  });
  return sum;
}

IntervalSet reference_counted(std::vector<Interval> intervals) {
  std::vector<Interval> counted;
  reference_pass(intervals, [&](const Interval& interval) { counted.push_back(interval); });
  return IntervalSet(std::move(counted));
}

}  // namespace prof::analyzer
