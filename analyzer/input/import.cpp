#include "analyzer/input/import.h"

#include "analyzer/input/open_ranges.h"
#include "analyzer/input/unusable_times.h"
#include "analyzer/model/range_nesting.h"
#include "analyzer/model/trace_times.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace prof::analyzer {

namespace {

template <class T> uint32_t rows_in(const T& table) { return static_cast<uint32_t>(table.size()); }

// Sorts rows [first, end) in place unless they are in order.
template <class T, class Less> void sort_rows(Column<T>& rows, uint32_t first, Less less) {
  if (!std::is_sorted(rows.begin() + first, rows.end(), less)) std::sort(rows.begin() + first, rows.end(), less);
}

// The earliest time of all new rows; INT64_MAX if there is none.
int64_t first_moment(const Trace& trace, const ImportMark& mark) {
  int64_t first = std::numeric_limits<int64_t>::max();
  for (uint32_t i = mark.host; i < trace.host.size(); ++i) first = std::min(first, trace.host[i].begin_ns);
  for (uint32_t i = mark.operations; i < trace.operations.size(); ++i)
    first = std::min(first, trace.operations[i].start_ns);
  for (uint32_t i = mark.ranges; i < trace.ranges.size(); ++i) first = std::min(first, trace.ranges[i].begin_ns);
  for (uint32_t i = mark.marks; i < trace.marks.size(); ++i) first = std::min(first, trace.marks[i].begin_ns);
  for (uint32_t i = mark.memory; i < trace.memory.size(); ++i) first = std::min(first, trace.memory[i].time_ns);
  return first;
}

// Limits meaningless times (beyond 146 years), so that the difference of any two times does not overflow.
int64_t shifted(int64_t time_ns, int64_t by_ns) {
  constexpr int64_t kFarthest = (int64_t{1} << 62) - 1;
  int64_t sum = 0;
  if (__builtin_add_overflow(time_ns, by_ns, &sum)) return by_ns < 0 ? -kFarthest : kFarthest;
  return std::clamp(sum, -kFarthest, kFarthest);
}

auto shift_by(int64_t by_ns) {
  return [by_ns](ProcessId, int64_t& time_ns) { time_ns = shifted(time_ns, by_ns); };
}

// Puts all inputs on one time line. Its zero is the earliest event of all inputs.
int64_t set_zero(Trace& trace, const ImportMark& mark, int64_t zero_realtime_ns) {
  const int64_t first = first_moment(trace, mark);
  if (first == std::numeric_limits<int64_t>::max()) return 0;
  if (mark.processes == 0) {
    trace.start_realtime_ns = static_cast<uint64_t>(shifted(first, zero_realtime_ns));
    const int64_t by_ns = first == INT64_MIN ? INT64_MAX : -first;
    each_time_of_rows(trace, mark, shift_by(by_ns));
    return by_ns;
  }
  const auto zero = static_cast<int64_t>(trace.start_realtime_ns);
  const int64_t by_ns = shifted(zero_realtime_ns, -zero);
  each_time_of_rows(trace, mark, shift_by(by_ns));
  const int64_t earliest = first_moment(trace, mark);
  if (earliest >= 0) return by_ns;
  each_time_of_rows(trace, AllRows(), shift_by(-earliest));
  each_time_of_logs(trace, shift_by(-earliest));
  for (Process& process : trace.processes) process.last_ns = shifted(process.last_ns, -earliest);
  trace.start_realtime_ns += static_cast<uint64_t>(earliest);
  trace.start_monotonic_ns += static_cast<uint64_t>(earliest);
  return shifted(by_ns, -earliest);
}

// Splits [first, last) into one interval of rows per thread or stream. Rows must be grouped by owner.
template <class T, class Owner, class Take>
void cut(const Column<T>& rows, uint32_t first, uint32_t last, Owner owner, Take take) {
  while (first < last) {
    uint32_t next = first + 1;
    while (next < last && owner(rows[next]) == owner(rows[first])) ++next;
    take(owner(rows[first]), Rows{first, next});
    first = next;
  }
}

void place_host(Trace& trace, const ImportMark& mark) {
  sort_rows(trace.host, mark.host, [](const HostEvent& a, const HostEvent& b) {
    if (a.thread != b.thread) return index(a.thread) < index(b.thread);
    if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
    return a.end_ns != b.end_ns ? a.end_ns > b.end_ns : a.correlation < b.correlation;
  });
  cut(
      trace.host, mark.host, rows_in(trace.host), [](const HostEvent& e) { return index(e.thread); },
      [&](uint32_t thread, Rows rows) { trace.threads[thread].host = rows; });
}

void cut_operations(Trace& trace, const ImportMark& mark) {
  for (uint32_t s = mark.streams; s < trace.streams.size(); ++s) trace.streams[s].operations = {};
  cut(
      trace.operations, mark.operations, rows_in(trace.operations),
      [](const GpuOperation& o) { return static_cast<uint32_t>(o.stream_index); },
      [&](uint32_t stream, Rows rows) { trace.streams[stream].operations = rows; });
}

void place_operations(Trace& trace, const ImportMark& mark) {
  sort_rows(trace.operations, mark.operations, [](const GpuOperation& a, const GpuOperation& b) {
    if (a.stream_index != b.stream_index) return a.stream_index < b.stream_index;
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return a.end_ns != b.end_ns ? a.end_ns < b.end_ns : a.correlation < b.correlation;
  });
  cut_operations(trace, mark);
}

void place_ranges(Trace& trace, const ImportMark& mark) {
  const auto process = [&](const Range& r) { return index(trace.threads[index(r.thread)].process); };
  const auto before = [&](const Range& a, const Range& b) {
    const uint32_t process_a = process(a), process_b = process(b);
    if (process_a != process_b) return process_a < process_b;
    const bool nested_a = a.style == RangeStyle::PushPop, nested_b = b.style == RangeStyle::PushPop;
    if (nested_a != nested_b) return nested_a;
    if (nested_a && a.thread != b.thread) return index(a.thread) < index(b.thread);
    if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
    if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
    // A Python frame encloses the operator that it calls in the same nanosecond.
    const bool python_a = a.kind == RangeKind::Python, python_b = b.kind == RangeKind::Python;
    return python_a != python_b ? python_a : index(a.path) < index(b.path);
  };
  sort_rows(trace.ranges, mark.ranges, before);
  RangeNesting nesting(trace);
  for (uint32_t first = mark.ranges, last; first < trace.ranges.size(); first = last) {
    const Range& head = trace.ranges[first];
    const bool nested = head.style == RangeStyle::PushPop;
    const uint32_t of_process = process(head);
    last = first + 1;
    while (last < trace.ranges.size() && (trace.ranges[last].style == RangeStyle::PushPop) == nested &&
           (nested ? trace.ranges[last].thread == head.thread : process(trace.ranges[last]) == of_process))
      ++last;
    if (nested) {
      const uint64_t closed = close_open_ranges(trace, {first, last});
      if (closed != 0) std::sort(trace.ranges.begin() + first, trace.ranges.begin() + last, before);
      trace.processes[of_process].coverage.ranges_closed_early += closed;
      trace.threads[index(trace.ranges[first].thread)].ranges = {first, last};
      nesting.run({first, last});
    } else {
      trace.processes[of_process].start_end_ranges = {first, last};
      for (uint32_t row = first; row < last; ++row) trace.ranges[row].path = {};
    }
  }
}

void place_marks(Trace& trace, const ImportMark& mark) {
  sort_rows(trace.marks, mark.marks, [](const Range& a, const Range& b) {
    return a.thread != b.thread ? index(a.thread) < index(b.thread) : a.begin_ns < b.begin_ns;
  });
  cut(
      trace.marks, mark.marks, rows_in(trace.marks), [](const Range& r) { return index(r.thread); },
      [&](uint32_t thread, Rows rows) {
        trace.threads[thread].marks = rows;
        PathCursor paths(trace, ThreadId{thread});
        for (uint32_t row = rows.first; row < rows.last; ++row)
          trace.marks[row].path = paths.at(trace.marks[row].begin_ns);
      });
}

// (process, correlation) -> rows of Trace::host, the outermost call of each nest first, then in order of start. The
// entries are sorted once and then searched.
class CallIndex {
 public:
  CallIndex(const Trace& trace, const ImportMark& mark) : trace_(trace) {
    for (uint32_t row = mark.host; row < trace.host.size(); ++row) {
      if (trace.host[row].correlation != 0) entries_.push_back({key(row), row});
    }
    const auto less = [&](const Entry& a, const Entry& b) {
      if (a.key != b.key) return a.key < b.key;
      const HostEvent &x = trace.host[a.row], &y = trace.host[b.row];
      return x.begin_ns != y.begin_ns ? x.begin_ns < y.begin_ns : a.row < b.row;
    };
    std::sort(entries_.begin(), entries_.end(), less);
  }

  // The call with that id. Of several calls, the latest that started at or before `time_ns`, or the first if none did.
  // Of nested calls, the outermost.
  uint32_t find(ProcessId process, uint32_t correlation, int64_t time_ns) const {
    if (correlation == 0) return kNone;
    const uint64_t wanted = uint64_t{index(process)} << 32 | correlation;
    auto at = std::lower_bound(entries_.begin(), entries_.end(), wanted,
                               [](const Entry& entry, uint64_t k) { return entry.key < k; });
    if (at == entries_.end() || at->key != wanted) return kNone;
    uint32_t best = at->row;
    for (++at; at != entries_.end() && at->key == wanted; ++at) {
      const HostEvent &event = trace_.host[at->row], &chosen = trace_.host[best];
      const bool inside = event.thread == chosen.thread && event.end_ns <= chosen.end_ns;
      if (!inside && event.begin_ns <= time_ns) best = at->row;
    }
    return best;
  }

 private:
  struct Entry {
    uint64_t key;
    uint32_t row;
  };
  uint64_t key(uint32_t row) const {
    const HostEvent& event = trace_.host[row];
    return uint64_t{index(trace_.threads[index(event.thread)].process)} << 32 | event.correlation;
  }

  const Trace& trace_;
  std::vector<Entry> entries_;
};

void find_launches(Trace& trace, const ImportMark& mark, const CallIndex& calls) {
  for (uint32_t row = mark.operations; row < trace.operations.size(); ++row) {
    GpuOperation& operation = trace.operations[row];
    if (!operation.linked())
      operation.launch = calls.find(trace.process_of(operation.stream()), operation.correlation, operation.start_ns);
  }
}

// A call with GPU operations is a launch, whatever its name.
HostKind launch_kind(const HostEvent& call, const GpuOperation& operation) {
  if (call.is_launch()) return call.kind();
  return operation.graph_node != 0 ? HostKind::GraphLaunch
         : operation.has_kernel()  ? HostKind::KernelLaunch
                                   : HostKind::MemoryLaunch;
}

void join(Trace& trace, const ImportMark& mark, const CallIndex& calls) {
  // Each GPU stream gets one host stream, because launches of these inputs contain nothing more about streams.
  const uint32_t first_host_stream = rows_in(trace.host_streams);
  for (uint32_t s = mark.streams; s < trace.streams.size(); ++s) {
    const Stream& stream = trace.streams[s];
    HostStream& row = trace.host_streams.emplace_back();
    row.process = trace.device(stream.device).process;
    row.handle = stream.number;
    row.device = trace.device(stream.device).ordinal;
    row.priority = stream.priority;
    row.stream = s;
  }
  for (uint32_t row = mark.operations; row < trace.operations.size(); ++row) {
    GpuOperation& operation = trace.operations[row];
    const ProcessId process = trace.process_of(operation.stream());
    Coverage& coverage = trace.processes[index(process)].coverage;
    ++coverage.operations;
    if (operation.end_ns < operation.start_ns) ++coverage.operations_reversed;
    if (!operation.linked()) {
      ++coverage.operations_without[static_cast<size_t>(OperationReason::Unlinked)];
      continue;
    }
    ++coverage.operations_linked;
    HostEvent& launch = trace.host[operation.launch];
    if (operation.start_ns < launch.begin_ns) ++coverage.operations_before_launch;
    if (launch.has(kHostHasGpu)) continue;
    const HostKind kind = launch_kind(launch, operation);
    if (!launch.is_launch()) launch.subject = 0;
    launch.word = HostEvent::pack(launch.api(), kind, launch.flags() | kHostHasGpu, launch.result());
    launch.stream = HostStreamId{first_host_stream + operation.stream_index - mark.streams};
    // The subject of a graph launch is a row of Trace::graphs, which only logs have. A kernel launch whose id belongs
    // to a copy has no kernel, and a copy call whose id belongs to a kernel has no bytes.
    if (launch.subject == 0 && kind == HostKind::KernelLaunch && operation.has_kernel())
      launch.subject = operation.detail;
    if (launch.subject == 0 && kind == HostKind::MemoryLaunch && !operation.has_kernel())
      launch.subject = operation.bytes;
  }
  for (uint32_t row = mark.syncs; row < trace.syncs.size(); ++row) {
    SyncEvent& sync = trace.syncs[row];
    const uint32_t process = sync.stream != kNone ? index(trace.process_of(StreamId{sync.stream})) : sync.process;
    if (process != kNone) sync.call = calls.find(ProcessId{process}, sync.correlation, sync.end_ns);
  }
}

// A range that was never closed lasts until the last event of the file, which is not in the model any more.
void shorten_open_ranges(Trace& trace, const ImportMark& mark) {
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  for (uint32_t i = mark.host; i < trace.host.size(); ++i) last_ns = std::max(last_ns, trace.host[i].end_ns);
  for (uint32_t i = mark.operations; i < trace.operations.size(); ++i)
    last_ns = std::max(last_ns, trace.operations[i].last_ns());
  for (uint32_t i = mark.ranges; i < trace.ranges.size(); ++i) {
    const Range& range = trace.ranges[i];
    last_ns = std::max(last_ns, range.unfinished ? range.begin_ns : range.end_ns);
  }
  for (uint32_t i = mark.ranges; i < trace.ranges.size(); ++i) {
    Range& range = trace.ranges[i];
    if (range.unfinished && range.end_ns > last_ns) range.end_ns = last_ns;
  }
}

// Calls that launched only what is not in the model are launches all the same. Sorts the list by launch.
void make_launches(Trace& trace, std::vector<UnusableOperation>& unusable) {
  std::stable_sort(unusable.begin(), unusable.end(), [](const UnusableOperation& a, const UnusableOperation& b) {
    return a.operation.launch < b.operation.launch;
  });
  for (const UnusableOperation& each : unusable) {
    if (!each.operation.linked()) continue;
    HostEvent& call = trace.host[each.operation.launch];
    if (call.is_launch()) continue;
    call.word = HostEvent::pack(call.api(), launch_kind(call, each.operation), call.flags(), call.result());
    call.subject = 0;
  }
}

// `unusable`: what is not in the model any more, by row of the launch.
void count_launches(Trace& trace, const ImportMark& mark, const std::vector<UnusableOperation>& unusable) {
  auto left_out = unusable.cbegin();
  for (uint32_t row = mark.host; row < trace.host.size(); ++row) {
    const HostEvent& event = trace.host[row];
    if (!event.is_launch()) continue;
    Coverage& coverage = trace.processes[index(trace.threads[index(event.thread)].process)].coverage;
    ++coverage.launches;
    if (event.has(kHostHasGpu)) {
      ++coverage.launches_with_gpu_time;
      continue;
    }
    while (left_out != unusable.cend() && left_out->operation.launch < row) ++left_out;
    LaunchReason reason = event.result() != 0 ? LaunchReason::Failed : LaunchReason::Unknown;
    if (left_out != unusable.cend() && left_out->operation.launch == row) reason = launch_reason(left_out->reason);
    ++coverage.launches_without[static_cast<size_t>(reason)];
  }
}

void find_ends(Trace& trace, const ImportMark& mark) {
  const auto seen = [&](ProcessId process, int64_t time_ns) {
    int64_t& last = trace.processes[index(process)].last_ns;
    last = std::max(last, time_ns);
  };
  for (uint32_t i = mark.host; i < trace.host.size(); ++i)
    seen(trace.thread(trace.host[i].thread).process, trace.host[i].end_ns);
  for (uint32_t i = mark.ranges; i < trace.ranges.size(); ++i)
    seen(trace.thread(trace.ranges[i].thread).process, trace.ranges[i].end_ns);
  for (uint32_t i = mark.operations; i < trace.operations.size(); ++i)
    seen(trace.process_of(trace.operations[i].stream()), trace.operations[i].end_ns);
  for (const Process& process : trace.processes) trace.last_ns = std::max(trace.last_ns, process.last_ns);
}

}  // namespace

ImportMark::ImportMark(const Trace& trace)
    : processes(rows_in(trace.processes)),
      threads(rows_in(trace.threads)),
      devices(rows_in(trace.devices)),
      streams(rows_in(trace.streams)),
      host_streams(rows_in(trace.host_streams)),
      host(rows_in(trace.host)),
      operations(rows_in(trace.operations)),
      ranges(rows_in(trace.ranges)),
      marks(rows_in(trace.marks)),
      memory(rows_in(trace.memory)),
      syncs(rows_in(trace.syncs)),
      gpu_annotations(rows_in(trace.gpu_annotations)) {}

int64_t finish_import(Trace& trace, const ImportMark& mark, int64_t zero_realtime_ns) {
  remove_untimed_events(trace, mark, zero_realtime_ns);
  place_host(trace, mark);
  place_operations(trace, mark);
  const CallIndex calls(trace, mark);
  find_launches(trace, mark, calls);
  std::vector<UnusableOperation> unusable = remove_unusable_operations(trace, mark, zero_realtime_ns);
  describe_unusable(trace, mark);
  if (!unusable.empty()) {
    cut_operations(trace, mark);
    shorten_open_ranges(trace, mark);
    make_launches(trace, unusable);
  }
  const int64_t moved_ns = set_zero(trace, mark, zero_realtime_ns);
  for (uint32_t p = mark.processes; p < trace.processes.size(); ++p)
    trace.processes[p].zero_realtime_ns = zero_realtime_ns;
  for (uint32_t d = mark.devices; d < trace.devices.size(); ++d) trace.devices[d].physical = d;
  place_ranges(trace, mark);
  place_marks(trace, mark);
  sort_rows(trace.memory, mark.memory,
            [](const MemoryEvent& a, const MemoryEvent& b) { return a.time_ns < b.time_ns; });
  sort_rows(trace.syncs, mark.syncs, [](const SyncEvent& a, const SyncEvent& b) { return a.begin_ns < b.begin_ns; });
  join(trace, mark, calls);
  count_launches(trace, mark, unusable);
  find_ends(trace, mark);
  return moved_ns;
}

ApiNames::ApiNames(Trace& trace) : trace_(trace) {
  of_string_.resize(trace.strings.size());
  for (uint32_t i = 0; i < trace.apis.size(); ++i) of_string_[index(trace.apis[i])] = i;
}

uint32_t ApiNames::intern(std::string_view name) {
  const uint32_t string = index(trace_.strings.intern(name));
  if (string >= of_string_.size()) of_string_.resize(std::bit_ceil(string + 1u));
  if (of_string_[string] == 0 && trace_.apis.size() < HostEvent::kMostApis) {
    of_string_[string] = rows_in(trace_.apis);
    trace_.apis.push_back(StringId{string});
  }
  return of_string_[string];
}

}  // namespace prof::analyzer
