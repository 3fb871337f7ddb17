// The interface inside the Chrome trace writer. Events consist of ready-made pieces of JSON with numbers between them.
// Pieces that contain text are escaped once, by json_string(). For each event, only bytes are copied.
#pragma once

#include "analyzer/analysis/views.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/sink.h"
#include "analyzer/output/chrome/augment.h"
#include "analyzer/output/chrome/chrome_arrows.h"
#include "analyzer/output/chrome/chrome_ids.h"
#include "analyzer/output/chrome/chrome_pieces.h"
#include "analyzer/output/chrome/chrome_stacks.h"
#include "analyzer/output/chrome/chrome_trace.h"

#include <set>
#include <string>
#include <vector>

namespace prof::analyzer {

// Writes events, separated by commas.
class EventList {
 public:
  explicit EventList(Sink& sink) : sink_(sink) {}

  // Returns room for an event of at most `bytes`. Write the text there, then pass its end to end().
  char* begin(size_t bytes) { return put_bytes(sink_.room(bytes + 2), separator()); }
  void end(const char* to) {
    sink_.filled(to);
    ++events_;
  }
  void add(std::string_view event) { end(put_bytes(begin(event.size()), event)); }
  uint64_t events() const { return events_; }

  // For code that writes events by itself: the separator before the next event, and the number of events so far.
  std::string_view separator() const { return events_ != 0 ? ",\n" : "\n"; }
  void follow(uint64_t events) { events_ = events; }
  Sink& sink() { return sink_; }

 private:
  Sink& sink_;
  uint64_t events_ = 0;
};

// What all files of the writer share.
struct ChromeContext {
  const Trace& trace;
  const Views& views;
  const ChromeIds& ids;
  EventList& events;
  Augment* augment;                             // null: write only what was recorded
  ChromeArrows* arrows;                         // null: no arrows
  ChromeStacks* stacks;                         // null: no call stacks
  std::vector<bool> copied;                     // by ProcessId: whether its events are copied from its file
  std::vector<std::string> device_pids;         // JSON, by DeviceId: pids for counters
  std::vector<std::set<std::string>> counters;  // by ProcessId: counters of its file, as in ChromeCopy::counters()
  int64_t offset_ns = 0;                        // added to times of the model

  bool writes(ProcessId process) const { return !copied[index(process)]; }
  bool writes(DeviceId device) const { return writes(trace.device(device).process); }
};

// Appends `,"sf":12` if there is a frame.
inline char* put_frame(char* to, uint32_t frame) {
  return frame == 0 ? to : put_decimal(put_bytes(to, ",\"sf\":"), frame);
}

// Writes the name of a track and its position among the tracks of its process.
void write_chrome_thread(const ChromeContext& context, uint64_t pid, uint64_t tid, std::string_view name,
                         uint64_t sort);
// Kineto's name of the synchronisation kind.
std::string_view sync_name(SyncKind kind);

void write_chrome_metadata(const ChromeContext& context);
void write_chrome_host(const ChromeContext& context);
void write_chrome_ranges(const ChromeContext& context);
void write_chrome_forward_backward(const ChromeContext& context);
void write_chrome_memory(const ChromeContext& context);
void write_chrome_annotations(const ChromeContext& context);  // before the operations, which they enclose
void write_chrome_gpu(const ChromeContext& context);
void write_chrome_syncs(const ChromeContext& context);
void write_chrome_counter_ranges(const ChromeContext& context);
void write_chrome_counters(const ChromeContext& context);
void write_program_counters(const ChromeContext& context);  // these are recorded, so plain traces have them too

}  // namespace prof::analyzer
