// What was each thread of a process doing at the end of its log? See rank_blame.h.
#include "analyzer/analysis/collectives/rank_blame.h"
#include "analyzer/analysis/idle/host_code_times.h"
#include "analyzer/analysis/stacks/call_stacks.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

// "214 s", "0.35 s"
std::string seconds(int64_t ns) {
  const double value = static_cast<double>(std::max<int64_t>(ns, 0)) / 1e9;
  return value >= 10 ? fmt::format("{:.0f} s", value) : fmt::format("{:.2f} s", value);
}

class Places {
 public:
  Places(const Trace& trace, const Views& views)
      : trace_(trace),
        samples_(views.derived<HostSampleRows>()),
        stacks_(call_stacks(views)),
        rows_(views.derived<ThreadRows>()) {}

  ThreadPlace of(uint32_t thread) {
    const Process& process = trace_.processes[index(trace_.threads[thread].process)];
    const int64_t end_ns = std::max(process.last_ns, process.alive_ns);
    ThreadPlace place{thread, "", ""};
    const Rows host = trace_.threads[thread].host;
    const HostEvent* open = nullptr;  // the call in which it was
    const HostEvent* last = nullptr;  // the last call that returned
    for (uint32_t row = host.last; row > host.first && last == nullptr; --row) {
      const HostEvent& event = trace_.host[row - 1];
      if (event.has(kHostUnfinished)) {
        open = &event;
      } else {
        last = &event;
      }
    }
    const std::string sampled = sampled_text(thread, end_ns, place);
    if (open != nullptr) {
      place.text = fmt::format("in {} for {}", trace_.api_name(*open), seconds(end_ns - open->begin_ns));
    } else if (const CollectiveStart* const start = open_start(thread); start != nullptr) {
      place.text = fmt::format("in {} for {}", trace_.text(start->text), seconds(end_ns - start->time_ns));
    } else if (const Range* const range = open_call(thread); range != nullptr) {
      place.text = fmt::format("in {} for {}", trace_.range_name(*range), seconds(end_ns - range->begin_ns));
    }
    if (!sampled.empty()) {
      place.text += place.text.empty() ? sampled : ", " + sampled;
    } else if (place.text.empty() && last != nullptr) {
      place.text = fmt::format("in no recorded call: {} returned {} before the end of its log", trace_.api_name(*last),
                               seconds(end_ns - last->end_ns));
    } else if (place.text.empty()) {
      place.text = "in no recorded call";
    }
    return place;
  }

 private:
  // The last samples of one state, blocked call and stack.
  std::string sampled_text(uint32_t thread, int64_t end_ns, ThreadPlace& place) {
    const HostSamples& samples = trace_.host_sampling.samples;
    const Rows rows = samples_.samples(thread);
    if (rows.size() == 0) return {};
    const uint32_t last = rows.last - 1;
    uint32_t first = last;
    while (first > rows.first && samples.state[first - 1] == samples.state[last] &&
           samples.blocked_in[first - 1] == samples.blocked_in[last] && samples.stack[first - 1] == samples.stack[last])
      --first;
    const HostState state = samples.state[last];
    std::string text = state == HostState::Running    ? "running"
                       : state == HostState::Runnable ? "waiting for a CPU"
                                                      : std::string(blocked_text(samples.blocked_in[last]));
    if (const std::string_view detail = trace_.text(samples.detail[last]); !detail.empty())
      text += fmt::format(" ({})", detail);
    text += fmt::format(" for {}", seconds(end_ns - samples.time_ns[first]));
    if (const StackId stack = samples.stack[last]; stack != StackId{}) {
      place.stack = stacks_.text(stack);
      text += fmt::format(", called from {}", stacks_.best(stack));
    }
    return text;
  }

  // The last call of NCCL of the thread, if it had not returned: no library_call has its start.
  const CollectiveStart* open_start(uint32_t thread) const {
    if (rows_.last_start[thread] == kNone) return nullptr;
    const CollectiveStart& last = trace_.collectives[rows_.last_start[thread]];
    const Rows rows = trace_.threads[thread].ranges;
    for (uint32_t row = rows.last; row > rows.first; --row) {
      const Range& range = trace_.ranges[row - 1];
      if (range.begin_ns < last.time_ns) break;
      if (range.begin_ns == last.time_ns && !range.unfinished) return nullptr;
    }
    return &last;
  }

  // The outermost range of NCCL that was open at the end.
  const Range* open_call(uint32_t thread) const {
    const Rows rows = trace_.threads[thread].ranges;
    for (uint32_t row = rows.first; row < rows.last; ++row) {
      const Range& range = trace_.ranges[row];
      if (range.unfinished && trace_.text(trace_.labels[index(range.label)].domain) == "NCCL") return &range;
    }
    return nullptr;
  }

  const Trace& trace_;
  const HostSampleRows& samples_;
  CallStacks& stacks_;
  const ThreadRows& rows_;
};

}  // namespace

ThreadRows::ThreadRows(const Trace& trace, const Views&)
    : of_process(trace.processes.size()), last_start(trace.threads.size(), kNone) {
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread)
    of_process[index(trace.threads[thread].process)].push_back(thread);
  for (uint32_t row = 0; row < trace.collectives.size(); ++row) last_start[index(trace.collectives[row].thread)] = row;
}

std::vector<ThreadPlace> thread_places(const Trace& trace, const Views& views, uint32_t process, uint32_t first) {
  std::vector<ThreadPlace> places;
  Places make(trace, views);
  const auto add = [&](uint32_t thread) { places.push_back(make.of(thread)); };
  if (first != kNone) add(first);
  for (const uint32_t thread : views.derived<ThreadRows>().of_process[process]) {
    const Thread& row = trace.threads[thread];
    if (thread == first) continue;
    if (row.host.size() == 0 && row.ranges.size() == 0) continue;
    add(thread);
  }
  return places;
}

}  // namespace prof::analyzer
