// What did threads do between their calls? Each thread with host samples has a track of its own under its process. The
// slices are the states that the kernel reported. The samples are instants with the sampled stack.
#include "analyzer/analysis/idle/host_code_times.h"
#include "analyzer/output/chrome/chrome_writer.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <unordered_map>

namespace prof::analyzer {

namespace {

class HostSampleWriter {
 public:
  explicit HostSampleWriter(const ChromeContext& context)
      : context_(context), rows_(host_sample_rows(context.views)), members_(context.events) {}

  void thread(ThreadId id) {
    const Thread& thread = context_.trace.thread(id);
    const Rows states = rows_.states(index(id)), samples = rows_.samples(index(id));
    if (states.size() + samples.size() == 0) return;
    const uint64_t pid = context_.ids.process[index(thread.process)], tid = ChromeIds::host_sample_track(id);
    context_.events.name_track(pid, tid, fmt::format("samples of thread {} ({})", thread.tid, thread.name), index(id));
    const std::string track = context_.events.track(pid, tid);
    for (uint32_t row = states.first; row < states.last; ++row) state(id, row, track);
    for (uint32_t row = samples.first; row < samples.last; ++row) sample(id, row, track);
  }

 private:
  void state(ThreadId thread, uint32_t row, const std::string& track) {
    const ThreadStates& states = context_.trace.host_sampling.states;
    const int64_t begin = states.begin_ns[row], end = states.end_ns[row];
    if (context_.selection != nullptr && !context_.selection->has(context_.trace, thread, begin, end)) return;
    std::string& head = state_heads_[static_cast<size_t>(states.state[row])];
    if (head.empty())
      head = context_.events.slice_head("host_state",
                                        host_state_text(context_.trace, {{}, {}, states.state[row], BlockedIn::None}));
    members_.clear();
    context_.events.slice(head, track, begin, end - begin, members_);
  }

  void sample(ThreadId thread, uint32_t row, const std::string& track) {
    const HostSamples& samples = context_.trace.host_sampling.samples;
    if (!context_.selects_moment(thread, samples.time_ns[row])) return;
    const StackId stack = context_.stacks == nullptr ? StackId{} : samples.stack[row];
    const HostCode code{{}, samples.detail[row], samples.state[row], samples.blocked_in[row]};
    std::string& head = stack == StackId{} ? plain_heads_[key_of(code)] : heads_[static_cast<uint32_t>(stack)];
    if (head.empty()) head = context_.events.instant_head("host_sample", name_of(stack, code), true);
    members_.clear();
    members_.add_text(EventKey::HostState, state_of(code));
    if (stack != StackId{}) context_.stacks->add_of_call(stack, members_);
    context_.events.instant(head, track, samples.time_ns[row], members_);
  }

  std::string name_of(StackId stack, const HostCode& code) const {
    if (stack == StackId{}) return host_state_text(context_.trace, code);
    const std::string best = call_stacks(context_.views).best(stack);
    return best.empty() ? "[no stack]" : best;
  }
  static uint64_t key_of(const HostCode& code) {
    return uint64_t{static_cast<uint32_t>(code.detail)} << 32 | static_cast<uint64_t>(code.state) << 8 |
           static_cast<uint64_t>(code.blocked_in);
  }
  const std::string& state_of(const HostCode& code) {
    std::string& text = states_[key_of(code)];
    if (text.empty()) text = context_.events.text(host_state_text(context_.trace, code));
    return text;
  }

  const ChromeContext& context_;
  const HostSampleRows& rows_;
  EventMembers members_;
  std::map<size_t, std::string> state_heads_;              // pieces, by state
  std::unordered_map<uint32_t, std::string> heads_;        // pieces, by StackId
  std::unordered_map<uint64_t, std::string> plain_heads_;  // pieces of samples without a stack, by state and wait
  std::unordered_map<uint64_t, std::string> states_;       // pieces, by state, wait and detail
};

}  // namespace

void write_chrome_host_samples(const ChromeContext& context) {
  HostSampleWriter writer(context);
  for (uint32_t t = 0; t < context.trace.threads.size(); ++t) {
    if (context.writes(context.trace.threads[t].process)) writer.thread(ThreadId{t});
  }
}

}  // namespace prof::analyzer
