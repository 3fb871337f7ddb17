// What does the Chrome trace contain besides calls, ranges and operations? Allocations as Kineto's "[memory]" instants.
// From traces of other tools: synchronisations of streams, and ranges projected on a stream. From our logs: events of
// managed memory.
#include "analyzer/model/unified_memory_text.h"
#include "analyzer/output/chrome/chrome_writer.h"

#include <fmt/format.h>

namespace prof::analyzer {

namespace {

void write_allocation(const ChromeContext& context, const MemoryEvent& event, EventMembers& members) {
  const Thread& thread = context.trace.thread(event.thread);
  members.clear();
  if (event.reserved != 0) members.add_count(EventKey::TotalReserved, event.reserved);
  if (event.allocated != 0) members.add_count(EventKey::TotalAllocated, event.allocated);
  members.add_signed(EventKey::Bytes, event.bytes);
  members.add_signed(EventKey::DeviceId, event.device == kNone ? -1 : static_cast<int64_t>(event.device));
  members.add_count(EventKey::DeviceType, event.device == kNone ? 0 : 1);
  members.add_count(EventKey::Address, event.address);
  context.events.instant(
      context.events.instant_head("cpu_instant_event", "[memory]", false),
      context.events.track(context.ids.process[index(thread.process)], context.ids.thread[index(event.thread)]),
      event.time_ns, members);
}

// Written as instants of the stream, because a slice would cross those of operations that run meanwhile.
void write_sync(const ChromeContext& context, const SyncEvent& sync, EventMembers& members) {
  if (sync.stream == kNone || !context.writes(context.trace.streams[sync.stream].device)) return;
  if (context.ids.lanes[sync.stream].empty()) return;  // the stream has no operations
  if (!context.in_window(sync.begin_ns, sync.end_ns) ||
      !context.selects_device(context.trace.streams[sync.stream].device))
    return;
  const ProcessId process = context.trace.process_of(StreamId{sync.stream});
  const auto id = [&](uint32_t correlation) { return ChromeIds::correlation(process, correlation); };
  members.clear();
  members.add_text(EventKey::SyncKind, context.events.text(sync_name(sync.kind)));
  members.add_count(EventKey::Stream, context.trace.streams[sync.stream].number);
  members.add_count(EventKey::Correlation, id(sync.correlation));
  members.add_micros(EventKey::Duration, std::max<int64_t>(sync.end_ns - sync.begin_ns, 0));
  if (sync.waits_for != kNone) members.add_count(EventKey::WaitOnStream, context.trace.streams[sync.waits_for].number);
  if (sync.record_correlation != 0) members.add_count(EventKey::WaitOnRecord, id(sync.record_correlation));
  if (sync.event_id != 0) members.add_count(EventKey::WaitOnEvent, sync.event_id);
  context.events.instant(context.events.instant_head("cuda_sync", sync_name(sync.kind), false),
                         context.events.track(context.ids.device[index(context.trace.streams[sync.stream].device)],
                                              context.ids.lanes[sync.stream].front()),
                         sync.begin_ns, members);
}

// Written as async slices, because they enclose operations but need not nest with each other.
void write_annotation(const ChromeContext& context, const GpuAnnotation& annotation, size_t row) {
  const Trace& trace = context.trace;
  if (!context.writes(trace.stream(annotation.stream).device)) return;
  const uint32_t stream = index(annotation.stream);
  if (context.ids.lanes[stream].empty() || !context.in_window(annotation.start_ns, annotation.end_ns) ||
      !context.selects_device(trace.streams[stream].device))
    return;
  if (context.selection != nullptr && !context.selection->nvtx.has_label(annotation.label)) return;
  context.events.async("gpu_user_annotation", fmt::format("{}", row + 1),
                       trace.text(trace.labels[index(annotation.label)].text),
                       context.ids.device[index(trace.streams[stream].device)], context.ids.lanes[stream].front(),
                       annotation.start_ns, std::max(annotation.start_ns, annotation.end_ns), nullptr);
}

// Written as async slices beside the GPU. They overlap each other and the kernels that wait for them. CPU faults are
// written under their process.
void write_unified(const ChromeContext& context, const UnifiedMemoryEvent& event, size_t row, EventMembers& members) {
  if (!context.writes(event.process)) return;
  if (context.selection != nullptr && !context.selection->has_unified(event)) return;
  uint64_t pid = context.ids.process[index(event.process)];
  const uint32_t place = event.destination != 0 ? event.destination : event.source;
  for (size_t d = 0; d < context.trace.devices.size(); ++d) {
    const Device& device = context.trace.devices[d];
    if (place != 0 && device.process == event.process && device.ordinal == place - 1) pid = context.ids.device[d];
  }
  std::string name(unified_what_text(event.what));
  if (event.moves())
    name += fmt::format(" {} to {}", unified_place_text(event.source), unified_place_text(event.destination));
  members.clear();
  members.add_count(event.moves() ? EventKey::Bytes : EventKey::Faults, event.value);
  members.add_count(EventKey::Address, event.address);
  context.events.async("unified_memory", fmt::format("\"um{}\"", row + 1), name, pid, 0, event.start_ns,
                       std::max(event.start_ns, event.end_ns), &members);
}

}  // namespace

std::string_view sync_name(SyncKind kind) {
  switch (kind) {
    case SyncKind::Event: return "Event Sync";
    case SyncKind::StreamWaitEvent: return "Stream Wait Event";
    case SyncKind::Stream: return "Stream Sync";
    case SyncKind::Context: return "Context Sync";
    case SyncKind::Unknown: break;
  }
  return "Unknown Sync";
}

void write_chrome_memory(const ChromeContext& context) {
  const Trace& trace = context.trace;
  EventMembers members(context.events);
  for (const MemoryEvent& event : trace.memory) {
    if (context.writes(trace.thread(event.thread).process) && context.selects_moment(event.thread, event.time_ns))
      write_allocation(context, event, members);
  }
  for (const SyncEvent& sync : trace.syncs) write_sync(context, sync, members);
  for (size_t row = 0; row < trace.gpu_annotations.size(); ++row) {
    write_annotation(context, trace.gpu_annotations[row], row);
  }
  for (size_t row = 0; row < trace.unified.size(); ++row) write_unified(context, trace.unified[row], row, members);
}

}  // namespace prof::analyzer
