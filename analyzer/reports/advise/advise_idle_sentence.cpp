#include "analyzer/reports/advise/advise_idle_sentence.h"

#include "analyzer/analysis/idle/awaited_threads.h"
#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/analysis/idle/host_code_times.h"
#include "analyzer/analysis/select/window_finder.h"
#include "analyzer/analysis/stacks/host_code_names.h"
#include "analyzer/base/statistics.h"
#include "analyzer/base/text_parts.h"
#include "analyzer/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr double kNamedPercent = 5;  // of the window, of the idle time
constexpr size_t kMostNamed = 3, kMostSentences = 8;
constexpr double kMostOfIdle = 50;  // per cent

constexpr std::string_view kSpreadAction =
    "fewer, larger operations (torch.compile, CUDA graphs, larger batches), or several threads or processes";
constexpr std::string_view kCallsAction = "prof report idle names the calls";

// A GPU in the windows of its own process.
struct IdleOfDevice {
  std::string name;  // of the windows: "the run", "step#2", "39 windows (step#1 to step#39)"
  IntervalSet windows;
  HostCodeTimes times;
  AwaitedTimes awaited;
  int64_t idle_ns = 0;
  int64_t explained_ns = 0;  // by calls of CUDA and by the device; host samples are not needed

  double idle_percent() const { return percent(idle_ns, windows.length_ns()); }
};

class Sentences {
 public:
  explicit Sentences(const AnalysisInput& input)
      : trace_(input.trace), stacks_(call_stacks(input.views)), names_(trace_, stacks_) {}

  // Empty: the samples show nothing worth a sentence.
  std::string about(DeviceId id, const IdleOfDevice& idle) {
    if (idle.idle_percent() < kNamedPercent || idle.times.samples() == 0) return {};
    const HostCodeDivision division = names_.divide(idle.times);
    const double not_sampled = percent(division.not_sampled_ns, idle.idle_ns);
    const double explained = percent(idle.explained_ns, idle.idle_ns);
    std::string text = fmt::format("{} is idle {:.0f} % of {}", device_name(id), idle.idle_percent(), idle.name);
    size_t listed = 0;
    double named = 0;
    std::string_view action;
    for (const HostCodeTime& each : division.groups) {
      const double share = percent(each.time_ns, idle.idle_ns);
      if (share < kNamedPercent || listed == kMostNamed) break;
      named += share;
      const uint32_t most = code_of(idle.times, each.group);
      const HostCode& code = idle.times.codes()[most];
      text += fmt::format("{} {:.0f} % (+-{:.0f}){} is {}", listed == 0 ? "." : ";", share,
                          percent(each.half_ns, idle.idle_ns), listed == 0 ? " of that" : "",
                          what(code, names_.state(each.group), names_.code(each.group)));
      if (const std::string caller = caller_of(code.stack); !caller.empty())
        text += fmt::format(", called from {}", caller);
      if (listed++ == 0) action = action_in_state(code);
    }
    if (named < kMostOfIdle) {
      const std::string caller = common_caller(idle);
      if (!caller.empty()) text += (listed == 0 ? ". " : "; ") + caller;
      if (listed == 0 && caller.empty()) {
        if (not_sampled >= kMostOfIdle) return {};
        text += fmt::format(". No line has {:.0f} % of that", kNamedPercent);
      }
      if (listed == 0) action = explained >= kMostOfIdle ? kCallsAction : kSpreadAction;
    }
    if (explained >= kNamedPercent)
      text += fmt::format("; {:.0f} % is in CUDA calls or between a launch and its start", explained);
    if (not_sampled >= kNamedPercent) text += fmt::format("; {:.0f} % is not sampled", not_sampled);
    return text + awaited(idle) + fmt::format("; do: {}", action);
  }

 private:
  // What the thread did for which the launching thread waited longest: "; meanwhile process 43 (python3 worker.py) is
  // 80 % (+-4) of 1.2000s decode (worker.py:12)".
  std::string awaited(const IdleOfDevice& idle) {
    const std::vector<const AwaitedTimes::Sum*> sums = idle.awaited.sums();
    if (sums.empty() || percent(sums.front()->waited_ns, idle.idle_ns) < kNamedPercent) return {};
    const AwaitedTimes::Sum& sum = *sums.front();
    const std::string who = awaited_text(trace_, sum.who);
    if (!sum.who.proven)
      return fmt::format("; meanwhile another thread waits for {}; that it is awaited here too is not proven", who);
    if (sum.who.thread == kNone)
      return fmt::format("; {} has the other end of what it waits for, and no log in the input", who);
    std::string text;
    for (const HostCodeTime& each : names_.divide(sum.times).groups) {
      const double share = percent(each.time_ns, sum.waited_ns);
      if (share < kNamedPercent || (!text.empty() && share < kMostNamed * kNamedPercent)) break;
      const uint32_t most = code_of(sum.times, each.group);
      text += fmt::format("{} {:.0f} % (+-{:.0f}) of {} {}", text.empty() ? "" : " and", share,
                          percent(each.half_ns, sum.waited_ns), scaled_time(sum.waited_ns),
                          what(sum.times.codes()[most], names_.state(each.group), names_.code(each.group)));
    }
    if (text.empty()) return {};
    return fmt::format("; meanwhile {} is{}{}", who, text,
                       sums.size() == 1 ? "" : fmt::format(", and {} more are awaited", sums.size() - 1));
  }
  // "tokenize (app.py:41)", "sleeping in rest (app.py:7)", "waiting for a CPU".
  static std::string what(const HostCode& code, std::string_view state, std::string_view name) {
    if (code.state == HostState::Running) return std::string(name);
    const std::string_view does = code.state == HostState::Runnable ? "waiting for a CPU" : state;
    return code.stack == StackId{} ? std::string(does) : fmt::format("{} in {}", does, name);
  }
  std::string device_name(DeviceId id) const {
    const Device& device = trace_.device(id);
    const Process& process = trace_.processes[index(device.process)];
    const auto devices = std::count_if(trace_.devices.begin(), trace_.devices.end(),
                                       [&](const Device& each) { return each.process == device.process; });
    const std::string owner =
        process.rank ? fmt::format("rank {}", *process.rank) : fmt::format("process {}", process.pid);
    return devices == 1 ? fmt::format("the GPU of {}", owner) : fmt::format("GPU {} of {}", device.ordinal, owner);
  }
  // The innermost function that has most of the idle time: "84 % (+-2) is in step (app.py:60) and what it calls".
  // Empty: none has so much.
  std::string common_caller(const IdleOfDevice& idle) {
    using Function = std::tuple<StringId, StringId, StringId>;
    const auto function_of = [](const TreeFrame& frame) { return Function{frame.name, frame.file, frame.module}; };
    std::vector<HostCodeTime> inside = idle.times.divide([](uint32_t code) { return code; }).groups;
    // At this depth, counted from the outermost frame.
    const auto frame_of = [&](const HostCodeTime& each, size_t depth) -> const TreeFrame* {
      const StackId stack = idle.times.codes()[each.group].stack;
      if (stack == StackId{}) return nullptr;
      const std::span<const uint32_t> rows = stacks_.merged().of(stack);
      return depth < rows.size() ? &stacks_.merged().frame(rows[rows.size() - 1 - depth]) : nullptr;
    };
    std::unordered_set<uint32_t> chosen;
    std::string name;
    for (size_t depth = 0;; ++depth) {
      std::map<Function, int64_t> times;
      for (const HostCodeTime& each : inside) {
        if (const TreeFrame* const frame = frame_of(each, depth)) times[function_of(*frame)] += each.time_ns;
      }
      const auto most = std::max_element(times.begin(), times.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      if (most == times.end() || percent(most->second, idle.idle_ns) < kMostOfIdle) break;
      std::erase_if(inside, [&](const HostCodeTime& each) {
        const TreeFrame* const frame = frame_of(each, depth);
        return frame == nullptr || function_of(*frame) != most->first;
      });
      const TreeFrame& first = *frame_of(inside.front(), depth);
      // No place in the program's source.
      if (first.line == 0) continue;
      if (first.kind == TreeFrameKind::Python && !stacks_.merged().is_python_source(first)) continue;
      const bool one_line = std::all_of(inside.begin(), inside.end(), [&](const HostCodeTime& each) {
        return frame_of(each, depth)->line == first.line;
      });
      const MergedStacks& merged = stacks_.merged();
      const std::string_view file = file_name(merged.text(first.file));
      name = one_line ? fmt::format("{} ({}:{})", merged.text(first.name), file, first.line)
                      : fmt::format("{} ({})", merged.text(first.name), file);
      chosen.clear();
      for (const HostCodeTime& each : inside) chosen.insert(each.group);
    }
    if (name.empty()) return {};
    for (const HostCodeTime& each :
         idle.times.divide([&](uint32_t code) { return static_cast<uint32_t>(chosen.count(code)); }).groups) {
      if (each.group == 1)
        return fmt::format("{:.0f} % (+-{:.0f}) is in {} and what it calls", percent(each.time_ns, idle.idle_ns),
                           percent(each.half_ns, idle.idle_ns), name);
    }
    return {};
  }
  // The code of the group with the most samples.
  uint32_t code_of(const HostCodeTimes& times, uint32_t group) {
    uint32_t most = 0;
    uint64_t samples = 0;
    for (const HostCodeTime& each : times.divide([](uint32_t code) { return code; }).groups) {
      if (names_.group(times.codes()[each.group]) != group || each.samples <= samples) continue;
      most = each.group;
      samples = each.samples;
    }
    return most;
  }
  std::string caller_of(StackId stack) {
    if (stack == StackId{}) return {};
    const uint32_t caller = stacks_.merged().caller_of_best(stack);
    return caller != kNone ? stacks_.merged().frame_text(caller) : std::string();
  }

  const Trace& trace_;
  CallStacks& stacks_;
  HostCodeNames names_;
};

// The windows of a process and their name: ranges are those of its own threads. If it has none, all windows.
std::pair<std::string, IntervalSet> windows_of(const AnalysisInput& input, ProcessId process,
                                               const std::vector<Window>& all) {
  const std::string& words = input.options.window;
  if (words == "gpu" || words == "run") return {"the run", union_of(all)};
  std::vector<Window> own = windows_of_process(input, process, words);
  if (own.empty()) own = all;
  return {own.size() == 1 ? own.front().label
                          : fmt::format("{} windows ({} to {})", own.size(), own.front().label, own.back().label),
          union_of(own)};
}

}  // namespace

std::string_view action_in_state(const HostCode& code) {
  if (code.state == HostState::Running)
    return "make it cheaper, take it out of the loop, or run it in another thread or process while the GPU works";
  if (code.state == HostState::Runnable) return "give the thread a CPU of its own: fewer busy threads, other CPUs";
  switch (code.blocked_in) {
    case BlockedIn::File: return "read ahead in another thread or process, or keep the data in memory";
    case BlockedIn::Lock: return "find out who holds the lock, and hold it for a shorter time";
    case BlockedIn::Sleep: return "wait for the event instead of a time";
    case BlockedIn::Network: return "launch the next work before waiting for the network, or receive in another thread";
    case BlockedIn::Pipe:
    case BlockedIn::Child:
      return "find out what the other process does: more workers, a larger prefetch_factor, less work for each item";
    case BlockedIn::Gil: return "find out which thread holds the GIL: run its work in another process";
    case BlockedIn::Thread:
    case BlockedIn::Condition: return "find out which thread it waits for, and what that thread does";
    default: return "launch the next work before waiting";
  }
}

std::vector<std::string> idle_sentences(const AnalysisInput& input, const std::vector<Window>& windows) {
  const HostSampleRows& rows = host_sample_rows(input.views);
  if (!rows.any() || windows.empty()) return {};
  const Trace& trace = input.trace;
  std::map<uint32_t, IdleOfDevice> idle;  // by device
  const auto idle_of = [&](DeviceId device) -> IdleOfDevice& {
    auto found = idle.find(index(device));
    if (found == idle.end()) {
      auto [name, inside] = windows_of(input, trace.device(device).process, windows);
      found = idle.emplace(index(device), IdleOfDevice{std::move(name), std::move(inside), HostCodeTimes(trace, rows),
                                                       AwaitedTimes(trace, input.views)})
                  .first;
    }
    return found->second;
  };
  divide_gaps(trace, input.views, input.selection, WindowFinder(windows).hull(),
              [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
                IdleOfDevice& of = idle_of(gap.device);
                for (const GapPiece& piece : pieces) {
                  of.windows.each_overlap(piece.begin_ns, piece.end_ns, [&](const Interval& part) {
                    of.idle_ns += part.length_ns();
                    if (!needs_samples(piece)) {
                      of.explained_ns += part.length_ns();
                      return;
                    }
                    of.times.add(piece.thread, part);
                    of.awaited.add(piece.thread, part);
                  });
                }
              });
  std::vector<std::pair<uint32_t, const IdleOfDevice*>> worst;
  for (const auto& [device, of] : idle) worst.emplace_back(device, &of);
  std::stable_sort(worst.begin(), worst.end(),
                   [](const auto& a, const auto& b) { return a.second->idle_percent() > b.second->idle_percent(); });
  Sentences sentences(input);
  std::vector<std::string> texts;
  for (size_t i = 0; i < worst.size() && texts.size() < kMostSentences; ++i) {
    std::string text = sentences.about(DeviceId{worst[i].first}, *worst[i].second);
    if (!text.empty()) texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace prof::analyzer
