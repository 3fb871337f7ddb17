#include "analyzer/input/unusable_times.h"

#include "analyzer/base/saturated.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

namespace prof::analyzer {

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
// Clocks of host and GPU differ by microseconds, after hours without synchronisation by milliseconds.
constexpr int64_t kMostInversionNs = kSecondNs / 10;
constexpr int64_t kSlackNs = 60 * kSecondNs;       // beyond the longest possible wait of an operation
constexpr int64_t kDayNs = 24 * 3600 * kSecondNs;  // likewise of an operation whose launch is not known
constexpr int64_t kLongestNs = int64_t{1} << 53;   // 104 days: no operation lasts as long
constexpr uint32_t kNeighbours = 16;               // later operations that are compared with one

// From the first to the last host event of a process.
struct Extent {
  int64_t first_ns = std::numeric_limits<int64_t>::max(), last_ns = std::numeric_limits<int64_t>::min();
  void add(int64_t begin_ns, int64_t end_ns) {
    first_ns = std::min(first_ns, begin_ns);
    last_ns = std::max({last_ns, begin_ns, end_ns});
  }
  bool any() const { return first_ns <= last_ns; }
  int64_t length_ns() const { return any() ? last_ns - first_ns : 0; }
};

struct DeviceTimes {
  uint64_t linked = 0, before_launch = 0;
  int64_t busy_ns = 0;  // sum of the durations
  bool other_clock() const { return before_launch != 0 && before_launch >= linked - linked / 10; }
};

class Screening {
 public:
  Screening(const Trace& trace, const ImportMark& mark, int64_t zero_realtime_ns)
      : trace_(trace), mark_(mark), zero_ns_(zero_realtime_ns) {}

  std::vector<UnusableOperation> run() {
    find_host_extents();
    find_device_times();
    std::vector<UnusableOperation> found;
    for (uint32_t s = mark_.streams; s < trace_.streams.size(); ++s) screen_stream(trace_.streams[s], found);
    std::sort(found.begin(), found.end(),
              [](const UnusableOperation& a, const UnusableOperation& b) { return a.row < b.row; });
    return found;
  }

 private:
  const DeviceTimes& times_of(const Stream& stream) const { return devices_[index(stream.device)]; }
  const Extent& host_of(const Stream& stream) const { return hosts_[index(trace_.device(stream.device).process)]; }

  void find_host_extents() {
    hosts_.resize(trace_.processes.size());
    for (uint32_t row = mark_.host; row < trace_.host.size(); ++row) {
      const HostEvent& event = trace_.host[row];
      hosts_[index(trace_.thread(event.thread).process)].add(event.begin_ns, event.end_ns);
    }
    for (uint32_t row = mark_.ranges; row < trace_.ranges.size(); ++row) {
      const Range& range = trace_.ranges[row];
      hosts_[index(trace_.thread(range.thread).process)].add(range.begin_ns,
                                                             range.unfinished ? range.begin_ns : range.end_ns);
    }
  }

  void find_device_times() {
    devices_.resize(trace_.devices.size());
    for (uint32_t row = mark_.operations; row < trace_.operations.size(); ++row) {
      const GpuOperation& operation = trace_.operations[row];
      if (not_timed(operation)) continue;
      DeviceTimes& times = devices_[index(trace_.stream(operation.stream()).device)];
      times.busy_ns = std::min(times.busy_ns + std::min(operation.duration_ns(), kLongestNs), int64_t{1} << 61);
      if (!operation.linked()) continue;
      ++times.linked;
      if (trace_.host[operation.launch].begin_ns - operation.start_ns > kMostInversionNs) ++times.before_launch;
    }
  }

  bool not_timed(const GpuOperation& operation) const {
    if (operation.start_ns == kNotTimedNs || operation.end_ns == kNotTimedNs) return true;
    if (operation.end_ns - operation.start_ns > kLongestNs || operation.start_ns - operation.end_ns > kLongestNs)
      return true;
    // 0 of the clock of CUPTI, which is that of the file or counts from 1970.
    const bool zero_of_file = operation.start_ns == 0 || operation.end_ns == 0;
    const bool zero_of_time = zero_ns_ != 0 && (operation.start_ns == -zero_ns_ || operation.end_ns == -zero_ns_);
    if (zero_of_time) return true;
    if (!zero_of_file) return false;
    const bool both = operation.start_ns == 0 && operation.end_ns == 0;
    if (!operation.linked()) return both;
    const int64_t launched_ns = trace_.host[operation.launch].begin_ns;
    return both ? launched_ns > 0 : launched_ns > kSecondNs;
  }

  bool other_clock(const Stream& stream, const GpuOperation& operation) const {
    const DeviceTimes& device = times_of(stream);
    if (device.other_clock()) return true;
    const Extent& host = host_of(stream);
    if (!host.any()) return false;
    if (!operation.linked()) {
      const int64_t far_ns = kDayNs + host.length_ns() + device.busy_ns;
      return operation.start_ns - host.last_ns > far_ns || host.first_ns - operation.last_ns() > far_ns;
    }
    const HostEvent& launch = trace_.host[operation.launch];
    // One operation that starts before its launch may have the launch of another one that had the same id.
    if (launch.begin_ns - operation.start_ns > kSecondNs && host.first_ns - operation.start_ns > kSecondNs) return true;
    return operation.start_ns - launch.begin_ns > kSlackNs + host.length_ns() + device.busy_ns;
  }

  // Two later operations of the stream ran one after the other while this one ran. `later`: those that start after it.
  bool impossible(const GpuOperation& operation, const std::vector<uint32_t>& rows, size_t later) const {
    const size_t last = std::min(rows.size(), later + kNeighbours);
    uint32_t inside = 0;
    int64_t free_ns = operation.start_ns;
    for (; later < last; ++later) {
      const GpuOperation& other = trace_.operations[rows[later]];
      if (other.start_ns >= operation.end_ns) return false;
      const bool same_launch = operation.correlation != 0 && other.correlation == operation.correlation;
      const bool of_graphs = operation.graph_node != 0 && other.graph_node != 0;
      if (same_launch || of_graphs || other.is_migration() || other.start_ns == operation.start_ns ||
          other.end_ns <= other.start_ns || other.end_ns > operation.end_ns || other.start_ns < free_ns)
        continue;
      free_ns = other.end_ns;
      if (++inside == 2) return true;
    }
    return false;
  }

  void screen_stream(const Stream& stream, std::vector<UnusableOperation>& found) {
    const auto leave_out = [&](uint32_t row, UnusableTime reason) {
      found.push_back({row, trace_.operations[row], reason});
    };
    rows_.clear();
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      const GpuOperation& operation = trace_.operations[row];
      if (not_timed(operation)) {
        leave_out(row, UnusableTime::NotTimed);
      } else if (other_clock(stream, operation)) {
        leave_out(row, UnusableTime::OtherClock);
      } else {
        rows_.push_back(row);
      }
    }
    if (!stream.in_order) return;
    for (size_t i = 0; i + 2 < rows_.size(); ++i) {
      const GpuOperation& operation = trace_.operations[rows_[i]];
      if (trace_.operations[rows_[i + 1]].start_ns >= operation.end_ns) continue;
      if (!operation.is_migration() && impossible(operation, rows_, i + 1))
        leave_out(rows_[i], UnusableTime::Impossible);
    }
  }

  const Trace& trace_;
  const ImportMark& mark_;
  const int64_t zero_ns_;
  std::vector<Extent> hosts_;         // by ProcessId
  std::vector<DeviceTimes> devices_;  // by DeviceId
  std::vector<uint32_t> rows_;        // operations of the stream whose times may be true, by start
};

// Removes rows for which `gone` is true, and keeps the order of the others.
template <class T, class Gone> void remove_rows(Column<T>& rows, uint32_t first, Gone gone) {
  size_t kept = first;
  for (size_t row = first; row < rows.size(); ++row) {
    if (gone(rows[row], static_cast<uint32_t>(row))) continue;
    if (kept != row) rows[kept] = rows[row];
    ++kept;
  }
  rows.resize(kept);
}

constexpr const char* kDescriptions[] = {
    "GPU operations are not timed",
    "GPU operations last until later operations of their stream have ended, which is impossible on one stream",
    "GPU operations are on another clock than their launches"};

}  // namespace

bool may_be_unusable(const GpuOperation& operation, const HostEvent* launch, const GpuOperation* later) {
  if (operation.start_ns == 0 || operation.end_ns == 0) return true;
  if (operation.end_ns - operation.start_ns > kLongestNs || operation.start_ns - operation.end_ns > kLongestNs)
    return true;
  if (later != nullptr && later->start_ns < operation.end_ns) return true;
  if (launch == nullptr) return operation.start_ns < -kDayNs || operation.start_ns > kDayNs;
  return launch->begin_ns - operation.start_ns > kMostInversionNs || operation.start_ns - launch->begin_ns > kSlackNs;
}

LaunchReason launch_reason(UnusableTime time) {
  switch (time) {
    case UnusableTime::NotTimed: return LaunchReason::NotTimed;
    case UnusableTime::Impossible: return LaunchReason::ImpossibleTime;
    case UnusableTime::OtherClock: return LaunchReason::OtherClock;
    case UnusableTime::kCount: break;
  }
  return LaunchReason::Unknown;
}

void describe_unusable(Trace& trace, const ImportMark& mark) {
  for (uint32_t p = mark.processes; p < trace.processes.size(); ++p) {
    Process& process = trace.processes[p];
    for (size_t i = 0; i < std::size(kDescriptions); ++i) {
      const uint64_t count = process.coverage.operations_unusable[i];
      if (count != 0)
        process.partial.push_back(fmt::format("{} {}: no window, sum or mean contains them", count, kDescriptions[i]));
    }
    if (process.coverage.events_not_timed != 0)
      process.partial.push_back(
          fmt::format("{} calls or ranges are not timed and are left out", process.coverage.events_not_timed));
  }
}

void remove_untimed_events(Trace& trace, const ImportMark& mark, int64_t zero_realtime_ns) {
  Extent others;
  uint64_t untimed = 0;
  const auto is_zero = [&](int64_t begin_ns, int64_t end_ns) {
    return begin_ns == end_ns && (begin_ns == 0 || (zero_realtime_ns != 0 && begin_ns == -zero_realtime_ns));
  };
  const auto look = [&](int64_t begin_ns, int64_t end_ns) {
    if (is_zero(begin_ns, end_ns)) {
      ++untimed;
    } else {
      others.add(begin_ns, end_ns);
    }
  };
  for (uint32_t i = mark.host; i < trace.host.size(); ++i) look(trace.host[i].begin_ns, trace.host[i].end_ns);
  for (uint32_t i = mark.ranges; i < trace.ranges.size(); ++i) look(trace.ranges[i].begin_ns, trace.ranges[i].end_ns);
  for (uint32_t i = mark.marks; i < trace.marks.size(); ++i) look(trace.marks[i].begin_ns, trace.marks[i].end_ns);
  if (untimed == 0 || !others.any()) return;
  // An event at the file's 0 is true if the others are near.
  const int64_t near_ns = std::max(kSecondNs, others.length_ns());
  const auto gone = [&](ThreadId thread, int64_t begin_ns, int64_t end_ns) {
    if (!is_zero(begin_ns, end_ns)) return false;
    if (begin_ns >= others.first_ns - near_ns && begin_ns <= others.last_ns + near_ns) return false;
    ++trace.processes[index(trace.thread(thread).process)].coverage.events_not_timed;
    return true;
  };
  remove_rows(trace.host, mark.host,
              [&](const HostEvent& e, uint32_t) { return gone(e.thread, e.begin_ns, e.end_ns); });
  remove_rows(trace.ranges, mark.ranges,
              [&](const Range& r, uint32_t) { return gone(r.thread, r.begin_ns, r.end_ns); });
  remove_rows(trace.marks, mark.marks, [&](const Range& r, uint32_t) { return gone(r.thread, r.begin_ns, r.end_ns); });
}

std::vector<UnusableOperation> remove_unusable_operations(Trace& trace, const ImportMark& mark,
                                                          int64_t zero_realtime_ns) {
  std::vector<UnusableOperation> found = Screening(trace, mark, zero_realtime_ns).run();
  for (const UnusableOperation& each : found) {
    const ProcessId process = trace.process_of(each.operation.stream());
    ++trace.processes[index(process)].coverage.operations_unusable[static_cast<size_t>(each.reason)];
  }
  if (!found.empty()) {
    auto next = found.cbegin();
    remove_rows(trace.operations, mark.operations, [&](const GpuOperation&, uint32_t row) {
      if (next == found.cend() || next->row != row) return false;
      ++next;
      return true;
    });
  }
  return found;
}

}  // namespace prof::analyzer
