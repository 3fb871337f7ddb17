// What did each call of a log make wait, and for what? They are written as Kineto's cuda_sync under the GPU, because
// readers look there. Each calling thread has a track of its own, because a wait crosses the operations that run
// meanwhile. `stream` is the stream that waits, or the one that is waited for. As in CUPTI, -1 means an event or a
// context.
#include "analyzer/dependencies/call_syncs.h"
#include "analyzer/output/chrome/chrome_writer.h"

#include <fmt/format.h>

#include <map>

namespace prof::analyzer {

namespace {

class SyncWriter {
 public:
  explicit SyncWriter(const ChromeContext& context) : context_(context), syncs_(context.trace) {}

  void thread(ThreadId id) {
    const Trace& trace = context_.trace;
    const Thread& thread = trace.thread(id);
    tracks_.clear();
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
      if (const std::optional<CallSync> sync = syncs_.of(row)) write(*sync, row, id, thread.process);
    }
  }

 private:
  void write(const CallSync& sync, uint32_t row, ThreadId thread, ProcessId process) {
    const Trace& trace = context_.trace;
    const HostEvent& event = trace.host[row];
    const std::string& track = track_of(sync.device, thread);
    const std::string_view name = sync_name(sync.kind);
    char* to = context_.events.begin(track.size() + 2 * name.size() + 400);
    to = put_bytes(put_bytes(to, "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\""), name);
    to = put_micros(put_bytes(put_bytes(to, "\","), track), event.begin_ns);
    to = put_micros(put_bytes(to, ",\"dur\":"), event.duration_ns());
    to = put_bytes(put_bytes(to, ",\"args\":{\"cuda_sync_kind\":\""), name);
    *to++ = '"';
    if (sync.record != kNone) {
      to = put_decimal(put_bytes(to, ",\"wait_on_stream\":"), trace.streams[sync.record_on].number);
      to = put_decimal(put_bytes(to, ",\"wait_on_cuda_event_record_corr_id\":"),
                       context_.ids.call(process, trace.host[sync.record], sync.record));
      to = put_decimal(put_bytes(to, ",\"wait_on_cuda_event_id\":"), sync.event);
    }
    to = put_signed(put_bytes(to, ",\"stream\":"),
                    sync.stream == kNone ? -1 : int64_t{trace.streams[sync.stream].number});
    to = put_decimal(put_bytes(to, ",\"correlation\":"), context_.ids.call(process, event, row));
    to = put_decimal(put_bytes(to, ",\"device\":"), trace.device(sync.device).ordinal);
    to = put_decimal(put_bytes(to, ",\"context\":"), sync.context);
    context_.events.end(put_bytes(to, "}}"));
  }

  const std::string& track_of(DeviceId device, ThreadId thread) {
    std::string& track = tracks_[device];
    if (!track.empty()) return track;
    const uint64_t pid = context_.ids.device[index(device)], tid = ChromeIds::sync_track(thread);
    const Thread& waiting = context_.trace.thread(thread);
    write_chrome_thread(context_, pid, tid, fmt::format("waits of thread {} ({})", waiting.tid, waiting.name), tid);
    return track = track_piece(pid, tid);
  }

  const ChromeContext& context_;
  const CallSyncs syncs_;
  std::map<DeviceId, std::string> tracks_;  // of the current thread
};

}  // namespace

void write_chrome_syncs(const ChromeContext& context) {
  const Trace& trace = context.trace;
  SyncWriter writer(context);
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    const Process& process = trace.processes[index(trace.threads[t].process)];
    if (context.writes(trace.threads[t].process) && process.is_prof_log()) writer.thread(ThreadId{t});
  }
}

}  // namespace prof::analyzer
