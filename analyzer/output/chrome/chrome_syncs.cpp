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
  explicit SyncWriter(const ChromeContext& context)
      : context_(context), syncs_(context.trace), members_(context.events) {}

  void thread(ThreadId id) {
    const Trace& trace = context_.trace;
    const Thread& thread = trace.thread(id);
    tracks_.clear();
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
      if (!context_.selects_call(row)) continue;
      const std::optional<CallSync> sync = syncs_.of(row);
      if (sync && context_.selects_device(sync->device)) write(*sync, row, id, thread.process);
    }
  }

 private:
  void write(const CallSync& sync, uint32_t row, ThreadId thread, ProcessId process) {
    const Trace& trace = context_.trace;
    const HostEvent& event = trace.host[row];
    const std::string& track = track_of(sync.device, thread);
    const std::string_view name = sync_name(sync.kind);
    std::string& head = heads_[name];
    if (head.empty()) head = context_.events.slice_head("cuda_sync", name);
    members_.clear();
    members_.add_text(EventKey::SyncKind, context_.events.text(name));
    if (sync.record != kNone) {
      members_.add_count(EventKey::WaitOnStream, trace.streams[sync.record_on].number);
      members_.add_count(EventKey::WaitOnRecord, context_.ids.call(process, trace.host[sync.record], sync.record));
      members_.add_count(EventKey::WaitOnEvent, sync.event);
    }
    members_.add_signed(EventKey::Stream, sync.stream == kNone ? -1 : int64_t{trace.streams[sync.stream].number});
    members_.add_count(EventKey::Correlation, context_.ids.call(process, event, row));
    members_.add_count(EventKey::Device, trace.device(sync.device).ordinal);
    members_.add_count(EventKey::Context, sync.context);
    context_.events.slice(head, track, event.begin_ns, event.duration_ns(), members_);
  }

  const std::string& track_of(DeviceId device, ThreadId thread) {
    std::string& track = tracks_[device];
    if (!track.empty()) return track;
    const uint64_t pid = context_.ids.device[index(device)], tid = ChromeIds::sync_track(thread);
    const Thread& waiting = context_.trace.thread(thread);
    context_.events.name_track(pid, tid, fmt::format("waits of thread {} ({})", waiting.tid, waiting.name), tid);
    return track = context_.events.track(pid, tid);
  }

  const ChromeContext& context_;
  const CallSyncs syncs_;
  std::map<DeviceId, std::string> tracks_;  // of the current thread
  std::map<std::string_view, std::string> heads_;
  EventMembers members_;
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
