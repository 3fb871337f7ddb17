// In the builder: which launch made which GPU operation, by containment and correlation id, never by order.
//
//   DriverCalls   (tid, GPU-clock start, correlation)  --inside [begin, end] of a launch of a thread with that tid-->  launch
//   RuntimeCalls  (tid, start, end, correlation)       --around exactly one launch of a thread with that tid-->         launch
//   ExternalCalls (begin tick of the launch, correlation)                                                         -->  launch
//   GPU operation (correlation)  --the table of its process-->  launch, or the reason why there is none
//
// A tid may be reused by a later thread: all threads that had it are tried. Times went through two roundings, so a call
// may seem to lie up to 2 ns outside of its launch.
#include "analyzer/model/correlation_table.h"
#include "analyzer/model/graph_origins.h"
#include "analyzer/model/parallel.h"
#include "analyzer/model/stages.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr int64_t kToleranceNs = 2;

// Instead of a launch's row: what is known of a driver call without one.
constexpr uint32_t kInsideOtherCall = UINT32_MAX - 1;
constexpr uint32_t kInsideNoCall = UINT32_MAX - 2;
constexpr uint32_t kInsideNoCallEarly = UINT32_MAX - 3;  // before the first record of the process
constexpr uint32_t kRepeatedId = UINT32_MAX - 4;
constexpr uint32_t kLastRow = UINT32_MAX - 5;

// Which threads of a process had which tid, and when it began.
struct ProcessThreads {
  std::unordered_map<uint32_t, std::vector<uint32_t>> of_tid;
  int64_t first_record_ns = INT64_MAX;
};

std::vector<ProcessThreads> threads_by_process(const Trace& trace) {
  std::vector<ProcessThreads> processes(trace.processes.size());
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    const Thread& thread = trace.threads[t];
    if (thread.host.size() == 0) continue;
    ProcessThreads& process = processes[index(thread.process)];
    process.of_tid[thread.tid].push_back(t);
    process.first_record_ns = std::min(process.first_record_ns, trace.host[thread.host.first].begin_ns);
  }
  for (uint32_t p = 0; p < processes.size(); ++p) {
    if (trace.processes[p].ring) processes[p].first_record_ns = trace.processes[p].horizon_ns;
  }
  return processes;
}

// Finds the launches of the driver calls of one system thread. Threads of a process share no launch, so groups are joined
// in parallel.
class GroupJoin {
 public:
  GroupJoin(Trace& trace, ProcessId process, const ProcessThreads& threads)
      : trace_(trace), process_(process), threads_(threads) {}

  // Afterwards each call's `row` holds the launch's row or a reason.
  void run(uint64_t group, DriverCall* first, DriverCall* last) const {
    const auto sort = static_cast<CallSort>(group >> 32);
    const auto by_time = [](const DriverCall& a, const DriverCall& b) { return a.time_ns < b.time_ns; };
    if (!std::is_sorted(first, last, by_time)) std::sort(first, last, by_time);
    if (sort == CallSort::External) {
      place_external(first, last);
      return;
    }
    for (DriverCall* call = first; call != last; ++call) call->row = without_call(*call);
    const auto threads = threads_.of_tid.find(static_cast<uint32_t>(group));
    if (threads == threads_.of_tid.end()) return;
    for (const uint32_t thread : threads->second) {
      const Rows rows = trace_.threads[thread].host;
      sort == CallSort::Runtime ? place_around(first, last, rows) : place_in_thread(first, last, rows);
    }
    if (sort == CallSort::Driver) give_up_repeated(first, last);
  }

 private:
  void found(DriverCall& call, uint32_t row) const {
    trace_.host[row].correlation = call.correlation;
    call.row = row;
  }
  uint32_t without_call(const DriverCall& call) const {
    return call.time_ns < threads_.first_record_ns - kToleranceNs ? kInsideNoCallEarly : kInsideNoCall;
  }

  // Both are sorted by time: one pass, with the calls of ours that are open at the moment on a small stack.
  void place_in_thread(DriverCall* first, DriverCall* last, Rows rows) const {
    const Column<HostEvent>& host = trace_.host;
    const int64_t thread_begin = host[rows.first].begin_ns - kToleranceNs;
    first = std::lower_bound(first, last, thread_begin, [](const DriverCall& c, int64_t t) { return c.time_ns < t; });
    std::vector<uint32_t> open;
    uint32_t next = rows.first;
    for (DriverCall* call = first; call != last; ++call) {
      while (next < rows.last && host[next].begin_ns <= call->time_ns + kToleranceNs) {
        while (!open.empty() && host[open.back()].end_ns < host[next].begin_ns - 2 * kToleranceNs) open.pop_back();
        open.push_back(next++);
      }
      if (call->row <= kLastRow) continue;  // in an earlier thread of that tid
      while (!open.empty() && host[open.back()].end_ns < call->time_ns - kToleranceNs) open.pop_back();
      if (open.empty() && next == rows.last) return;
      const uint32_t row = innermost(open, call->time_ns);
      if (row == kInsideOtherCall) {
        call->row = kInsideOtherCall;
      } else if (row != kNone) {
        found(*call, row);
      }
    }
  }

  // Sorted by time. A thread that was inside a call when CUPTI was told to name calls no more has that call's id in all later ones: of
  // such an id nobody can say which launch an operation came from.
  void give_up_repeated(DriverCall* first, DriverCall* last) const {
    for (DriverCall *call = first, *end = first; call != last; call = end) {
      const auto differs = [&](const DriverCall& other) { return other.correlation != call->correlation; };
      end = std::find_if(call + 1, last, differs);
      if (std::all_of(call, end, [&](const DriverCall& other) { return other.row == call->row; })) continue;
      for (; call != end; ++call) {
        if (call->row <= kLastRow) trace_.host[call->row].correlation = 0;
        call->row = kRepeatedId;
      }
    }
  }

  // Runtime calls of a thread follow each other: start and end are neighbours with one correlation id. One with several launches
  // inside cannot tell which of them an operation came from.
  void place_around(DriverCall* first, DriverCall* last, Rows rows) const {
    const Column<HostEvent>& host = trace_.host;
    uint32_t next = rows.first;
    for (DriverCall* call = first; last - call >= 2; ++call) {
      DriverCall* const end = call + 1;
      if (end->correlation != call->correlation) continue;  // the other one of the pair was lost
      while (next < rows.last && host[next].begin_ns < call->time_ns - kToleranceNs) ++next;
      uint32_t only = kNone;
      bool several = false;
      for (uint32_t row = next; row < rows.last && host[row].begin_ns <= end->time_ns; ++row) {
        if (!host[row].is_launch() || host[row].end_ns > end->time_ns + kToleranceNs) continue;
        several = only != kNone;
        only = row;
        if (several) break;
      }
      if (only != kNone && !several && host[only].correlation == 0) found(*call, only), end->row = only;
      call = end;
    }
  }

  // The innermost open launch around the moment; exact containment before containment within the tolerance.
  uint32_t innermost(const std::vector<uint32_t>& open, int64_t time_ns) const {
    bool in_other = false;
    for (const int64_t tolerance : {int64_t{0}, kToleranceNs}) {
      for (size_t i = open.size(); i-- > 0;) {
        const HostEvent& event = trace_.host[open[i]];
        if (event.begin_ns - tolerance > time_ns || event.end_ns + tolerance < time_ns) continue;
        if (event.is_launch()) return open[i];
        in_other = true;
      }
    }
    return in_other ? kInsideOtherCall : kNone;
  }

  // The recorder pushed the launch's begin itself: equal times, not containment.
  void place_external(DriverCall* first, DriverCall* last) const {
    std::unordered_multimap<int64_t, uint32_t> launches;
    for (const Thread& thread : trace_.threads) {
      if (thread.process != process_) continue;
      for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
        if (trace_.host[row].is_launch()) launches.emplace(trace_.host[row].begin_ns, row);
      }
    }
    for (DriverCall* call = first; call != last; ++call) {
      call->row = without_call(*call);
      const auto [begin, end] = launches.equal_range(call->time_ns);
      for (auto at = begin; at != end; ++at) {
        if (trace_.host[at->second].correlation != 0 && std::next(at) != end)
          continue;  // two launches in one nanosecond
        found(*call, at->second);
        break;
      }
    }
  }

  Trace& trace_;
  ProcessId process_;
  const ProcessThreads& threads_;
};

// Driver calls -> launches, in all processes; the tables then lead from correlation ids to rows. Frees the calls.
std::vector<CorrelationTable> join_calls(std::vector<ProcessCalls>& calls, const std::vector<ProcessThreads>& threads,
                                         Trace& trace, unsigned workers) {
  std::vector<CorrelationTable> tables;
  std::vector<std::pair<uint32_t, CallGroup>> groups;
  for (uint32_t p = 0; p < calls.size(); ++p) {
    tables.emplace_back(calls[p].rows);
    for (const CallGroup& group : calls[p].groups) groups.push_back({p, group});
  }
  // Driver calls first: what they lead to is certain. External calls may lead to any thread of their process.
  const auto is = [](CallSort sort) {
    return [sort](const auto& g) { return static_cast<CallSort>(g.second.key >> 32) == sort; };
  };
  const auto runtime = std::stable_partition(groups.begin(), groups.end(), is(CallSort::Driver));
  const auto external = std::stable_partition(runtime, groups.end(), is(CallSort::Runtime));
  const auto join = [&](const std::pair<uint32_t, CallGroup>& of) {
    const auto& [process, group] = of;
    DriverCall* const first = calls[process].rows.data() + group.first;
    DriverCall* const last = calls[process].rows.data() + group.last;
    GroupJoin(trace, ProcessId{process}, threads[process]).run(group.key, first, last);
    if (!tables[process].is_dense()) return;
    for (const DriverCall* call = first; call != last; ++call) tables[process].keep(call->correlation, call->row);
  };
  auto done = groups.begin();
  for (const auto until : {runtime, external}) {
    parallel_for(
        static_cast<size_t>(until - done), [&](size_t g) { join(done[static_cast<ptrdiff_t>(g)]); }, workers);
    done = until;
  }
  for (; done != groups.end(); ++done) join(*done);
  for (uint32_t p = 0; p < calls.size(); ++p) {
    if (!tables[p].is_dense()) tables[p].keep_sorted(calls[p].rows);
    calls[p].rows.free();
  }
  return tables;
}

bool lost_host_records(const Process& process) {
  for (const char* name :
       {"records_dropped_busy", "records_dropped_full", "records_dropped_large", "before_ready", "after_exit",
        "no_thread_state", "log_extend_failed", "log_replaced", "unhooked_launch_api"}) {
    if (process.counter(name) != 0) return true;
  }
  return !process.damage.empty();
}

// Of rings: every smaller correlation id was given before the horizon, so its call may have been overwritten. Ids grow with the time at which
// the driver was entered; a launch that was under way at the horizon has an older id than many that had returned by then.
std::vector<uint32_t> first_kept_correlations(const Trace& trace) {
  std::vector<uint32_t> first(trace.processes.size(), 0);
  for (uint32_t p = 0; p < first.size(); ++p) {
    if (!trace.processes[p].ring) continue;
    first[p] = UINT32_MAX;
    for (const Thread& thread : trace.threads) {
      if (index(thread.process) != p) continue;
      for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
        const HostEvent& event = trace.host[row];
        if (event.correlation != 0 && event.begin_ns > trace.processes[p].horizon_ns)
          first[p] = std::min(first[p], event.correlation);
      }
    }
  }
  return first;
}

// Of recordings that ended early: since when calls may have been on their way to the log. Those of a system thread arrive in order, so that
// is the first launch of any thread behind the last one of which CUPTI's call is there.
void find_calls_under_way(Trace& trace) {
  for (const Thread& thread : trace.threads) {
    Process& process = trace.processes[index(thread.process)];
    if (!process.ended_early()) continue;
    for (uint32_t row = thread.host.last; row-- > thread.host.first;) {
      const HostEvent& event = trace.host[row];
      if (!event.is_launch() || event.has(kHostCaptured) || event.result() != 0) continue;
      if (event.correlation != 0) break;
      process.calls_under_way_ns = std::min(process.calls_under_way_ns, event.begin_ns);
    }
  }
}

// Why an operation whose correlation id leads to `found` (not a launch) has none.
OperationReason reason_for(uint32_t found, const GpuOperation& operation, int64_t first_record_ns, bool any_calls,
                           bool lost, bool ring, bool bursts, uint32_t first_kept, int64_t calls_under_way_ns,
                           const std::unordered_set<uint32_t>& device_launched, bool in_body) {
  if (operation.graph_node != 0 && device_launched.contains(static_cast<uint32_t>(operation.graph_node >> 32)))
    return OperationReason::DeviceLaunch;
  if (in_body) return OperationReason::Conditional;
  if (found == kRepeatedId) return OperationReason::RepeatedId;
  if (found == kInsideOtherCall) return OperationReason::Internal;
  const bool before = found == kInsideNoCallEarly || operation.start_ns < first_record_ns ||
                      (ring && operation.start_ns == first_record_ns);
  if (ring && (before || (found > kInsideOtherCall && operation.correlation < first_kept)))
    return OperationReason::Overwritten;
  if (before) return OperationReason::BeforeRecording;
  if (found == kNone && operation.start_ns >= calls_under_way_ns) return OperationReason::CallPending;
  if (found == kInsideNoCall) return lost ? OperationReason::LaunchLost : OperationReason::Unlinked;
  if (!any_calls) return OperationReason::Unlinked;
  return bursts ? OperationReason::OutsideBursts : OperationReason::Internal;  // in no known call
}

void link_operations(Trace& trace, const std::vector<CorrelationTable>& tables,
                     const std::vector<ProcessThreads>& threads, unsigned workers) {
  struct Chunk {
    uint32_t process;
    Rows rows;
    Coverage coverage;
  };
  std::vector<std::unordered_set<uint32_t>> device_launched(trace.processes.size());  // graphs that kernels may launch
  for (const Graph& graph : trace.graphs) {
    if (graph.device_launch && graph.number != 0) device_launched[index(graph.process)].insert(graph.number);
  }
  const GraphOrigins origins(trace);
  // Only there an operation of a graph has no correlation id (seen with CUPTI 13 on an H200); a graph that was seen being made without a
  // conditional node is believed.
  const auto in_body = [&origins](uint32_t process, const GpuOperation& operation) {
    if (operation.correlation != 0 || operation.graph_node == 0) return false;
    const auto graph = static_cast<uint32_t>(operation.graph_node >> 32);
    return !origins.knows(ProcessId{process}, graph) || origins.has_bodies(ProcessId{process}, graph);
  };
  const std::vector<uint32_t> first_kept = first_kept_correlations(trace);
  std::vector<Chunk> chunks;
  constexpr uint32_t kChunk = 1u << 18;
  for (const Stream& stream : trace.streams) {
    if (stream.operations.size() == 0) continue;
    const uint32_t process = index(trace.device(stream.device).process);
    for (uint32_t first = stream.operations.first; first < stream.operations.last;
         first += std::min(kChunk, stream.operations.last - first)) {
      chunks.push_back({process, {first, first + std::min(kChunk, stream.operations.last - first)}, {}});
    }
  }
  parallel_for(
      chunks.size(),
      [&](size_t c) {
        Chunk& chunk = chunks[c];
        const CorrelationTable& table = tables[chunk.process];
        const Process& process = trace.processes[chunk.process];
        const bool lost = lost_host_records(process), bursts = process.fact("gpu_times") == "in bursts";
        chunk.coverage.operations = chunk.rows.size();
        for (uint32_t row = chunk.rows.first; row < chunk.rows.last; ++row) {
          GpuOperation& operation = trace.operations[row];
          if (operation.end_ns < operation.start_ns) ++chunk.coverage.operations_reversed;
          const uint32_t found = operation.linked() ? operation.launch : table.find(operation.correlation);
          if (found > kLastRow) {
            const OperationReason reason =
                reason_for(found, operation, threads[chunk.process].first_record_ns, table.any_calls(), lost,
                           process.ring, bursts, first_kept[chunk.process], process.calls_under_way_ns,
                           device_launched[chunk.process], in_body(chunk.process, operation));
            ++chunk.coverage.operations_without[static_cast<size_t>(reason)];
            continue;
          }
          operation.launch = found;
          ++chunk.coverage.operations_linked;
          HostEvent& launch = trace.host[found];
          if (operation.start_ns < launch.begin_ns) ++chunk.coverage.operations_before_launch;
          std::atomic_ref<uint32_t> word(launch.word);  // operations of one launch may be on several streams
          constexpr uint32_t kHasGpu = kHostHasGpu << HostEvent::kFlagShift;
          if ((word.load(std::memory_order_relaxed) & kHasGpu) == 0) word.fetch_or(kHasGpu, std::memory_order_relaxed);
        }
      },
      workers);
  for (const Chunk& chunk : chunks) trace.processes[chunk.process].coverage.add(chunk.coverage);
}

// Host streams whose GPU number the recorder did not know: what their launches ran on tells it.
void learn_streams(Trace& trace) {
  size_t unknown = 0;
  for (const HostStream& stream : trace.host_streams)
    unknown += stream.stream == kNone && !stream.whole_context ? 1 : 0;
  if (unknown <= 1) return;  // row 0 is "none"
  for (const GpuOperation& operation : trace.operations) {
    if (!operation.linked() || operation.graph_node != 0) continue;
    HostStream& stream = trace.host_streams[index(trace.host[operation.launch].stream)];
    if (&stream == trace.host_streams.data() || stream.stream != kNone) continue;
    stream.stream = operation.stream_index;
    trace.streams[stream.stream].priority = stream.priority;
    trace.streams[stream.stream].priority_known = true;
    if (--unknown <= 1) return;
  }
}

}  // namespace

void correlate(std::vector<ProcessCalls>& calls, Trace& trace, unsigned workers) {
  const std::vector<ProcessThreads> threads = threads_by_process(trace);
  const std::vector<CorrelationTable> tables = join_calls(calls, threads, trace, workers);
  find_calls_under_way(trace);
  link_operations(trace, tables, threads, workers);
  learn_streams(trace);
}

}  // namespace prof::analyzer
