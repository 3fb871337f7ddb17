#include "analyzer/input/log/build/call_join.h"

#include "analyzer/base/parallel.h"

#include <algorithm>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr int64_t kToleranceNs = 2;

// Finds the launches of the driver calls of one system thread. Threads of a process share no launch, so groups are
// joined in parallel.
class GroupJoin {
 public:
  GroupJoin(Trace& trace, const ProcessThreads& threads) : trace_(trace), threads_(threads) {}

  // On return each call's `row` is the launch's row or a reason.
  void run(uint64_t group, DriverCall* first, DriverCall* last) const {
    const auto sort = static_cast<CallSort>(group >> 32);
    const auto by_time = [](const DriverCall& a, const DriverCall& b) { return a.time_ns < b.time_ns; };
    if (!std::is_sorted(first, last, by_time)) std::stable_sort(first, last, by_time);
    for (DriverCall* call = first; call != last; ++call) call->row = without_call(*call);
    const auto threads = threads_.of_tid.find(static_cast<uint32_t>(group));
    if (threads == threads_.of_tid.end()) return;
    for (const uint32_t thread : threads->second) {
      const Rows rows = trace_.threads[thread].host;
      if (sort == CallSort::Runtime) {
        place_around(first, last, rows);
      } else {
        place_in_thread(first, last, rows);
      }
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

  // Both lists are sorted by time. One pass, with the open calls of the recorder on a small stack.
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

  // The calls are sorted by time. If the activity kind is disabled while a thread is inside a driver call, CUPTI
  // reports that call's correlation id for all later calls of the thread. For such an id the launch of an operation is
  // unknown.
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

  // Spans of the runtime calls of a thread do not overlap: start and end are adjacent and have one correlation id. A
  // span may be longer than its call. A launch with the id of a driver call was made outside of it. For a call with
  // several launches the launch of an operation is unknown.
  void place_around(DriverCall* first, DriverCall* last, Rows rows) const {
    const Column<HostEvent>& host = trace_.host;
    uint32_t next = rows.first;
    for (DriverCall* call = first; last - call >= 2; ++call) {
      DriverCall* const end = call + 1;
      if (end->correlation != call->correlation) continue;  // the other record of the pair is lost
      while (next < rows.last && host[next].begin_ns < call->time_ns - kToleranceNs) ++next;
      uint32_t only = kNone;
      bool several = false;
      for (uint32_t row = next; row < rows.last && host[row].begin_ns <= end->time_ns; ++row) {
        if (!host[row].is_launch() || host[row].end_ns > end->time_ns + kToleranceNs) continue;
        if (host[row].correlation != 0 && host[row].correlation != call->correlation) continue;
        several = only != kNone;
        only = row;
        if (several) break;
      }
      if (only != kNone && !several && host[only].correlation == 0) {
        found(*call, only);
        end->row = only;
      }
      call = end;
    }
  }

  // The innermost open launch around the moment. Exact containment is tried before containment within the tolerance.
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

  Trace& trace_;
  const ProcessThreads& threads_;
};

}  // namespace

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

std::vector<CorrelationTable> join_calls(std::vector<ProcessCalls>& calls, const std::vector<ProcessThreads>& threads,
                                         Trace& trace, unsigned workers) {
  std::vector<CorrelationTable> tables;
  std::vector<std::pair<uint32_t, CallGroup>> groups;
  for (uint32_t p = 0; p < calls.size(); ++p) {
    tables.emplace_back(calls[p].rows);
    for (const CallGroup& group : calls[p].groups) groups.push_back({p, group});
  }
  // Driver calls come first, because their results are certain.
  const auto is_driver = [](const auto& group) {
    return static_cast<CallSort>(group.second.key >> 32) == CallSort::Driver;
  };
  const auto runtime = std::stable_partition(groups.begin(), groups.end(), is_driver);
  const auto join = [&](const std::pair<uint32_t, CallGroup>& of) {
    const auto& [process, group] = of;
    DriverCall* const first = calls[process].rows.data() + group.first;
    DriverCall* const last = calls[process].rows.data() + group.last;
    GroupJoin(trace, threads[process]).run(group.key, first, last);
    if (!tables[process].is_dense()) return;
    for (const DriverCall* call = first; call != last; ++call) tables[process].keep(call->correlation, call->row);
  };
  auto done = groups.begin();
  for (const auto until : {runtime, groups.end()}) {
    parallel_for(
        static_cast<size_t>(until - done), [&](size_t g) { join(done[static_cast<ptrdiff_t>(g)]); }, workers);
    done = until;
  }
  for (uint32_t p = 0; p < calls.size(); ++p) {
    if (!tables[p].is_dense()) tables[p].keep_sorted(calls[p].rows);
    calls[p].rows.free();
  }
  return tables;
}

}  // namespace prof::analyzer
