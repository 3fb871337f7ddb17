// Inside the Chrome trace writer: events as ready-made pieces of JSON with numbers between them. Every piece with text in
// it was escaped by json_string() once; per event only bytes are copied.
#pragma once

#include "analyzer/model/names.h"
#include "analyzer/model/queue_depth.h"
#include "analyzer/output/chrome_ids.h"
#include "analyzer/output/chrome_trace.h"
#include "analyzer/output/json_text.h"
#include "analyzer/output/sink.h"

namespace prof::analyzer {

// One comma-separated event after the other.
class EventList {
 public:
  explicit EventList(Sink& sink) : sink_(sink) {}

  // Room for an event of at most `bytes`; put the text there and give its end to end().
  char* begin(size_t bytes) {
    char* to = sink_.room(bytes + 2);
    if (events_ != 0) *to++ = ',';
    *to++ = '\n';
    return to;
  }
  void end(const char* to) {
    sink_.filled(to);
    ++events_;
  }
  void add(std::string_view event) { end(put_bytes(begin(event.size()), event)); }
  uint64_t events() const { return events_; }

 private:
  Sink& sink_;
  uint64_t events_ = 0;
};

// What all parts of the writer share.
struct ChromeContext {
  const Trace& trace;
  const KernelNames& names;
  const QueueDepth& depth;
  const ChromeTraceOptions& options;
  const ChromeIds& ids;
  EventList& events;
};

void write_chrome_metadata(const ChromeContext& context);
void write_chrome_host(const ChromeContext& context);
void write_chrome_nvtx(const ChromeContext& context);
void write_chrome_gpu(const ChromeContext& context);
void write_chrome_counters(const ChromeContext& context);

// NVTX paths as JSON strings, made when first asked for.
class PathTexts {
 public:
  explicit PathTexts(const Trace& trace) : trace_(trace), texts_(trace.paths.size()) {}
  const std::string& operator[](PathId path) {
    std::string& text = texts_[index(path)];
    if (text.empty()) text = json_string(path_text(trace_, path));
    return text;
  }

 private:
  const Trace& trace_;
  std::vector<std::string> texts_;
};

// `"pid":1,"tid":2,"ts":`
std::string track_piece(uint64_t pid, uint64_t tid);

}  // namespace prof::analyzer
