// Last step of the builder: which launch made which GPU operation, by containment and correlation id, never by order.
//
//   DriverCalls   (tid, GPU-clock start, correlation)  --inside [begin, end] of a launch of a thread with that tid-->  launch
//   ExternalCalls (begin tick of the launch, correlation)                                                         -->  launch
//   GPU operation (correlation)  --the table of its process-->  launch, or the reason why there is none
//
// A tid may be reused by a later thread: all threads that had it are tried. Times went through two roundings, so a call
// may seem to lie up to 2 ns outside of its launch.
#include "analyzer/model/parallel.h"
#include "analyzer/model/stages.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>

namespace prof::analyzer {

namespace {

constexpr int64_t kToleranceNs = 2;

// Instead of a launch's row: what is known of a driver call without one.
constexpr uint32_t kInsideOtherCall = UINT32_MAX - 1;
constexpr uint32_t kInsideNoCall = UINT32_MAX - 2;
constexpr uint32_t kInsideNoCallEarly = UINT32_MAX - 3;  // before the first record of the process
constexpr uint32_t kLastRow = UINT32_MAX - 4;

// Correlation id -> row. Ids of a run are nearly dense; a log where they are not gets a sorted list.
class CorrelationTable {
 public:
  struct Entry {
    uint32_t correlation, row;
  };
  // `calls` holds (correlation, row in .tid): see correlate_process.
  explicit CorrelationTable(const Column<DriverCall>& calls) {
    if (calls.empty()) return;
    known_calls_ = true;
    uint32_t low = UINT32_MAX, high = 0;
    for (const DriverCall& call : calls) low = std::min(low, call.correlation), high = std::max(high, call.correlation);
    base_ = low;
    const uint64_t range = uint64_t{high} - low + 1;
    if (range <= calls.size() * 8 + 65536) {
      dense_.resize(range);
      std::fill(dense_.begin(), dense_.end(), kNone);
      for (const DriverCall& call : calls) keep(dense_[call.correlation - low], call.tid);
    } else {
      for (const DriverCall& call : calls) sparse_.push_back({call.correlation, call.tid});
      std::sort(sparse_.begin(), sparse_.end(), [](const Entry& a, const Entry& b) {
        return a.correlation != b.correlation ? a.correlation < b.correlation : a.row < b.row;
      });
    }
  }
  uint32_t find(uint32_t correlation) const {
    if (!dense_.empty()) {
      const uint32_t offset = correlation - base_;
      return offset < dense_.size() ? dense_[offset] : kNone;
    }
    const Entry* const found = std::lower_bound(sparse_.begin(), sparse_.end(), correlation,
                                                [](const Entry& e, uint32_t c) { return e.correlation < c; });
    return found != sparse_.end() && found->correlation == correlation ? found->row : kNone;
  }
  bool any_calls() const { return known_calls_; }

 private:
  // A launch is better than a reason.
  static void keep(uint32_t& slot, uint32_t row) {
    if (slot == kNone || row < slot) slot = row;
  }
  bool known_calls_ = false;
  uint32_t base_ = 0;
  Column<uint32_t> dense_;
  Column<Entry> sparse_;
};

class ProcessJoin {
 public:
  ProcessJoin(Trace& trace, ProcessId process, Column<DriverCall>& calls) : trace_(trace), process_(process), calls_(calls) {}

  // Afterwards .tid of each call holds the launch's row or a reason.
  void place_calls() {
    const auto by_tid_and_time = [](const DriverCall& a, const DriverCall& b) {
      return a.tid != b.tid ? a.tid < b.tid : a.time_ns < b.time_ns;
    };
    if (!std::is_sorted(calls_.begin(), calls_.end(), by_tid_and_time)) {
      std::sort(calls_.begin(), calls_.end(), by_tid_and_time);
    }
    std::unordered_map<uint32_t, std::vector<uint32_t>> threads_of_tid;
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      const Thread& thread = trace_.threads[t];
      if (thread.process != process_ || thread.host.size() == 0) continue;
      threads_of_tid[thread.tid].push_back(t);
      first_record_ns_ = std::min(first_record_ns_, trace_.host[thread.host.first].begin_ns);
    }
    for (DriverCall* first = calls_.begin(); first != calls_.end();) {
      const uint32_t tid = first->tid;
      DriverCall* const last = std::find_if(first, calls_.end(), [&](const DriverCall& call) { return call.tid != tid; });
      if (tid == 0) {
        place_external(first, last);
      } else {
        place_in_threads(first, last, threads_of_tid[tid]);
      }
      first = last;
    }
  }

 private:
  void found(DriverCall& call, uint32_t row) {
    trace_.host[row].correlation = call.correlation;
    call.tid = row;
  }
  uint32_t without_call(const DriverCall& call) const {
    return call.time_ns < first_record_ns_ - kToleranceNs ? kInsideNoCallEarly : kInsideNoCall;
  }

  void place_in_threads(DriverCall* first, DriverCall* last, const std::vector<uint32_t>& threads) {
    for (DriverCall* call = first; call != last; ++call) call->tid = without_call(*call);
    for (const uint32_t thread : threads) place_in_thread(first, last, trace_.threads[thread].host);
  }

  // Both are sorted by time: one pass, with the calls of ours that are open at the moment on a small stack.
  void place_in_thread(DriverCall* first, DriverCall* last, Rows rows) {
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
      if (call->tid <= kLastRow) continue;  // in an earlier thread of that tid
      while (!open.empty() && host[open.back()].end_ns < call->time_ns - kToleranceNs) open.pop_back();
      if (open.empty() && next == rows.last) return;
      const uint32_t row = innermost(open, call->time_ns);
      if (row == kInsideOtherCall) {
        call->tid = kInsideOtherCall;
      } else if (row != kNone) {
        found(*call, row);
      }
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
  void place_external(DriverCall* first, DriverCall* last) {
    std::unordered_multimap<int64_t, uint32_t> launches;
    for (const Thread& thread : trace_.threads) {
      if (thread.process != process_) continue;
      for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
        if (trace_.host[row].is_launch()) launches.emplace(trace_.host[row].begin_ns, row);
      }
    }
    for (DriverCall* call = first; call != last; ++call) {
      call->tid = without_call(*call);
      const auto [begin, end] = launches.equal_range(call->time_ns);
      for (auto at = begin; at != end; ++at) {
        if (trace_.host[at->second].correlation != 0 && std::next(at) != end) continue;  // two launches in one nanosecond
        found(*call, at->second);
        break;
      }
    }
  }

  Trace& trace_;
  ProcessId process_;
  Column<DriverCall>& calls_;
  int64_t first_record_ns_ = INT64_MAX;
};

bool lost_host_records(const Process& process) {
  for (const CounterValue& counter : process.counters) {
    for (const char* name : {"records_dropped_busy", "records_dropped_full", "records_dropped_large", "before_ready",
                             "after_exit", "no_thread_state", "log_extend_failed", "log_replaced", "unhooked_launch_api"}) {
      if (counter.name == name) return true;
    }
  }
  return !process.damage.empty();
}

uint64_t counter(const Process& process, std::string_view name) {
  for (const CounterValue& each : process.counters) {
    if (each.name == name) return each.value;
  }
  return 0;
}

// Why an operation whose correlation id leads to `found` (not a launch) has none.
OperationReason reason_for(uint32_t found, const GpuOperation& operation, int64_t first_record_ns, bool any_calls,
                           bool lost) {
  if (found == kInsideOtherCall) return OperationReason::Internal;
  if (found == kInsideNoCallEarly || operation.start_ns < first_record_ns) return OperationReason::BeforeRecording;
  if (found == kInsideNoCall) return lost ? OperationReason::LaunchLost : OperationReason::Unlinked;
  return any_calls ? OperationReason::Internal : OperationReason::Unlinked;  // in no known call
}

void link_operations(Trace& trace, const std::vector<CorrelationTable>& tables, unsigned workers) {
  struct Chunk {
    uint32_t process;
    Rows rows;
    Coverage coverage;
  };
  std::vector<Chunk> chunks;
  constexpr uint32_t kChunk = 1u << 18;
  for (const Stream& stream : trace.streams) {
    if (stream.operations.size() == 0) continue;
    const uint32_t process = index(trace.device(stream.device).process);
    for (uint32_t first = stream.operations.first; first < stream.operations.last; first += std::min(kChunk, stream.operations.last - first)) {
      chunks.push_back({process, {first, first + std::min(kChunk, stream.operations.last - first)}, {}});
    }
  }
  std::vector<int64_t> first_record_ns(trace.processes.size(), INT64_MAX);
  for (const Thread& thread : trace.threads) {
    if (thread.host.size() == 0) continue;
    int64_t& first = first_record_ns[index(thread.process)];
    first = std::min(first, trace.host[thread.host.first].begin_ns);
  }
  parallel_for(
      chunks.size(),
      [&](size_t c) {
        Chunk& chunk = chunks[c];
        const CorrelationTable& table = tables[chunk.process];
        const bool lost = lost_host_records(trace.processes[chunk.process]);
        chunk.coverage.operations = chunk.rows.size();
        for (uint32_t row = chunk.rows.first; row < chunk.rows.last; ++row) {
          GpuOperation& operation = trace.operations[row];
          if (operation.end_ns < operation.start_ns) ++chunk.coverage.operations_reversed;
          const uint32_t found = table.find(operation.correlation);
          if (found > kLastRow) {
            const OperationReason reason =
                reason_for(found, operation, first_record_ns[chunk.process], table.any_calls(), lost);
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
  for (const HostStream& stream : trace.host_streams) unknown += stream.stream == kNone ? 1 : 0;
  if (unknown <= 1) return;  // row 0 is "none"
  for (const GpuOperation& operation : trace.operations) {
    if (!operation.linked() || operation.graph_node != 0) continue;
    HostStream& stream = trace.host_streams[index(trace.host[operation.launch].stream)];
    if (&stream == &trace.host_streams[0] || stream.stream != kNone) continue;
    stream.stream = operation.stream_index;
    trace.streams[stream.stream].priority = stream.priority;
    trace.streams[stream.stream].priority_known = true;
    if (--unknown <= 1) return;
  }
}

class LaunchCount {
 public:
  explicit LaunchCount(Trace& trace) : trace_(trace), last_delivered_ns_(trace.host_streams.size(), INT64_MIN) {}

  void run() {
    for (const HostEvent& event : trace_.host) {
      if (!event.is_launch() || !event.has(kHostHasGpu)) continue;
      int64_t& last = last_delivered_ns_[index(event.stream)];
      last = std::max(last, event.begin_ns);
    }
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      Process& process = trace_.processes[index(trace_.threads[t].process)];
      Coverage& coverage = process.coverage;
      const Rows rows = trace_.threads[t].host;
      for (uint32_t row = rows.first; row < rows.last; ++row) {
        const HostEvent& event = trace_.host[row];
        if (!event.is_launch()) continue;
        ++coverage.launches;
        if (event.has(kHostHasGpu)) {
          ++coverage.launches_with_gpu_time;
        } else {
          ++coverage.launches_without[static_cast<size_t>(reason(process, event))];
        }
      }
    }
  }

 private:
  LaunchReason reason(const Process& process, const HostEvent& launch) const {
    if (launch.has(kHostCaptured)) return LaunchReason::Captured;
    if (launch.result() != 0) return LaunchReason::Failed;
    if (launch.has(kHostNoGpuTimes) || counter(process, "cupti_unavailable") != 0) return LaunchReason::NotCollected;
    if (launch.kind() == HostKind::MemoryLaunch && launch.subject == 0) return LaunchReason::NothingToDo;
    if (launch.kind() == HostKind::GraphLaunch && launch.subject != 0) {
      const Graph& graph = trace_.graphs[launch.subject];
      if (graph.kernels + graph.copies + graph.fills == 0 && graph.other_nodes == 0) return LaunchReason::NothingToDo;
    }
    // GPU records of one stream arrive in order: what came after the last one was on its way when the recording ended.
    const bool ended_early = !process.finished || process.gpu_pending != 0;
    if (ended_early && launch.begin_ns > last_delivered_ns_[index(launch.stream)]) return LaunchReason::Pending;
    const bool dropped = counter(process, "cupti_dropped") + counter(process, "cupti_buffers_exhausted") +
                             counter(process, "cupti_flush_timeouts") + counter(process, "cupti_taken_away") != 0;
    return dropped ? LaunchReason::Dropped : LaunchReason::Unknown;
  }

  Trace& trace_;
  std::vector<int64_t> last_delivered_ns_;  // by HostStreamId: begin of the last launch with GPU work
};

}  // namespace

void correlate(std::vector<Column<DriverCall>>& calls, Trace& trace, unsigned workers) {
  parallel_for(
      calls.size(),
      [&](size_t i) { ProcessJoin(trace, ProcessId{static_cast<uint32_t>(i)}, calls[i]).place_calls(); }, workers);
  std::vector<CorrelationTable> tables;
  for (Column<DriverCall>& each : calls) {
    tables.emplace_back(each);
    each.free();
  }
  link_operations(trace, tables, workers);
  learn_streams(trace);
  LaunchCount(trace).run();
}

}  // namespace prof::analyzer
