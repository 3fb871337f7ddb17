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

namespace prof::analyzer {

namespace {

constexpr double kNamedPercent = 5;  // of the window, of the idle time
constexpr size_t kMostNamed = 3, kMostSentences = 8;
constexpr double kMostOfIdle = 50;  // per cent

constexpr std::string_view kSpreadAction =
    "no single line takes the time: fewer, larger operations (torch.compile, CUDA graphs, larger batches), or several "
    "threads or processes";

struct IdleOfDevice {
  int64_t idle_ns = 0;
  HostCodeTimes times;
  AwaitedTimes awaited;
};

class Sentences {
 public:
  explicit Sentences(const AnalysisInput& input)
      : whole_run_(input.options.window == "gpu" || input.options.window == "run"),
        trace_(input.trace),
        stacks_(call_stacks(input.views)),
        names_(trace_, stacks_) {}

  // Empty: the samples show nothing worth a sentence.
  std::string about(const Window& window, DeviceId id, const IdleOfDevice& idle) {
    if (percent(idle.idle_ns, window.length_ns()) < kNamedPercent || idle.times.samples() == 0) return {};
    const HostCodeDivision division = names_.divide(idle.times);
    std::string text = fmt::format("{} is idle {:.0f} % of {}", device_name(id),
                                   percent(idle.idle_ns, window.length_ns()), window_name(window));
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
      if (listed == 0 && caller.empty()) return {};
      if (listed == 0) action = kSpreadAction;
    }
    if (const double share = percent(division.not_sampled_ns, idle.idle_ns); share >= kNamedPercent)
      text += fmt::format("; {:.0f} % is not sampled", share);
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
  std::string window_name(const Window& window) const { return whole_run_ ? "the run" : window.label; }
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

  const bool whole_run_;
  const Trace& trace_;
  CallStacks& stacks_;
  HostCodeNames names_;
};

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
  const WindowFinder finder(windows);
  std::map<std::pair<size_t, uint32_t>, IdleOfDevice> idle;  // by window, then by device
  divide_gaps(
      trace, input.views, input.selection, finder.hull(), [&](const DeviceGap& gap, std::span<const GapPiece> pieces) {
        finder.each(gap.begin_ns, gap.end_ns, [&](size_t window) {
          const std::pair key{window, index(gap.device)};
          auto found = idle.find(key);
          if (found == idle.end())
            found =
                idle.emplace(key, IdleOfDevice{0, HostCodeTimes(trace, rows), AwaitedTimes(trace, input.views)}).first;
          IdleOfDevice& of = found->second;
          for (const GapPiece& piece : pieces) {
            const Interval part = inside(piece, windows[window].begin_ns, windows[window].end_ns);
            of.idle_ns += part.length_ns();
            if (!needs_samples(piece)) continue;
            of.times.add(piece.thread, part);
            of.awaited.add(piece.thread, part);
          }
        });
      });
  Sentences sentences(input);
  std::vector<std::string> texts;
  for (const auto& [key, of] : idle) {
    std::string text = sentences.about(windows[key.first], DeviceId{key.second}, of);
    if (!text.empty() && texts.size() < kMostSentences) texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace prof::analyzer
