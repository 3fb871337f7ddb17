// Host threads of the Chrome trace: API calls (cuda_driver), where launches start their flows.
#include "analyzer/output/chrome_writer.h"

namespace prof::analyzer {

namespace {

// `{"ph":"X","cat":"cuda_driver","name":"cuLaunchKernel",` of every call
std::vector<std::string> call_pieces(const Trace& trace) {
  std::vector<std::string> pieces;
  for (size_t i = 0; i < trace.apis.size(); ++i) {
    const std::string_view name = i == 0 ? "[unknown call]" : plain_api_name(trace.text(trace.apis[i]));
    pieces.push_back("{\"ph\":\"X\",\"cat\":\"cuda_driver\",\"name\":" + json_string(name) + ",");
  }
  return pieces;
}

char* put_field(char* to, bool& first, std::string_view key) {
  if (!first) *to++ = ',';
  first = false;
  return put_bytes(to, key);
}

class HostWriter {
 public:
  explicit HostWriter(const ChromeContext& context)
      : context_(context),
        calls_(call_pieces(context.trace)),
        paths_(context.trace),
        kernels_(context.trace.kernels.size()) {}

  void thread(ThreadId id) {
    const Trace& trace = context_.trace;
    const Thread& thread = trace.thread(id);
    process_ = thread.process;
    track_ = track_piece(context_.ids.process[index(process_)], context_.ids.thread[index(id)]);
    PathCursor path(trace, id);
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
      const HostEvent& event = trace.host[row];
      call(event, row, context_.options.plain ? PathId{} : path.at(event.begin_ns));
    }
  }

 private:
  void call(const HostEvent& event, uint32_t row, PathId path) {
    const std::string& head = calls_[event.api()];
    const std::string* const path_text = index(path) != 0 ? &paths_[path] : nullptr;
    const std::string* const kernel = event.kind() == HostKind::KernelLaunch && !context_.options.plain
                                          ? &kernel_name(KernelId{static_cast<uint32_t>(event.subject)})
                                          : nullptr;
    size_t texts = head.size() + 2 * track_.size();
    if (path_text != nullptr) texts += path_text->size();
    if (kernel != nullptr) texts += kernel->size();
    char* to = context_.events.begin(texts + 640);
    to = put_bytes(to, head);
    to = put_bytes(to, track_);
    to = put_micros(to, event.begin_ns);
    to = put_bytes(to, ",\"dur\":");
    to = put_micros(to, event.end_ns > event.begin_ns ? event.duration_ns() : 0);
    to = put_bytes(to, ",\"args\":{");
    bool first = true;
    if (event.correlation != 0) {
      to = put_field(to, first, "\"correlation\":");
      to = put_decimal(to, ChromeIds::correlation(process_, event.correlation));
    }
    if (!context_.options.plain) to = put_extras(to, first, event, row, path_text, kernel);
    context_.events.end(put_bytes(to, "}}"));
    if (event.has(kHostHasGpu)) flow(event);
  }

  char* put_extras(char* to, bool& first, const HostEvent& event, uint32_t row, const std::string* path_text,
                   const std::string* kernel) {
    if (event.result() != 0) to = put_decimal(put_field(to, first, "\"result\":"), event.result());
    if (kernel != nullptr) to = put_bytes(put_field(to, first, "\"kernel\":"), *kernel);
    if (event.kind() == HostKind::GraphLaunch && event.subject != 0) {
      to = put_decimal(put_field(to, first, "\"graph id\":"), context_.trace.graphs[event.subject].number);
    }
    if ((event.kind() == HostKind::MemoryLaunch || event.kind() == HostKind::Allocation) && event.subject != 0) {
      to = put_decimal(put_field(to, first, "\"bytes\":"), event.subject);
    }
    const LaunchDepth depth = context_.depth.at_launch()[row];
    if (depth.known()) {
      to = put_decimal(put_field(to, first, "\"queue waiting\":"), depth.waiting);
      to = put_decimal(put_bytes(to, ",\"queue outstanding\":"), depth.outstanding);
    }
    if (event.is_launch() && !event.has(kHostCaptured)) {
      to = put_decimal(put_field(to, first, "\"live depth\":"), event.live_depth);
    }
    if (path_text != nullptr) to = put_bytes(put_field(to, first, "\"nvtx path\":"), *path_text);
    if (event.has(kHostCaptured)) to = put_bytes(put_field(to, first, "\"captured\":"), "true");
    if (event.has(kHostNested)) to = put_bytes(put_field(to, first, "\"nested\":"), "true");
    if (event.has(kHostUnfinished)) to = put_bytes(put_field(to, first, "\"unfinished\":"), "true");
    return to;
  }

  void flow(const HostEvent& event) {
    char* to = context_.events.begin(track_.size() + 128);
    to = put_bytes(to, "{\"ph\":\"s\",\"id\":");
    to = put_decimal(to, ChromeIds::correlation(process_, event.correlation));
    *to++ = ',';
    to = put_bytes(to, track_);
    to = put_micros(to, event.begin_ns);
    context_.events.end(put_bytes(to, ",\"cat\":\"ac2g\",\"name\":\"ac2g\"}"));
  }

  const std::string& kernel_name(KernelId kernel) {
    std::string& text = kernels_[index(kernel)];
    if (text.empty()) text = json_string(context_.names.name(kernel, NameForm::Short));
    return text;
  }

  const ChromeContext& context_;
  std::vector<std::string> calls_;
  PathTexts paths_;
  std::vector<std::string> kernels_;  // short names as JSON
  ProcessId process_{};
  std::string track_;
};

}  // namespace

void write_chrome_host(const ChromeContext& context) {
  HostWriter writer(context);
  for (uint32_t t = 0; t < context.trace.threads.size(); ++t) writer.thread(ThreadId{t});
}

}  // namespace prof::analyzer
