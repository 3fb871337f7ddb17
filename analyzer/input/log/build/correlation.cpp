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

void link_operations(Trace& trace, const std::vector<CorrelationTable>& tables,
                     const std::vector<ProcessThreads>& threads, unsigned workers) {
  struct Chunk {
    uint32_t process;
    Rows rows;
    Coverage coverage;
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
      chunks.push_back({process, {first, last}, {}, {}});
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
  std::vector<std::vector<uint32_t>> unseen(trace.processes.size());
  for (const Chunk& chunk : chunks) {
    trace.processes[chunk.process].coverage.add(chunk.coverage);
    unseen[chunk.process].insert(unseen[chunk.process].end(), chunk.unseen.begin(), chunk.unseen.end());
  }
  for (size_t process = 0; process < unseen.size(); ++process) {
    sort_unique(unseen[process]);  // a launch may have operations in several chunks
    if (unseen[process].empty()) continue;
    trace.processes[process].counters.push_back(
        {std::string(kLaunchesUnseen), unseen[process].size(), format::Severity::Partial});
  }
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
