// Rules about the host: what it does while a device is idle, where it spends its own time, and which calls are slow.
#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/analysis/idle/wait_names.h"
#include "analyzer/analysis/select/time_window.h"
#include "analyzer/base/saturated.h"
#include "analyzer/base/text_parts.h"
#include "analyzer/model/event_names.h"
#include "analyzer/reports/advise/advise_idle_sentence.h"
#include "analyzer/reports/advise/advise_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

namespace prof::analyzer {

namespace {

constexpr size_t kMostFindings = 3;  // per rule
constexpr int64_t kSlowLaunchNs = 50'000, kSlowTimesMedian = 5;
constexpr double kLowUse = 0.5;
constexpr double kLeastNamed = 0.2;  // share of the host's time that something has if a finding is named after it
constexpr int64_t kParts = 30;

// A piece of the host time before a call: the time inside one range.
struct Piece {
  uint32_t call;
  int64_t ns;
};

// The first piece whose call is not below `call`. It must exist. Calls differ and their rows grow, so the index of the
// piece is at most call - pieces[0].call. If most calls have a piece, the search starts close to the result.
const Piece& piece_before(const Column<Piece>& pieces, uint32_t call) {
  size_t high = std::min<size_t>(call - pieces[0].call, pieces.size() - 1), step = 1;
  while (step <= high && pieces[high - step].call >= call) {
    high -= step;
    step *= 2;
  }
  const Piece* const first = pieces.data() + (step <= high ? high - step : 0);
  return *std::partition_point(first, pieces.data() + high, [&](const Piece& piece) { return piece.call < call; });
}

// `pageable`: whether the copies use pageable memory. Memory that is pinned need not be pinned.
std::string_view action_for(GapPart part, bool pageable) {
  switch (part) {
    case GapPart::Synchronize: return "launch the next work before waiting, and wait less often";
    case GapPart::CopyCall:
      return pageable ? "copy asynchronously, from pinned memory, and launch the next work first"
                      : "copy asynchronously, and launch the next work first";
    case GapPart::Allocation: return "keep buffers, or use a caching allocator or cudaMallocAsync";
    case GapPart::Profiler: return "not the program's: record less (no stacks, no shapes), or in fewer steps";
    case GapPart::LaunchCall:
    case GapPart::QueueFull: return "fewer, larger launches: CUDA graphs, torch.compile, fused kernels";
    case GapPart::UnknownWait:
    case GapPart::Outside:
      return "find out what the host does there, by NVTX ranges in each of its threads: it may wait for a thread that "
             "records nothing";
    default:
      return "let the host run ahead: less work between launches, larger operations, CUDA graphs, other threads "
             "or processes for what is no launch";
  }
}

constexpr std::string_view kActionForWait =
    "find out which thread it waits for, and what that thread does: NVTX ranges in each thread, a thread without them "
    "is "
    "not recorded";

// The longest first: "Linear.forward (linear.py:134) 43ms, Sequential.forward (container.py:250) 12ms".
std::string listed(const std::map<std::string, int64_t>& times, size_t most) {
  std::vector<std::pair<std::string_view, int64_t>> order(times.begin(), times.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < std::min(most, order.size()); ++i)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", order[i].first, scaled_time(order[i].second));
  return text;
}

std::string_view action_for_range(std::string_view name, bool pageable) {
  if (has(name, "DataLoader"))
    return pageable ? "more workers, persistent_workers=True, a larger prefetch_factor, pinned memory"
                    : "more workers, persistent_workers=True, a larger prefetch_factor";
  if (has(name, "ptimizer")) return "an optimiser with foreach=True or fused=True";
  return "make it cheaper or take it out of the loop: torch.compile, CUDA graphs, another thread";
}

std::string_view action_for_call(std::string_view name) {
  if (has(name, "Query")) return "wait on an event instead of asking again and again";
  if (has(name, "Module") || has(name, "Library") || has(name, "Link"))
    return "load code before the part that matters: a warm-up run, CUDA_MODULE_LOADING=EAGER";
  if (has(name, "Create") || has(name, "Destroy") || has(name, "Instantiate")) return "make it once and keep it";
  return "call it less often, or outside the part that matters";
}

// A report of windows begins with the first operation, a finding with the first launch.
std::string with_window(const AdviceInput& in, std::string_view report) {
  const std::string& window = in.input.options.window;
  return fmt::format("{} --window {}", report, window == "gpu" ? "run" : window);
}

bool is_default_window(const AdviceInput& in, const Interval& shown) {
  if (in.input.options.window != "gpu") return false;
  const std::vector<Window> windows = report_windows(in.input);
  return !windows.empty() && shown.begin_ns < windows[0].end_ns && shown.end_ns > windows[0].begin_ns;
}

}  // namespace

void idle_device(const AdviceInput& in, std::vector<Advice>& found) {
  const Trace& trace = in.input.trace;
  const WindowIdle& idle = in.shared.host_idle().of(in.window);
  std::vector<const HostPieces*> most;
  for (const auto& [key, pieces] : idle.host) most.push_back(&pieces);
  std::stable_sort(most.begin(), most.end(),
                   [](const HostPieces* a, const HostPieces* b) { return a->time_ns > b->time_ns; });
  if (most.size() > kMostFindings) most.resize(kMostFindings);
  for (const HostPieces* const pieces : most) {
    Advice advice;
    advice.finding = fmt::format("device {} is idle because of the host: {}", device_text(trace.device(pieces->device)),
                                 pieces->charge.text());
    if (const std::string name = in.shared.host_idle().name_of(*pieces); !name.empty())
      advice.finding += fmt::format(", {}", name);
    advice.evidence = fmt::format("{} gaps, {} of {} idle", pieces->gaps, scaled_time(pieces->time_ns),
                                  scaled_time(idle.of_device(pieces->device).idle_ns));
    if (!pieces->functions.empty()) advice.evidence += fmt::format("; most in {}", listed(pieces->functions, 2));
    const bool pageable = pieces->charge.part == GapPart::CopyCall && any_pageable_copy(in, [&](const Node& node) {
                            const uint32_t call = operation_of(in, node).launch;
                            return std::find(pieces->calls.begin(), pieces->calls.end(), call) != pieces->calls.end();
                          });
    advice.action = pieces->sampled ? action_in_state(*pieces->sampled) : action_for(pieces->charge.part, pageable);
    advice.see = is_default_window(in, pieces->longest) ? "idle-gaps" : with_window(in, "idle-gaps");
    advice.shown = pieces->longest;
    advice.call = pieces->launch;
    advice.stack = pieces->code;
    advice.scenario = without_pieces({pieces});
    if (!advice.scenario.empty()) found.push_back(std::move(advice));
  }
  const bool silent = std::any_of(idle.host.begin(), idle.host.end(), [](const auto& pieces) {
    return may_wait_for_silent_threads(pieces.second.charge.part);
  });
  if (silent) found.emplace_back().note = kSilentThreads;
}

// Which work of the host fills the gaps of the device: the causes, with names, and the code.
void add_host_work(const AdviceInput& in, DeviceId device, Advice& advice) {
  const WindowIdle& idle = in.shared.host_idle().of(in.window);
  const int64_t between_ns = idle.of_device(device).between_ns;
  std::map<std::string, int64_t> causes, functions;
  int64_t host_ns = 0, most_ns = 0;
  for (const auto& [key, pieces] : idle.host) {
    if (pieces.device != device) continue;
    host_ns += pieces.time_ns;
    const std::string name = in.shared.host_idle().name_of(pieces);
    causes[fmt::format("{}{}{}", pieces.charge.text(), name.empty() ? "" : " ", name)] += pieces.time_ns;
    for (const auto& [function, ns] : pieces.functions) functions[function] += ns;
    if (pieces.time_ns <= most_ns) continue;
    most_ns = pieces.time_ns;
    advice.stack = pieces.code;
  }
  if (host_ns == 0) return;
  advice.evidence += fmt::format("; the host fills {} of {} idle before operations: {}", scaled_time(host_ns),
                                 scaled_time(between_ns), listed(causes, 4));
  if (!functions.empty()) advice.evidence += fmt::format("; most in {}", listed(functions, 3));
  if (host_ns * 2 <= between_ns) return;
  for (const auto* const named : {&functions, &causes}) {
    const auto most = std::max_element(named->begin(), named->end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == named->end() || static_cast<double>(most->second) < kLeastNamed * static_cast<double>(host_ns))
      continue;
    advice.finding += fmt::format(" because of the host: {}", most->first);
    return;
  }
  advice.finding += " because of the host";
}

// A device is busy for less than half of the window. The scenario removes all time except that of its operations.
void low_use(const AdviceInput& in, std::vector<Advice>& found) {
  const Trace& trace = in.input.trace;
  const std::vector<IntervalSet>& busy = in.input.views.busy();
  const int64_t begin_ns = in.window.begin_ns, length_ns = in.window.length_ns();
  uint32_t least = kNone;
  std::vector<bool> selected(trace.devices.size());
  each_node(in, kOperationNodes,
            [&](const Node& node) { selected[index(trace.stream(operation_of(in, node).stream()).device)] = true; });
  const auto busy_ns = [&](uint32_t device) { return busy[device].overlap_ns(begin_ns, begin_ns + length_ns); };
  for (uint32_t d = 0; d < trace.devices.size(); ++d) {
    if (selected[d] && busy_ns(d) != 0 && (least == kNone || busy_ns(d) < busy_ns(least))) least = d;
  }
  if (least == kNone || static_cast<double>(busy_ns(least)) >= kLowUse * static_cast<double>(length_ns)) return;
  Advice advice;
  int64_t low = 0, lowest_ns = -1;
  for (int64_t part = 0; part < kParts && length_ns >= kParts; ++part) {
    const Interval time{begin_ns + length_ns / kParts * part, begin_ns + length_ns / kParts * (part + 1)};
    const int64_t used_ns = busy[least].overlap_ns(time.begin_ns, time.end_ns);
    low += static_cast<double>(used_ns) < kLowUse * static_cast<double>(time.length_ns()) ? 1 : 0;
    if (lowest_ns < 0 || used_ns < lowest_ns) {
      lowest_ns = used_ns;
      advice.shown = time;
    }
  }
  advice.finding = fmt::format("device {} works for less than half of the time", device_text(trace.devices[least]));
  advice.evidence = fmt::format("busy {} of {}; in {} of {} equal parts of the window for less than half",
                                scaled_time(busy_ns(least)), scaled_time(length_ns), low, kParts);
  add_host_work(in, DeviceId{trace.devices[least].physical}, advice);
  advice.action =
      "give it larger pieces of work (batches, fused kernels), and let the host run ahead: see the other findings";
  // A thread's selection leaves only the gaps that its launches ended.
  const bool gaps = in.shared.host_idle().of(in.window).of_device(DeviceId{trace.devices[least].physical}).idle_ns != 0;
  advice.see = with_window(in, gaps ? "idle" : "gpu-util");
  advice.scenario = {{kCallNodes, kPartOwn | kPartWait, 0, 0, {}, {}, {}, true},
                     {kHostNodes, kPartBefore, 0, kNodeUnexplained | kNodeReturns, {}, {}, {}, true},
                     {kOperationNodes, kPartOther, kNodeBoundByOther, 0, {}, {}, {}, true},
                     {kOperationNodes, kPartBefore, 0, kNodeBoundByOther | kNodeUnexplained, {}, {}, {}, true}};
  found.push_back(std::move(advice));
}

void slow_launches(const AdviceInput& in, std::vector<Advice>& found) {
  constexpr uint32_t kLaunches = kind_bit(NodeKind::KernelCall) | kind_bit(NodeKind::GraphCall);
  std::vector<int64_t> durations;
  bool any_slow = false;
  each_node(in, kLaunches,
            [&](const Node& node) { any_slow |= !node.has(kNodeReturns) && in.graph.time(node.own) > kSlowLaunchNs; });
  if (!any_slow) return;
  each_node(in, kLaunches, [&](const Node& node) {
    if (!node.has(kNodeReturns)) durations.push_back(in.graph.time(node.own));
  });
  const auto middle = durations.begin() + static_cast<ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  const int64_t median_ns = *middle;
  FoundNodes slow;
  each_node(in, kLaunches, [&](const Node& node) {
    const int64_t ns = in.graph.time(node.own);
    if (!node.has(kNodeReturns) && ns > kSlowLaunchNs && ns / kSlowTimesMedian > median_ns) slow.add(node.row, ns);
  });
  if (slow.count == 0) return;
  Advice advice;
  advice.finding = "a few launch calls are far slower than the others";
  advice.evidence =
      fmt::format("{} of {} calls above {} and {} times the median ({}), {}", slow.count, durations.size(),
                  scaled_time(kSlowLaunchNs), kSlowTimesMedian, scaled_time(median_ns), scaled_time(slow.time_ns));
  advice.action = "first launches load code: warm up, CUDA_MODULE_LOADING=EAGER; else look for locks and page faults";
  advice.see = "launch-apis";
  advice.call = slow.longest;
  advice.scenario = {{kLaunches, kPartOwn, 0, kNodeReturns, {}, only(std::move(slow)), {}}};
  found.push_back(std::move(advice));
}

void other_calls(const AdviceInput& in, std::vector<Advice>& found) {
  size_t findings = 0;
  for (const NamedNodes& nodes : in.named) {  // longest time first
    if (nodes.kind != NodeKind::OtherCall || findings == kMostFindings) continue;
    ++findings;
    Advice advice;
    advice.finding = fmt::format("the host's time in {}", nodes.name);
    advice.evidence = fmt::format("{} calls, {}", nodes.count, scaled_time(nodes.own_ns));
    advice.action = action_for_call(nodes.name);
    advice.see = "api-trace";
    advice.scenario = without_own(nodes);
    FoundNodes calls;
    each_node(in, kind_bit(NodeKind::OtherCall), [&](const Node& node) {
      if (advice.scenario.front().concerns(node)) calls.add(node.row, in.graph.time(node.own));
    });
    advice.call = calls.longest;
    found.push_back(std::move(advice));
  }
}

// The host time before calls, grouped by the innermost range, operator or Python function around it.
void host_work_in(const AdviceInput& in, std::vector<Advice>& found) {
  const Trace& trace = in.input.trace;
  const EventNames names(trace);
  struct Work {
    int64_t time_ns = 0;
    bool waits = false;  // the name of the range names a wait
    Interval longest{};
    std::vector<Column<Piece>> pieces;  // by thread: rows grow, and the rows of a thread precede those of the next one
  };
  std::map<StringId, Work> works;
  in.shared.enter(in.window);
  each_node(in, kCallNodes, [&](const Node& node) {
    if (node.has(kNodeReturns) || node.has(kNodeUnexplained)) return;
    const HostEvent& call = trace.host[node.row];
    const int64_t ns = in.graph.time(node.after_before);
    if (ns <= 0) return;
    const int64_t begin_ns = std::clamp(call.begin_ns, in.window.begin_ns, in.window.end_ns);
    in.shared.cursor(call.thread)
        .walk(begin_ns - ns, begin_ns, [&](int64_t from, int64_t to, uint32_t, uint32_t range) {
          if (range == kNone) return;
          Work& work = works[names.of(trace.ranges[range])];
          grow(work.time_ns, to - from);
          if (to - from > work.longest.length_ns()) work.longest = {from, to};
          if (work.pieces.empty()) {
            work.pieces.resize(trace.threads.size());
            const Range& of = trace.ranges[range];
            work.waits = names_wait(of.kind, trace.text(trace.labels[index(of.label)].text));
          }
          Column<Piece>& pieces = work.pieces[index(call.thread)];
          if (pieces.empty() || pieces.back().call != node.row) pieces.push_back({node.row, 0});
          pieces.back().ns += to - from;
        });
  });
  std::vector<std::pair<StringId, Work*>> most;
  for (auto& [name, work] : works) most.emplace_back(name, &work);
  std::stable_sort(most.begin(), most.end(),
                   [](const auto& a, const auto& b) { return a.second->time_ns > b.second->time_ns; });
  if (most.size() > kMostFindings) most.resize(kMostFindings);
  const bool pageable = any_pageable_copy(in, [](const Node&) { return true; });
  for (const auto& [name, work] : most) {
    const std::string_view text = names.text(name);
    const auto pieces = std::make_shared<Column<Piece>>();
    FoundNodes calls;
    for (Column<Piece>& of_thread : work->pieces) {
      for (const Piece& piece : of_thread) calls.add(piece.call, piece.ns);
      if (pieces->empty()) {
        pieces->swap(of_thread);
      } else {
        for (const Piece& piece : of_thread) pieces->push_back(piece);
      }
      of_thread.free();
    }
    Advice advice;
    advice.finding = fmt::format("{} {}", work->waits ? "the host waits in" : "the host's own work in", text);
    advice.evidence = fmt::format("{} outside CUDA calls, before {} calls", scaled_time(work->time_ns), calls.count);
    advice.action = work->waits ? kActionForWait : action_for_range(text, pageable);
    advice.see = "critical-path";
    advice.shown = work->longest;
    advice.call = calls.longest;
    const auto without_piece = [pieces](uint32_t row, int64_t time_ns) {
      return time_ns - piece_before(*pieces, row).ns;
    };
    advice.scenario = {
        {kCallNodes, kPartBefore, 0, kNodeUnexplained | kNodeReturns, {}, only(std::move(calls)), without_piece}};
    found.push_back(std::move(advice));
  }
}

}  // namespace prof::analyzer
