// Which launch created which GPU operation? The builder decides it by containment and correlation id, never by order.
//
//   DriverCalls   (tid, GPU-clock start, correlation)
//     --inside [begin, end] of a launch of a thread with that tid-->  launch
//   RuntimeCalls  (tid, start, end, correlation)
//     --around exactly one launch of a thread with that tid-->        launch
//   GPU operation (correlation)
//     --the table of its process-->                                   launch, or the reason why there is none
//
// The first two steps are in call_join.cpp.
#include "analyzer/base/parallel.h"
#include "analyzer/base/row_chunks.h"
#include "analyzer/input/log/build/call_join.h"
#include "analyzer/input/log/build/stages.h"
#include "analyzer/model/coverage_facts.h"
#include "analyzer/model/graph_origins.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace prof::analyzer {

namespace {

// For rings: the first correlation id after the horizon, by process. Every smaller id was assigned before the horizon,
// so its call may have been overwritten. Ids grow with the time at which the driver was entered. A launch that was
// running at the horizon has a smaller id than many launches that had returned by then.
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

// For recordings that ended early: the time since which CUPTI's calls may not have reached the log. The calls of a
// system thread arrive in order. So it is the first launch of any thread after the last one whose CUPTI call is in the
// log.
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

enum class LogForm : uint8_t { Whole, OverwrittenRing };
enum class HostRecords : uint8_t { Complete, Lost };
enum class GpuTimes : uint8_t { Throughout, InBursts };
enum class CallRecords : uint8_t { None, Some };  // CUPTI's of calls, which have the correlation ids

// What of a process's records says why an operation has no launch.
struct RecordsOfProcess {
  LogForm log{};
  HostRecords host{};
  GpuTimes gpu_times{};
  CallRecords calls{};
  int64_t first_record_ns = 0;
  int64_t calls_under_way_ns = INT64_MAX;
  uint32_t first_kept_correlation = 0;  // of rings
};

RecordsOfProcess records_of(const Process& process, int64_t first_record_ns, bool any_calls,
                            uint32_t first_kept_correlation) {
  RecordsOfProcess records;
  if (process.ring) records.log = LogForm::OverwrittenRing;
  if (process.lost(format::Missing::Calls) || !process.damage.empty()) records.host = HostRecords::Lost;
  if (process.fact("gpu_times") == "in bursts") records.gpu_times = GpuTimes::InBursts;
  if (any_calls) records.calls = CallRecords::Some;
  records.first_record_ns = first_record_ns;
  records.calls_under_way_ns = process.calls_under_way_ns;
  records.first_kept_correlation = first_kept_correlation;
  return records;
}

// Where an operation of a graph was launched from, if not by a call of the host with its correlation id.
enum class LaunchedFrom : uint8_t { Host, Kernel, ConditionalNode };

// Why an operation whose correlation id leads to `found` (not a launch) has none.
OperationReason reason_for(uint32_t found, const GpuOperation& operation, LaunchedFrom from,
                           const RecordsOfProcess& records) {
  if (from == LaunchedFrom::Kernel) return OperationReason::DeviceLaunch;
  if (from == LaunchedFrom::ConditionalNode) return OperationReason::Conditional;
  if (found == kRepeatedId) return OperationReason::RepeatedId;
  if (found == kInsideOtherCall) return OperationReason::Internal;
  const bool ring = records.log == LogForm::OverwrittenRing;
  const bool before = found == kInsideNoCallEarly || operation.start_ns < records.first_record_ns ||
                      (ring && operation.start_ns == records.first_record_ns);
  if (ring && (before || (found > kInsideOtherCall && operation.correlation < records.first_kept_correlation)))
    return OperationReason::Overwritten;
  if (before) return OperationReason::BeforeRecording;
  if (found == kNone && operation.start_ns >= records.calls_under_way_ns) return OperationReason::CallPending;
  if (found == kInsideNoCall)
    return records.host == HostRecords::Lost ? OperationReason::LaunchLost : OperationReason::Unlinked;
  if (records.calls == CallRecords::None) return OperationReason::Unlinked;
  return records.gpu_times == GpuTimes::InBursts ? OperationReason::OutsideBursts
                                                 : OperationReason::Internal;  // in no known call
}

void sort_unique(std::vector<uint32_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

struct LinkCounts {
  Coverage coverage;
  std::vector<uint32_t> unseen;  // correlation ids of calls that no hook recorded
};

// Adds to `counts`, by process. Returns whether an operation may have a time that cannot be true.
bool link_operations(Trace& trace, const std::vector<CorrelationTable>& tables,
                     const std::vector<ProcessThreads>& threads, unsigned workers, std::vector<LinkCounts>& counts) {
  struct Chunk {
    uint32_t process;
    Rows rows;
    uint32_t stream_end;  // row after the last operation of the stream
    Coverage coverage;
    bool may_be_unusable = false;
    std::vector<uint32_t> unseen;  // correlation ids of calls that no hook recorded, ascending
  };
  std::vector<std::unordered_set<uint32_t>> device_launched(trace.processes.size());  // graphs that kernels may launch
  for (const Graph& graph : trace.graphs) {
    if (graph.device_launch && graph.number != 0) device_launched[index(graph.process)].insert(graph.number);
  }
  const GraphOrigins origins(trace);
  // Only in a conditional body an operation of a graph has no correlation id (seen with CUPTI 13 on an H200). A graph
  // whose making was recorded without a conditional node has no such body.
  const auto launched_from = [&](uint32_t process, const GpuOperation& operation) {
    if (operation.graph_node == 0) return LaunchedFrom::Host;
    const uint32_t graph = graph_of(operation.graph_node);
    if (device_launched[process].contains(graph)) return LaunchedFrom::Kernel;
    if (operation.correlation != 0) return LaunchedFrom::Host;
    const bool may_be_body = !origins.knows(ProcessId{process}, graph) || origins.has_bodies(ProcessId{process}, graph);
    return may_be_body ? LaunchedFrom::ConditionalNode : LaunchedFrom::Host;
  };
  const std::vector<uint32_t> first_kept = first_kept_correlations(trace);
  std::vector<Chunk> chunks;
  constexpr size_t kChunk = 1u << 18;
  for (const Stream& stream : trace.streams) {
    if (stream.operations.size() == 0) continue;
    const uint32_t process = index(trace.device(stream.device).process);
    each_chunk(stream.operations.first, stream.operations.last, kChunk, [&](uint32_t first, uint32_t last) {
      chunks.push_back({process, {first, last}, stream.operations.last, {}, false, {}});
    });
  }
  parallel_for(
      chunks.size(),
      [&](size_t c) {
        Chunk& chunk = chunks[c];
        const CorrelationTable& table = tables[chunk.process];
        const RecordsOfProcess records =
            records_of(trace.processes[chunk.process], threads[chunk.process].first_record_ns, table.any_calls(),
                       first_kept[chunk.process]);
        chunk.coverage.operations = chunk.rows.size();
        for (uint32_t row = chunk.rows.first; row < chunk.rows.last; ++row) {
          GpuOperation& operation = trace.operations[row];
          if (operation.end_ns < operation.start_ns) ++chunk.coverage.operations_reversed;
          const uint32_t found = operation.linked() ? operation.launch : table.find(operation.correlation);
          const GpuOperation* const later = row + 2 < chunk.stream_end ? &trace.operations[row + 2] : nullptr;
          chunk.may_be_unusable |= may_be_unusable(operation, found > kLastRow ? nullptr : &trace.host[found], later);
          if (found > kLastRow) {
            const OperationReason reason =
                reason_for(found, operation, launched_from(chunk.process, operation), records);
            ++chunk.coverage.operations_without[static_cast<size_t>(reason)];
            if (found == kInsideNoCall && reason == OperationReason::Unlinked)
              chunk.unseen.push_back(operation.correlation);
            continue;
          }
          operation.launch = found;
          ++chunk.coverage.operations_linked;
          HostEvent& launch = trace.host[found];
          if (operation.start_ns < launch.begin_ns) ++chunk.coverage.operations_before_launch;
          launch.add_flag_atomically(kHostHasGpu);  // operations of one launch may be on several streams
        }
        sort_unique(chunk.unseen);
      },
      workers);
  bool any = false;
  for (const Chunk& chunk : chunks) {
    LinkCounts& of_process = counts[chunk.process];
    of_process.coverage.add(chunk.coverage);
    of_process.unseen.insert(of_process.unseen.end(), chunk.unseen.begin(), chunk.unseen.end());
    any |= chunk.may_be_unusable;
  }
  return any;
}

// The recording of a process, and ranges that were never closed, do not last until what was removed.
void end_with_last_event(Trace& trace, const ImportMark& mark) {
  std::vector<int64_t> last(trace.processes.size(), INT64_MIN);
  const auto seen = [&](ProcessId process, int64_t time_ns) {
    last[index(process)] = std::max(last[index(process)], time_ns);
  };
  for (const HostEvent& event : trace.host) seen(trace.thread(event.thread).process, event.end_ns);
  for (const GpuOperation& operation : trace.operations)
    seen(trace.process_of(operation.stream()), operation.last_ns());
  for (const Range& range : trace.ranges)
    seen(trace.thread(range.thread).process, range.unfinished ? range.begin_ns : range.end_ns);
  for (const Range& each : trace.marks) seen(trace.thread(each.thread).process, each.begin_ns);
  for (Range& range : trace.ranges) {
    const int64_t last_ns = last[index(trace.thread(range.thread).process)];
    if (range.unfinished) range.end_ns = std::min(range.end_ns, std::max(range.begin_ns, last_ns));
  }
  trace.last_ns = 0;
  for (size_t p = 0; p < last.size(); ++p) {
    if (p >= mark.processes && last[p] != INT64_MIN) trace.processes[p].last_ns = last[p];
    trace.last_ns = std::max(trace.last_ns, trace.processes[p].last_ns);
  }
}

// Removes operations whose time cannot be true. Their launches have no GPU time unless link_operations() finds another
// operation.
std::vector<UnusableOperation> leave_out_unusable(Trace& trace, const ImportMark& mark) {
  std::vector<UnusableOperation> found = remove_unusable_operations(trace, mark, 0);
  if (found.empty()) return found;
  std::vector<uint32_t> counts(trace.streams.size());
  for (const GpuOperation& operation : trace.operations) ++counts[operation.stream_index];
  uint32_t first = 0;
  for (size_t s = 0; s < counts.size(); ++s) {
    trace.streams[s].operations = {first, first + counts[s]};
    first += counts[s];
  }
  end_with_last_event(trace, mark);
  for (const UnusableOperation& each : found) {
    if (!each.operation.linked()) continue;
    HostEvent& launch = trace.host[each.operation.launch];
    launch.word = HostEvent::pack(launch.api(), launch.kind(), launch.flags() & ~kHostHasGpu, launch.result());
  }
  return found;
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

std::vector<UnusableOperation> correlate(std::vector<ProcessCalls>& calls, Trace& trace, const ImportMark& mark,
                                         unsigned workers) {
  const std::vector<ProcessThreads> threads = threads_by_process(trace);
  const std::vector<CorrelationTable> tables = join_calls(calls, threads, trace, workers);
  find_calls_under_way(trace);
  std::vector<LinkCounts> counts(trace.processes.size());
  std::vector<UnusableOperation> unusable;
  if (link_operations(trace, tables, threads, workers, counts)) {
    unusable = leave_out_unusable(trace, mark);
    if (!unusable.empty()) {
      counts.assign(counts.size(), {});
      link_operations(trace, tables, threads, workers, counts);
    }
  }
  for (size_t p = 0; p < counts.size(); ++p) {
    Process& process = trace.processes[p];
    process.coverage.add(counts[p].coverage);
    sort_unique(counts[p].unseen);  // a launch may have operations in several chunks
    if (!counts[p].unseen.empty())
      process.counters.push_back({std::string(kLaunchesUnseen), counts[p].unseen.size(), format::Severity::Partial});
  }
  learn_streams(trace);
  return unusable;
}

}  // namespace prof::analyzer
