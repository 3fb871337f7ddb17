#include "analyzer/input/kineto/kineto_launchers.h"

#include <algorithm>
#include <tuple>

namespace prof::analyzer {

namespace {

uint64_t at_or_zero(const Column<uint64_t>& column, size_t row) { return row < column.size() ? column[row] : 0; }

}  // namespace

std::vector<KinetoLaunchers::Call> KinetoLaunchers::sorted_calls() const {
  std::vector<Call> calls;
  for (uint32_t row = mark_.host; row < trace_.host.size(); ++row) {
    const HostEvent& event = trace_.host[row];
    if (event.correlation == 0) continue;
    calls.push_back({at_or_zero(call_external_, row - mark_.host), event.begin_ns, event.correlation,
                     index(trace_.thread(event.thread).process)});
  }
  std::sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
    return a.correlation != b.correlation ? a.correlation < b.correlation : a.begin_ns < b.begin_ns;
  });
  return calls;
}

void KinetoLaunchers::sort_arrows() {
  std::sort(at_calls_.begin(), at_calls_.end(), [](const ArrowAtCall& a, const ArrowAtCall& b) { return a.id < b.id; });
  std::sort(at_operations_.begin(), at_operations_.end(), [](const ArrowAtOperation& a, const ArrowAtOperation& b) {
    return std::tie(a.time_ns, a.pid, a.stream) < std::tie(b.time_ns, b.pid, b.stream);
  });
}

// The process in which the arrow to the operation starts; kNone: there is none, or arrows of several processes have its
// id.
uint32_t KinetoLaunchers::by_arrows(const GpuOperation& operation, const KinetoStreams& streams,
                                    const KinetoThreads& threads) const {
  const KinetoStreamKey& stream = streams.key(operation.stream_index);
  const auto ends = std::equal_range(
      at_operations_.begin(), at_operations_.end(), ArrowAtOperation{operation.start_ns, 0, stream.pid, stream.number},
      [](const ArrowAtOperation& a, const ArrowAtOperation& b) {
        return std::tie(a.time_ns, a.pid, a.stream) < std::tie(b.time_ns, b.pid, b.stream);
      });
  uint32_t process = kNone;
  for (auto end = ends.first; end != ends.second; ++end) {
    const auto starts = std::equal_range(at_calls_.begin(), at_calls_.end(), ArrowAtCall{end->id, {}},
                                         [](const ArrowAtCall& a, const ArrowAtCall& b) { return a.id < b.id; });
    for (auto start = starts.first; start != starts.second; ++start) {
      const uint32_t known = threads.find_process(start->pid);
      if (known == kNone || (process != kNone && process != known)) return kNone;
      process = known;
    }
  }
  return process;
}

LaunchingProcesses KinetoLaunchers::find(const KinetoStreams& streams, const KinetoThreads& threads,
                                         KinetoSummary& summary) {
  LaunchingProcesses found;
  if (trace_.processes.size() - mark_.processes == 1) {
    found.only = mark_.processes;
  } else {
    const std::vector<Call> calls = sorted_calls();
    sort_arrows();
    const auto find_one = [&](uint32_t correlation, uint64_t external, int64_t start_ns,
                              const GpuOperation* operation) {
      const auto [first, last] =
          std::equal_range(calls.begin(), calls.end(), Call{0, 0, correlation, 0},
                           [](const Call& a, const Call& b) { return a.correlation < b.correlation; });
      if (correlation == 0 || first == last) return kNone;
      const uint32_t first_process = first->process;
      if (std::all_of(first, last, [&](const Call& call) { return call.process == first_process; }))
        return first_process;
      uint32_t process = kNone;
      bool one = true;
      for (auto call = first; call != last && external != 0; ++call) {
        if (call->external != external) continue;
        one = one && (process == kNone || process == call->process);
        process = call->process;
      }
      if (process != kNone && one) return process;
      process = operation == nullptr ? kNone : by_arrows(*operation, streams, threads);
      if (process != kNone && std::any_of(first, last, [&](const Call& call) { return call.process == process; }))
        return process;
      summary.aside(KinetoAside::AmbiguousProcess);
      process = first_process;
      for (auto call = first; call != last && call->begin_ns <= start_ns; ++call) process = call->process;
      return process;
    };
    for (uint32_t row = mark_.operations; row < trace_.operations.size(); ++row) {
      const GpuOperation& operation = trace_.operations[row];
      found.operations.push_back(find_one(operation.correlation,
                                          at_or_zero(operation_external_, row - mark_.operations), operation.start_ns,
                                          &operation));
    }
    for (uint32_t row = mark_.syncs; row < trace_.syncs.size(); ++row)
      found.syncs.push_back(find_one(trace_.syncs[row].correlation, 0, trace_.syncs[row].end_ns, nullptr));
  }
  call_external_.free();
  operation_external_.free();
  at_calls_ = {};
  at_operations_ = {};
  return found;
}

}  // namespace prof::analyzer
