// What does the Chrome trace contain besides calls, ranges and operations? Allocations as Kineto's "[memory]" instants.
// From traces of other tools: synchronisations of streams, and ranges projected on a stream. From our logs: events of
// managed memory.
#include "analyzer/model/unified_memory_text.h"
#include "analyzer/output/chrome/chrome_writer.h"

#include <fmt/format.h>

namespace prof::analyzer {

namespace {

std::string micros(int64_t ns) {
  char digits[32];
  return std::string(digits, put_micros(digits, ns));
}

void write_allocation(const ChromeContext& context, const MemoryEvent& event) {
  const Thread& thread = context.trace.thread(event.thread);
  std::string args;
  if (event.reserved != 0) args += fmt::format("\"Total Reserved\":{},", event.reserved);
  if (event.allocated != 0) args += fmt::format("\"Total Allocated\":{},", event.allocated);
  args += fmt::format("\"Bytes\":{},\"Device Id\":{},\"Device Type\":{},\"Addr\":{}", event.bytes,
                      event.device == kNone ? -1 : static_cast<int64_t>(event.device), event.device == kNone ? 0 : 1,
                      event.address);
  context.events.add(fmt::format(
      "{{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",{}{},\"args\":{{{}}}}}",
      track_piece(context.ids.process[index(thread.process)], context.ids.thread[index(event.thread)]),
      micros(event.time_ns), args));
}

// The track of a stream; empty if the stream has no operations.
std::string stream_track(const ChromeContext& context, uint32_t stream) {
  if (context.ids.lanes[stream].empty()) return {};
  return track_piece(context.ids.device[index(context.trace.streams[stream].device)],
                     context.ids.lanes[stream].front());
}

// Written as instants of the stream, because a slice would cross those of operations that run meanwhile.
void write_sync(const ChromeContext& context, const SyncEvent& sync) {
  if (sync.stream == kNone || !context.writes(context.trace.streams[sync.stream].device)) return;
  const std::string track = stream_track(context, sync.stream);
  if (track.empty()) return;
  const ProcessId process = context.trace.process_of(StreamId{sync.stream});
  const auto id = [&](uint32_t correlation) { return ChromeIds::correlation(process, correlation); };
  std::string args = fmt::format("\"cuda_sync_kind\":\"{}\",\"stream\":{},\"correlation\":{},\"duration (us)\":{}",
                                 sync_name(sync.kind), context.trace.streams[sync.stream].number, id(sync.correlation),
                                 micros(std::max<int64_t>(sync.end_ns - sync.begin_ns, 0)));
  if (sync.waits_for != kNone)
    args += fmt::format(",\"wait_on_stream\":{}", context.trace.streams[sync.waits_for].number);
  if (sync.record_correlation != 0)
    args += fmt::format(",\"wait_on_cuda_event_record_corr_id\":{}", id(sync.record_correlation));
  if (sync.event_id != 0) args += fmt::format(",\"wait_on_cuda_event_id\":{}", sync.event_id);
  context.events.add(
      fmt::format("{{\"ph\":\"i\",\"cat\":\"cuda_sync\",\"s\":\"t\",\"name\":\"{}\",{}{},\"args\":{{{}}}}}",
                  sync_name(sync.kind), track, micros(sync.begin_ns), args));
}

// Written as async slices, because they enclose operations but need not nest with each other.
void write_annotation(const ChromeContext& context, const GpuAnnotation& annotation, size_t row) {
  const Trace& trace = context.trace;
  if (!context.writes(trace.stream(annotation.stream).device)) return;
  const std::string track = stream_track(context, index(annotation.stream));
  if (track.empty()) return;
  const std::string common = fmt::format("\"cat\":\"gpu_user_annotation\",\"id\":{},\"name\":{},{}", row + 1,
                                         json_string(trace.text(trace.labels[index(annotation.label)].text)), track);
  context.events.add(fmt::format("{{\"ph\":\"b\",{}{}}}", common, micros(annotation.start_ns)));
  context.events.add(
      fmt::format("{{\"ph\":\"e\",{}{}}}", common, micros(std::max(annotation.start_ns, annotation.end_ns))));
}

// Written as async slices beside the GPU. They overlap each other and the kernels that wait for them. CPU faults are
// written under their process.
void write_unified(const ChromeContext& context, const UnifiedMemoryEvent& event, size_t row) {
  if (!context.writes(event.process)) return;
  uint64_t pid = context.ids.process[index(event.process)];
  const uint32_t place = event.destination != 0 ? event.destination : event.source;
  for (size_t d = 0; d < context.trace.devices.size(); ++d) {
    const Device& device = context.trace.devices[d];
    if (place != 0 && device.process == event.process && device.ordinal == place - 1) pid = context.ids.device[d];
  }
  std::string name(unified_what_text(event.what));
  if (event.moves())
    name += fmt::format(" {} to {}", unified_place_text(event.source), unified_place_text(event.destination));
  const std::string common = fmt::format("\"cat\":\"unified_memory\",\"id\":\"um{}\",\"name\":{},{}", row + 1,
                                         json_string(name), track_piece(pid, 0));
  context.events.add(fmt::format("{{\"ph\":\"b\",{}{},\"args\":{{\"{}\":{},\"Addr\":{}}}}}", common,
                                 micros(event.start_ns), event.moves() ? "Bytes" : "Count", event.value,
                                 event.address));
  context.events.add(fmt::format("{{\"ph\":\"e\",{}{}}}", common, micros(std::max(event.start_ns, event.end_ns))));
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
  for (const MemoryEvent& event : trace.memory) {
    if (context.writes(trace.thread(event.thread).process)) write_allocation(context, event);
  }
  for (const SyncEvent& sync : trace.syncs) write_sync(context, sync);
  for (size_t row = 0; row < trace.gpu_annotations.size(); ++row) {
    write_annotation(context, trace.gpu_annotations[row], row);
  }
  for (size_t row = 0; row < trace.unified.size(); ++row) write_unified(context, trace.unified[row], row);
}

}  // namespace prof::analyzer
