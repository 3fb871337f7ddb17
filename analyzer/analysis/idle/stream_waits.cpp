#include "analyzer/analysis/idle/stream_waits.h"

#include "analyzer/dependencies/recorded_events.h"
#include "analyzer/dependencies/value_waits.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace prof::analyzer {

StreamWaits::StreamWaits(const Trace& trace, const CallTable& calls)
    : trace_(trace), waits_(trace.streams.size()), functions_(trace.streams.size()) {
  add_reported(trace, calls);
  for (const EventWait& wait : event_waits(trace, calls)) {
    const HostEvent& event = trace.host[wait.call];
    const uint32_t stream = trace.host_streams[index(event.stream)].stream;
    if (calls.role(event) != CallRole::StreamWait || stream == kNone) continue;
    Wait& added = waits_[stream].emplace_back(Wait{event.begin_ns, wait.stream, wait.call, false});
    if (wait.record != kNone) added.record_ns = trace.host[wait.record].begin_ns;
  }
  add_calls(trace, calls);
  for (auto* const of_streams : {&waits_, &functions_}) {
    for (std::vector<Wait>& waits : *of_streams) {
      std::stable_sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.time_ns < b.time_ns; });
    }
  }
}

namespace {

// A reported wait names the other stream by its number, without its device. If the stream of that number on the
// waiting one's device has no operation, or is the waiting one, it is another device's. kNone: several have one.
uint32_t stream_of_number(const Trace& trace, const SyncEvent& sync) {
  if (sync.waits_for == kNone) return kNone;
  const Stream& named = trace.streams[sync.waits_for];
  if (named.operations.size() != 0 && sync.waits_for != sync.stream) return sync.waits_for;
  uint32_t found = kNone;
  for (uint32_t s = 0; s < trace.streams.size(); ++s) {
    const Stream& other = trace.streams[s];
    if (other.number != named.number || other.device == named.device || other.operations.size() == 0 ||
        trace.device(other.device).process != trace.device(named.device).process)
      continue;
    if (found != kNone) return kNone;
    found = s;
  }
  return found != kNone ? found : sync.waits_for;
}

}  // namespace

// Waits that CUPTI reported. A wait names the call that recorded the event by its correlation id.
void StreamWaits::add_reported(const Trace& trace, const CallTable& calls) {
  const auto key = [](ProcessId process, uint32_t correlation) { return uint64_t{index(process)} << 32 | correlation; };
  std::unordered_map<uint64_t, int64_t> recorded_ns;
  if (std::any_of(trace.syncs.begin(), trace.syncs.end(),
                  [](const SyncEvent& sync) { return sync.record_correlation != 0; })) {
    for (const HostEvent& event : trace.host) {
      if (event.correlation != 0 && calls.role(event) == CallRole::EventRecord)
        recorded_ns.emplace(key(trace.thread(event.thread).process, event.correlation), event.begin_ns);
    }
  }
  std::unordered_map<uint64_t, uint32_t> others;  // waiting stream and the one that is named -> stream_of_number()
  for (const SyncEvent& sync : trace.syncs) {
    if (sync.kind != SyncKind::StreamWaitEvent || sync.stream == kNone) continue;
    const int64_t time_ns = sync.call != kNone ? trace.host[sync.call].begin_ns : sync.begin_ns;
    const uint64_t pair = uint64_t{sync.stream} << 32 | sync.waits_for;
    const auto [other, unknown] = others.try_emplace(pair);
    if (unknown) other->second = stream_of_number(trace, sync);
    Wait& added = waits_[sync.stream].emplace_back(Wait{time_ns, other->second, sync.call, false});
    if (sync.record_correlation == 0 || sync.call == kNone) continue;
    const ProcessId process = trace.thread(trace.host[sync.call].thread).process;
    const auto found = recorded_ns.find(key(process, sync.record_correlation));
    if (found != recorded_ns.end()) added.record_ns = found->second;
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
    int64_t record_ns = std::numeric_limits<int64_t>::max();
    for (const uint32_t write : values.writes_for(static_cast<uint32_t>(&op - trace.memory_ops.data()))) {
      const HostEvent& writer = trace.host[trace.memory_ops[write].call];
      const uint32_t of_write = trace.host_streams[index(writer.stream)].stream;
      // The first of the writes that may have ended the wait.
      record_ns = std::min(record_ns, writer.begin_ns);
      other = std::exchange(first, false) || other == of_write ? of_write : kNone;
    }
    waits_[stream].push_back({event.begin_ns, other, op.call, true, record_ns});
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

int64_t StreamWaits::awaited_end_ns(const Wait& wait, int64_t until_ns) const {
  if (wait.other == kNone) return std::numeric_limits<int64_t>::min();
  const Rows rows = trace_.streams[wait.other].operations;
  const GpuOperation* const first = trace_.operations.data() + rows.first;
  // A stream runs its operations in the order in which they were launched.
  const GpuOperation* const after =
      std::partition_point(first, trace_.operations.data() + rows.last, [&](const GpuOperation& operation) {
        return operation.start_ns < until_ns &&
               (!operation.linked() || trace_.host[operation.launch].begin_ns < wait.record_ns);
      });
  return after == first ? std::numeric_limits<int64_t>::min() : after[-1].last_ns();
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
