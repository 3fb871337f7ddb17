#include "analyzer/analysis/idle/stream_waits.h"

#include "analyzer/dependencies/recorded_events.h"
#include "analyzer/dependencies/value_waits.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace prof::analyzer {

StreamWaits::StreamWaits(const Trace& trace, const CallTable& calls)
    : trace_(trace), waits_(trace.streams.size()), functions_(trace.streams.size()) {
  for (const SyncEvent& sync : trace.syncs) {
    if (sync.kind != SyncKind::StreamWaitEvent || sync.stream == kNone) continue;
    const int64_t time_ns = sync.call != kNone ? trace.host[sync.call].begin_ns : sync.begin_ns;
    waits_[sync.stream].push_back({time_ns, sync.waits_for, sync.call, false});
  }
  for (const EventWait& wait : event_waits(trace, calls)) {
    const HostEvent& event = trace.host[wait.call];
    const uint32_t stream = trace.host_streams[index(event.stream)].stream;
    if (calls.role(event) == CallRole::StreamWait && stream != kNone)
      waits_[stream].push_back({event.begin_ns, wait.stream, wait.call, false});
  }
  add_calls(trace, calls);
  for (auto* const of_streams : {&waits_, &functions_}) {
    for (std::vector<Wait>& waits : *of_streams) {
      std::stable_sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.time_ns < b.time_ns; });
    }
  }
}

void StreamWaits::add_calls(const Trace& trace, const CallTable& calls) {
  const ValueWaits values(trace);
  for (const StreamMemoryOp& op : trace.memory_ops) {
    if (!op.waits() || op.call == kNone) continue;
    const HostEvent& event = trace.host[op.call];
    const uint32_t stream = trace.host_streams[index(event.stream)].stream;
    if (stream == kNone) continue;
    uint32_t other = kNone;
    bool first = true;
    for (const uint32_t write : values.writes_for(static_cast<uint32_t>(&op - trace.memory_ops.data()))) {
      const HostEvent& writer = trace.host[trace.memory_ops[write].call];
      const uint32_t of_write = trace.host_streams[index(writer.stream)].stream;
      other = std::exchange(first, false) || other == of_write ? of_write : kNone;
    }
    waits_[stream].push_back({event.begin_ns, other, op.call, true});
  }
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    const HostEvent& event = trace.host[row];
    if (event.kind() != HostKind::Call || calls.role(event) != CallRole::HostFunction || event.result() != 0) continue;
    const uint32_t stream = trace.host_streams[index(event.stream)].stream;
    if (stream != kNone) functions_[stream].push_back({event.begin_ns, kNone, row, false});
  }
}

StreamWaits::Before StreamWaits::before_operation(uint32_t operation, int64_t launch_ns) const {
  const StreamId stream = trace_.operations[operation].stream();
  const GpuOperation* const previous =
      operation > trace_.stream(stream).operations.first ? &trace_.operations[operation - 1] : nullptr;
  const int64_t after_ns = previous != nullptr && previous->linked() ? trace_.host[previous->launch].begin_ns
                                                                     : std::numeric_limits<int64_t>::min();
  Before before;
  before.wait = last_of(waits_[index(stream)], after_ns, launch_ns);
  before.function = last_of(functions_[index(stream)], after_ns, launch_ns);
  if (before.function != nullptr) {
    before.function_ns = before.function->time_ns;
    if (previous != nullptr) before.function_ns = std::max(before.function_ns, previous->end_ns);
  }
  return before;
}

bool StreamWaits::ended_after(uint32_t stream, int64_t after_ns, int64_t until_ns) const {
  const Rows rows = trace_.streams[stream].operations;
  const GpuOperation* const first = trace_.operations.data() + rows.first;
  const GpuOperation* const after =
      std::partition_point(first, trace_.operations.data() + rows.last,
                           [&](const GpuOperation& operation) { return operation.start_ns < until_ns; });
  return after != first && after[-1].end_ns > after_ns;
}

const StreamWaits::Wait* StreamWaits::last_of(const std::vector<Wait>& waits, int64_t after_ns, int64_t until_ns) {
  const auto after =
      std::partition_point(waits.begin(), waits.end(), [&](const Wait& wait) { return wait.time_ns <= until_ns; });
  if (after == waits.begin() || after[-1].time_ns <= after_ns) return nullptr;
  return &after[-1];
}

}  // namespace prof::analyzer
