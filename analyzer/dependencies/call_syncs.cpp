#include "analyzer/dependencies/call_syncs.h"

#include <algorithm>

namespace prof::analyzer {

CallSyncs::CallSyncs(const Trace& trace) : trace_(trace), calls_(trace), waits_(event_waits(trace, calls_)) {
  std::sort(waits_.begin(), waits_.end(), [](const EventWait& a, const EventWait& b) { return a.call < b.call; });
}

const EventWait* CallSyncs::wait_of(uint32_t call) const {
  const auto found = std::lower_bound(waits_.begin(), waits_.end(), call,
                                      [](const EventWait& wait, uint32_t row) { return wait.call < row; });
  return found != waits_.end() && found->call == call ? &*found : nullptr;
}

std::optional<CallSync> CallSyncs::of(uint32_t call) const {
  const HostEvent& event = trace_.host[call];
  if (event.kind() != HostKind::Call || event.result() != 0) return {};
  const CallTraits traits = calls_.of(event);
  if (traits.waits == WaitScope::None && !traits.orders_stream && !traits.asks_event) return {};
  if (event.has(kHostNested) || event.has(kHostUnfinished)) return {};
  if (traits.asks_event || traits.waits == WaitScope::Event) return of_event(call);
  if (traits.waits == WaitScope::Device) {
    const HandleKey context{index(trace_.thread(event.thread).process), event.subject};
    const auto known = contexts_.find(context);
    return known != contexts_.end() ? known->second : contexts_.emplace(context, of_context(context)).first->second;
  }
  const uint32_t stream = trace_.host_streams[index(event.stream)].stream;
  if (traits.waits == WaitScope::Stream) return of_stream(SyncKind::Stream, stream);
  if (!traits.orders_stream) return {};
  std::optional<CallSync> of_record = of_event(call);
  if (!of_record || of_record->record_on == stream) return {};
  std::optional<CallSync> sync = of_stream(SyncKind::StreamWaitEvent, stream);
  if (sync) {
    sync->record_on = of_record->record_on;
    sync->record = of_record->record;
    sync->event = of_record->event;
  }
  return sync;
}

std::optional<CallSync> CallSyncs::of_stream(SyncKind kind, uint32_t stream) const {
  if (stream == kNone || trace_.streams[stream].operations.size() == 0) return {};
  CallSync sync;
  sync.kind = kind;
  sync.device = trace_.streams[stream].device;
  sync.context = trace_.streams[stream].context;
  sync.stream = stream;
  return sync;
}

std::optional<CallSync> CallSyncs::of_event(uint32_t call) const {
  const EventWait* const wait = wait_of(call);
  if (wait == nullptr || wait->captured || wait->record == kNone) return {};
  std::optional<CallSync> sync = of_stream(SyncKind::Event, wait->stream);
  if (!sync) return {};
  sync->record_on = sync->stream;
  sync->stream = kNone;
  sync->record = wait->record;
  sync->event = wait->event;
  return sync;
}

// The context that the call names, else the only device that the process used: the trace does not have a thread's
// current device.
std::optional<CallSync> CallSyncs::of_context(HandleKey context) const {
  uint32_t named = kNone;  // ordinal of its device
  for (const HostStream& stream : trace_.host_streams) {
    if (context.handle != 0 && index(stream.process) == context.process && stream.context_handle == context.handle)
      named = stream.device;
  }
  const Stream* only = nullptr;
  for (const Stream& stream : trace_.streams) {
    const Device& device = trace_.device(stream.device);
    if (stream.operations.size() == 0 || index(device.process) != context.process) continue;
    if (named != kNone && device.ordinal != named) continue;
    if (only != nullptr && only->device != stream.device) return {};
    if (only == nullptr) only = &stream;
  }
  if (only == nullptr) return {};
  CallSync sync;
  sync.kind = SyncKind::Context;
  sync.device = only->device;
  sync.context = only->context;
  return sync;
}

}  // namespace prof::analyzer
