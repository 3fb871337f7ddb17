// Host threads of the Chrome trace: API calls (cuda_driver, cuda_runtime). Flows start at launches.
#include "analyzer/model/call_arguments.h"
#include "analyzer/model/memory_key.h"
#include "analyzer/model/names.h"
#include "analyzer/model/results.h"
#include "analyzer/output/chrome/chrome_writer.h"

namespace prof::analyzer {

namespace {

// The start of the event of every call: `{"ph":"X","cat":"cuda_driver","name":"cuLaunchKernel",`
std::vector<std::string> call_pieces(const Trace& trace) {
  std::vector<std::string> pieces;
  for (size_t i = 0; i < trace.apis.size(); ++i) {
    const std::string_view name = i == 0 ? "[unknown call]" : plain_api_name(trace.text(trace.apis[i]));
    const std::string_view category = is_runtime_api(name) ? "cuda_runtime" : "cuda_driver";
    pieces.push_back("{\"ph\":\"X\",\"cat\":\"" + std::string(category) + "\",\"name\":" + json_string(name) + ",");
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
        inner_(context.trace.apis.size()),
        kernels_(context.trace.kernels.size()) {}

  void thread(ThreadId id) {
    const Trace& trace = context_.trace;
    const Thread& thread = trace.thread(id);
    process_ = thread.process;
    from_log_ = trace.processes[index(process_)].is_prof_log();
    track_ = track_piece(context_.ids.process[index(process_)], context_.ids.thread[index(id)]);
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
      call(trace.host[row], row);
    }
  }

 private:
  void call(const HostEvent& event, uint32_t row) {
    const std::string& head = calls_[event.api()];
    const std::string* const kernel = event.kind() == HostKind::KernelLaunch && context_.augment != nullptr
                                          ? &kernel_name(KernelId{static_cast<uint32_t>(event.subject)})
                                          : nullptr;
    added_.clear();
    if (context_.augment != nullptr) context_.augment->host(row, added_);
    size_t texts = head.size() + 2 * track_.size() + added_.text().size();
    if (kernel != nullptr) texts += kernel->size();
    const std::string* const inner = inner_name(row);
    if (inner != nullptr) texts += inner->size();
    const std::string said = arguments(event, row);
    texts += said.size();
    const StackId stack = context_.stacks == nullptr ? StackId{} : context_.stacks->of_call(row);
    const std::string* const frames = stack == StackId{} ? nullptr : &context_.stacks->call_member(stack);
    if (frames != nullptr) texts += frames->size();
    char* to = context_.events.begin(texts + 640);
    to = put_bytes(to, head);
    to = put_bytes(to, track_);
    to = put_micros(to, event.begin_ns);
    to = put_bytes(to, ",\"dur\":");
    to = put_micros(to, event.end_ns > event.begin_ns ? event.duration_ns() : 0);
    if (context_.augment != nullptr && is_failure(event.result())) to = put_bytes(to, ",\"cname\":\"terrible\"");
    if (frames != nullptr && context_.stacks->with_frames()) to = put_frame(to, context_.stacks->frame(stack));
    to = put_bytes(to, ",\"args\":{");
    bool first = true;
    if (const uint64_t correlation = context_.ids.call(process_, event, row); correlation != 0)
      to = put_decimal(put_field(to, first, "\"correlation\":"), correlation);
    if (context_.augment != nullptr) to = put_extras(to, first, event, inner, kernel);
    if (!said.empty()) to = put_field(to, first, said);
    if (frames != nullptr && !frames->empty()) to = put_field(to, first, *frames);
    context_.events.end(put_bytes(to, "}}"));
    if (event.has(kHostHasGpu)) flow(event);
    if (context_.arrows != nullptr && context_.arrows->wants_call(row)) context_.arrows->put({true, row}, track_);
  }

  // The members of `args`; empty if there are none.
  std::string arguments(const HostEvent& event, uint32_t row) const {
    const Trace& trace = context_.trace;
    const CallDetails* const said = context_.augment == nullptr ? nullptr : trace.arguments_of(row);
    if (said == nullptr) return {};
    const std::string_view inner = trace.inner_api_name(row);
    const Choice choice = choice_text(inner.empty() ? trace.api_name(event) : inner, *said);
    std::string members;
    const auto add = [&members](const char* key, const std::string& value) {
      if (!members.empty()) members += ',';
      members += std::string("\"") + key + "\":" + value;
    };
    if (said->count != 0) add("count", std::to_string(said->count));
    if (said->bytes != 0) add("bytes", std::to_string(said->bytes));
    if (const std::string target = target_text(*said); !target.empty()) add("target", json_string(target));
    if (!choice.value.empty()) add(choice.key.data(), json_string(choice.value));
    if (choice.value.empty() && said->flags != 0) add("flags", std::to_string(said->flags));
    if (index(said->file) != 0) add("file", json_string(trace.text(said->file)));
    return members;
  }

  char* put_extras(char* to, bool& first, const HostEvent& event, const std::string* inner, const std::string* kernel) {
    if (event.result() != 0) to = put_result(to, first, event);
    if (inner != nullptr) to = put_bytes(put_field(to, first, "\"driver\":"), *inner);
    if (kernel != nullptr) to = put_bytes(put_field(to, first, "\"kernel\":"), *kernel);
    if (event.kind() == HostKind::GraphLaunch && event.subject != 0) {
      to = put_decimal(put_field(to, first, "\"graph id\":"), context_.trace.graphs[event.subject].number);
    }
    if ((event.kind() == HostKind::MemoryLaunch || event.kind() == HostKind::Allocation) && asked_bytes(event) != 0) {
      to = put_decimal(put_field(to, first, "\"bytes\":"), asked_bytes(event));
    }
    if (event.is_launch() && !event.has(kHostCaptured) && from_log_) {
      to = put_decimal(put_field(to, first, "\"live depth\":"), event.live_depth);
    }
    if (event.has(kHostCaptured)) to = put_bytes(put_field(to, first, "\"captured\":"), "true");
    if (event.has(kHostNested)) to = put_bytes(put_field(to, first, "\"nested\":"), "true");
    if (event.has(kHostUnfinished)) to = put_bytes(put_field(to, first, "\"unfinished\":"), "true");
    return added_.text().empty() ? to : put_field(to, first, added_.text());
  }

  char* put_result(char* to, bool& first, const HostEvent& event) {
    to = put_decimal(put_field(to, first, "\"result\":"), event.result());
    const std::string_view error =
        is_failure(event.result()) ? result_name(event.result(), context_.trace.api_name(event)) : std::string_view{};
    return error.empty() ? to : put_bytes(put_bytes(put_field(to, first, "\"error\":\""), error), "\"");
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

  // The driver function inside a runtime call, as JSON; null if there is none.
  const std::string* inner_name(uint32_t row) {
    if (context_.augment == nullptr || context_.trace.inner_api_name(row).empty()) return nullptr;
    std::string& text = inner_[context_.trace.inner_apis[row]];
    if (text.empty()) text = json_string(plain_api_name(context_.trace.inner_api_name(row)));
    return &text;
  }

  const std::string& kernel_name(KernelId kernel) {
    std::string& text = kernels_[index(kernel)];
    if (text.empty()) text = json_string(context_.views.names().name(kernel, NameForm::Short));
    return text;
  }

  const ChromeContext& context_;
  std::vector<std::string> calls_;
  std::vector<std::string> inner_;    // names as JSON, by index of Trace::apis
  std::vector<std::string> kernels_;  // short names as JSON
  ProcessId process_{};
  bool from_log_ = false;
  std::string track_;
  AugmentMembers added_;
};

}  // namespace

void write_chrome_host(const ChromeContext& context) {
  HostWriter writer(context);
  for (uint32_t t = 0; t < context.trace.threads.size(); ++t) {
    if (context.writes(context.trace.threads[t].process)) writer.thread(ThreadId{t});
  }
}

}  // namespace prof::analyzer
