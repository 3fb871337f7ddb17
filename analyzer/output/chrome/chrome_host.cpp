// Host threads of the Chrome trace: API calls (cuda_driver, cuda_runtime). Flows start at launches.
#include "analyzer/model/call_arguments.h"
#include "analyzer/model/memory_key.h"
#include "analyzer/model/names.h"
#include "analyzer/model/results.h"
#include "analyzer/output/chrome/chrome_writer.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

std::vector<std::string> call_heads(const Trace& trace, EventList& events) {
  std::vector<std::string> heads;
  for (size_t i = 0; i < trace.apis.size(); ++i) {
    const std::string_view name = i == 0 ? "[unknown call]" : plain_api_name(trace.text(trace.apis[i]));
    heads.push_back(events.slice_head(is_runtime_api(name) ? "cuda_runtime" : "cuda_driver", name));
  }
  return heads;
}

class HostWriter final : public TrackRows {
 public:
  explicit HostWriter(const ChromeContext& context)
      : context_(context),
        calls_(call_heads(context.trace, context.events)),
        inner_(context.trace.apis.size()),
        kernels_(context.trace.kernels.size()),
        members_(context.events) {}

  void start(uint32_t thread) override {
    const Trace& trace = context_.trace;
    process_ = trace.threads[thread].process;
    from_log_ = trace.processes[index(process_)].is_prof_log();
    track_ = context_.events.track(context_.ids.process[index(process_)], context_.ids.thread[thread]);
  }

  void row(uint32_t row) override {
    if (!context_.selects_call(row)) return;
    const HostEvent& event = context_.trace.host[row];
    const StackId stack = context_.stacks == nullptr ? StackId{} : context_.stacks->of_call(row);
    members_.clear();
    if (const uint64_t correlation = context_.ids.call(process_, event, row); correlation != 0)
      members_.add_count(EventKey::Correlation, correlation);
    if (context_.augment != nullptr) add_extras(event, row);
    if (stack != StackId{}) context_.stacks->add_of_call(stack, members_);
    const uint64_t launch = event.has(kHostHasGpu) ? ChromeIds::correlation(process_, event.correlation) : 0;
    const bool arrows = context_.arrows != nullptr && context_.arrows->wants_call(row);
    const uint32_t frame = stack != StackId{} && context_.stacks->with_frames() ? context_.stacks->frame(stack) : 0;
    context_.events.slice(calls_[event.api()], track_, event.begin_ns,
                          event.end_ns > event.begin_ns ? event.duration_ns() : 0, members_,
                          context_.flows_of({true, row}, arrows, launch, false, flows_),
                          {context_.augment != nullptr && is_failure(event.result()), frame});
    if (launch != 0 || event.has(kHostHasGpu)) context_.events.launch_flow(true, launch, track_, event.begin_ns);
    if (arrows) context_.arrows->put({true, row}, track_);
  }

  Rows rows_of(uint32_t thread) const override { return context_.trace.threads[thread].host; }
  Interval interval(uint32_t row) const override {
    const HostEvent& event = context_.trace.host[row];
    return {event.begin_ns, std::max(event.begin_ns, event.end_ns)};
  }

 private:
  void add_extras(const HostEvent& event, uint32_t row) {
    const Trace& trace = context_.trace;
    if (event.result() != 0) add_result(event);
    if (!trace.inner_api_name(row).empty()) members_.add_text(EventKey::Driver, inner_name(row));
    if (event.kind() == HostKind::KernelLaunch)
      members_.add_text(EventKey::Kernel, kernel_name(KernelId{static_cast<uint32_t>(event.subject)}));
    if (event.kind() == HostKind::GraphLaunch && event.subject != 0)
      members_.add_count(EventKey::GraphId, trace.graphs[event.subject].number);
    if ((event.kind() == HostKind::MemoryLaunch || event.kind() == HostKind::Allocation) && asked_bytes(event) != 0)
      members_.add_count(EventKey::CallBytes, asked_bytes(event));
    if (event.is_launch() && !event.has(kHostCaptured) && from_log_)
      members_.add_count(EventKey::LiveDepth, event.live_depth);
    if (event.has(kHostCaptured)) members_.add_true(EventKey::Captured);
    if (event.has(kHostNested)) members_.add_true(EventKey::Nested);
    if (event.has(kHostUnfinished)) members_.add_true(EventKey::Unfinished);
    context_.augment->host(row, members_);
    if (const CallDetails* const said = trace.arguments_of(row)) add_arguments(event, row, *said);
  }

  void add_arguments(const HostEvent& event, uint32_t row, const CallDetails& said) {
    const Trace& trace = context_.trace;
    EventList& events = context_.events;
    const std::string_view inner = trace.inner_api_name(row);
    const Choice choice = choice_text(inner.empty() ? trace.api_name(event) : inner, said);
    if (said.count != 0) members_.add_count(EventKey::Count, said.count);
    if (said.bytes != 0) members_.add_count(EventKey::CallBytes, said.bytes);
    if (const std::string target = target_text(said); !target.empty())
      members_.add_text(EventKey::Target, events.text(target));
    if (!choice.value.empty()) members_.add_key_text(choice.key, events.text(choice.value));
    if (choice.value.empty() && said.flags != 0) members_.add_count(EventKey::Flags, said.flags);
    if (index(said.file) != 0) members_.add_text(EventKey::File, events.text(trace.text(said.file)));
  }

  void add_result(const HostEvent& event) {
    members_.add_count(EventKey::Result, event.result());
    const std::string_view error =
        is_failure(event.result()) ? result_name(event.result(), context_.trace.api_name(event)) : std::string_view{};
    if (!error.empty()) members_.add_text(EventKey::Error, context_.events.text(error));
  }

  // The driver function inside a runtime call.
  const std::string& inner_name(uint32_t row) {
    std::string& text = inner_[context_.trace.inner_apis[row]];
    if (text.empty()) text = context_.events.text(plain_api_name(context_.trace.inner_api_name(row)));
    return text;
  }

  const std::string& kernel_name(KernelId kernel) {
    std::string& text = kernels_[index(kernel)];
    if (text.empty()) text = context_.events.text(context_.views.names().name(kernel, NameForm::Short));
    return text;
  }

  const ChromeContext& context_;
  std::vector<std::string> calls_;
  std::vector<std::string> inner_;    // pieces, by index of Trace::apis
  std::vector<std::string> kernels_;  // pieces of short names
  ProcessId process_{};
  bool from_log_ = false;
  std::string track_;
  EventMembers members_;
  SliceFlows flows_;
};

}  // namespace

std::unique_ptr<TrackRows> call_rows(const ChromeContext& context) { return std::make_unique<HostWriter>(context); }

void write_chrome_host(const ChromeContext& context) {
  HostWriter writer(context);
  for (uint32_t t = 0; t < context.trace.threads.size(); ++t) {
    const Thread& thread = context.trace.threads[t];
    if (!context.writes(thread.process)) continue;
    writer.start(t);
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row) writer.row(row);
  }
}

}  // namespace prof::analyzer
