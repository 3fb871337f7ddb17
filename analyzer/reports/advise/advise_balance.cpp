// Rules about uneven load: over the SMs of a device, over the devices of a process, and over processes whose
// communication kernels wait for each other.
#include "analyzer/analysis/collectives/host_clocks.h"
#include "analyzer/analysis/idle/gap_text.h"
#include "analyzer/base/saturated.h"
#include "analyzer/reports/advise/advise_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace prof::analyzer {

namespace {

constexpr double kUneven = 0.8;  // a device below this share of the busiest device's time is uneven
std::string process_text(const Process& process) {
  return process.rank ? fmt::format("rank {} (pid {})", *process.rank, process.pid)
                      : fmt::format("pid {}", process.pid);
}

}  // namespace

void small_grids(const AdviceInput& in, std::vector<Advice>& found) {
  const Trace& trace = in.input.trace;
  const auto fill_of = [&trace, &shared = in.shared](uint32_t row) {
    const GpuOperation& operation = trace.operations[row];
    return shared.fill(trace.stream(operation.stream()).device, operation.detail);
  };
  FoundNodes kernels;
  std::unordered_map<uint32_t, int64_t> by_kernel;
  each_node(in, kind_bit(NodeKind::Kernel), [&](const Node& node) {
    if (fill_of(node.row) >= 1) return;
    kernels.add(node.row, in.graph.time(node.own));
    by_kernel[operation_of(in, node).detail] += in.graph.time(node.own);
  });
  if (kernels.count == 0) return;
  const auto most = std::max_element(by_kernel.begin(), by_kernel.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first > b.first;
  });
  Advice advice;
  advice.finding = "kernels with fewer blocks than the device has SMs";
  advice.evidence = fmt::format("{} kernels, {}; most: {} ({})", kernels.count, scaled_time(kernels.time_ns),
                                node_name(in.input, NodeKind::Kernel, most->first), scaled_time(most->second));
  advice.action =
      "give them more, smaller blocks (split-K, larger batches), or run them beside others on another stream";
  advice.see = "gpu-trace";
  advice.operation = kernels.longest;
  // If the same blocks are spread over all SMs, they take at least this share of the time.
  const auto share = [fill_of](uint32_t row, int64_t time_ns) {
    return static_cast<int64_t>(std::floor(static_cast<double>(time_ns) * fill_of(row)));
  };
  advice.scenario = {{kind_bit(NodeKind::Kernel), kPartOwn, 0, 0, {}, only(std::move(kernels)), share}};
  found.push_back(std::move(advice));
}

// One device of a process is busy while another one is idle. The best case is that all devices are busy equally long.
// The scenario removes the time in which the busiest device runs while another one is idle. The run still takes at
// least the mean of the devices' busy times.
void device_imbalance(const AdviceInput& in, std::vector<Advice>& found) {
  const Trace& trace = in.input.trace;
  const Interval window{in.window.begin_ns, in.window.end_ns};
  for (uint32_t p = 0; p < trace.processes.size(); ++p) {
    std::map<uint32_t, IntervalSet> busy;  // physical GPU -> when it is busy
    for (uint32_t d = 0; d < trace.devices.size(); ++d) {
      if (index(trace.devices[d].process) != p) continue;
      IntervalSet of_device = in.input.views.busy()[d].clip(window.begin_ns, window.end_ns);
      if (!of_device.empty()) busy[trace.devices[d].physical] = std::move(of_device);
    }
    if (busy.size() < 2) continue;
    const auto busiest = std::max_element(busy.begin(), busy.end(), [](const auto& a, const auto& b) {
      return a.second.length_ns() < b.second.length_ns();
    });
    int64_t sum_ns = 0;
    IntervalSet all_work({window});  // when all other devices are busy
    for (const auto& [gpu, of_gpu] : busy) {
      grow(sum_ns, of_gpu.length_ns());
      if (gpu != busiest->first) all_work = all_work.intersect(of_gpu);
    }
    const int64_t mean_ns = sum_ns / static_cast<int64_t>(busy.size()), most_ns = busiest->second.length_ns();
    if (static_cast<double>(mean_ns) > kUneven * static_cast<double>(most_ns)) continue;
    const IntervalSet alone = busiest->second.subtract(all_work);
    FoundNodes operations;
    Device const* device = nullptr;
    each_node(in, kOperationNodes, [&](const Node& node) {
      const GpuOperation& operation = operation_of(in, node);
      const Device& of = trace.device(trace.stream(operation.stream()).device);
      if (index(of.process) != p || of.physical != busiest->first) return;
      device = &of;
      if (alone.overlap_ns(operation.start_ns, operation.end_ns) != 0)
        operations.add(node.row, in.graph.time(node.own));
    });
    if (operations.count == 0) continue;
    Advice advice;
    advice.finding = fmt::format("device {} of pid {} works while others of the process are idle", device_text(*device),
                                 trace.processes[p].pid);
    advice.evidence =
        fmt::format("busy {}, the {} devices on average {}; alone or with fewer for {}", scaled_time(most_ns),
                    busy.size(), scaled_time(mean_ns), scaled_time(alone.length_ns()));
    advice.action = "spread the work evenly: shards of equal cost, more micro-batches of a pipeline";
    advice.see = "gpu-util";
    advice.operation = operations.longest;
    advice.floor_ns = mean_ns;
    for (const Interval& part : alone.parts()) {
      if (part.length_ns() > advice.shown.length_ns()) advice.shown = part;
    }
    advice.scenario = {{kOperationNodes, kPartOwn, 0, 0, {}, only(std::move(operations)), {}}};
    found.push_back(std::move(advice));
  }
}

namespace {

// Kernels of several processes that belong to one collective operation.
struct Meeting {
  std::vector<uint32_t> operations;  // rows, in order of start: the others waited for the last one
};

struct CommunicationKernels {
  std::map<std::string_view, std::vector<uint32_t>> by_name;  // rows, in order of their start
  std::unordered_set<uint32_t> selected;                      // rows
};

CommunicationKernels communication_kernels(const AdviceInput& in) {
  const Trace& trace = in.input.trace;
  const KernelCategories& categories = in.input.views.categories();
  CommunicationKernels found;
  in.graph.each_node(kind_bit(NodeKind::Kernel), [&](uint32_t, const Node& node) {
    if (node.subject() >= trace.kernels.size()) return;
    if (categories.purpose(KernelId{node.subject()}) != Purpose::Communication) return;
    found.by_name[node_name(in.input, NodeKind::Kernel, node.subject())].push_back(node.row);
    if (in.selected.has(node)) found.selected.insert(node.row);
  });
  for (auto& [name, rows] : found.by_name) {
    std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
      return trace.operations[a].start_ns < trace.operations[b].start_ns;
    });
  }
  return found;
}

// Kernels of one collective end at nearly the same time: within this time, or within half of the shortest kernel.
constexpr int64_t kEndTogetherNs = 10'000;

Interval time_of(const Trace& trace, uint32_t row) {
  return {trace.operations[row].start_ns, trace.operations[row].last_ns()};
}

// Finds communication kernels of one name that run at the same time in different processes and end together.
std::vector<Meeting> meetings(const Trace& trace, const std::map<std::string_view, std::vector<uint32_t>>& by_name) {
  std::vector<Meeting> found;
  for (const auto& [name, rows] : by_name) {
    std::vector<Meeting> open;
    for (const uint32_t row : rows) {
      const Interval operation = time_of(trace, row);
      const auto process_of = [&](uint32_t of) { return trace.process_of(trace.operations[of].stream()); };
      const auto belongs = [&](const Meeting& meeting) {
        for (const uint32_t other_row : meeting.operations) {
          const Interval other = time_of(trace, other_row);
          const int64_t apart = std::abs(other.end_ns - operation.end_ns);
          const int64_t shortest = std::min(other.length_ns(), operation.length_ns());
          if (process_of(other_row) == process_of(row) || other.end_ns <= operation.begin_ns ||
              apart > std::max(kEndTogetherNs, shortest / 2))
            return false;
        }
        return true;
      };
      std::erase_if(open, [&](const Meeting& meeting) {
        if (time_of(trace, meeting.operations.front()).end_ns > operation.begin_ns) return false;
        if (meeting.operations.size() > 1) found.push_back(meeting);
        return true;
      });
      const auto meeting = std::find_if(open.begin(), open.end(), belongs);
      if (meeting != open.end()) {
        meeting->operations.push_back(row);
      } else {
        open.push_back({{row}});
      }
    }
    for (const Meeting& meeting : open) {
      if (meeting.operations.size() > 1) found.push_back(meeting);
    }
  }
  return found;
}

// Whether communication kernels ran on a host whose clock is not known.
bool has_unknown_clock(const Trace& trace, const CommunicationKernels& kernels) {
  if (trace.clocks.empty()) return false;
  return std::any_of(kernels.by_name.begin(), kernels.by_name.end(), [&](const auto& of_name) {
    return std::any_of(of_name.second.begin(), of_name.second.end(), [&](uint32_t row) {
      const Process& process = trace.processes[index(trace.process_of(trace.operations[row].stream()))];
      return !trace.clocks[process.clock].known();
    });
  });
}

// Whether the last kernel started certainly after all others: by more than the clocks of the two hosts may be apart.
bool last_is_certain(const Trace& trace, const Meeting& meeting) {
  const auto process_of = [&](uint32_t row) { return trace.process_of(trace.operations[row].stream()); };
  const uint32_t last = meeting.operations.back();
  const int64_t last_ns = time_of(trace, last).begin_ns;
  return std::all_of(meeting.operations.begin(), meeting.operations.end() - 1, [&](uint32_t row) {
    const std::optional<int64_t> bound_ns = clock_bound_ns(trace, process_of(row), process_of(last), last_ns);
    return bound_ns && (*bound_ns == 0 || last_ns - time_of(trace, row).begin_ns > *bound_ns);
  });
}

}  // namespace

// One process is the last to start its communication kernels, so the kernels of the others wait for it. The scenario
// removes this wait from every such kernel, and all host and GPU time of the late process. If the last start is not
// certain because of the clocks of the hosts, it does not count: a line of the header reports it.
// There is no finding if the selection contains none of the kernels with which the process came last.
void late_rank(const AdviceInput& in, std::vector<Advice>& found) {
  const Trace& trace = in.input.trace;
  if (trace.processes.size() < 2) return;
  const auto kernels = communication_kernels(in);
  const std::vector<Meeting> all = meetings(trace, kernels.by_name);
  struct Late {
    uint64_t times = 0;
    int64_t waited_ns = 0, longest_ns = 0, shown_ns = 0;
    Interval shown{};
    uint32_t operation = kNone;
  };
  std::map<uint32_t, Late> by_process;
  auto waits = std::make_shared<std::unordered_map<uint32_t, int64_t>>();  // operation -> its time after the wait
  uint64_t uncertain = 0;
  int64_t uncertain_ns = 0;  // the longest wait in them
  for (const Meeting& meeting : all) {
    const uint32_t last = meeting.operations.back();
    const int64_t last_ns = time_of(trace, last).begin_ns;
    if (!last_is_certain(trace, meeting)) {
      ++uncertain;
      uncertain_ns = std::max(uncertain_ns, last_ns - time_of(trace, meeting.operations.front()).begin_ns);
      continue;
    }
    int64_t waited_ns = 0;
    for (const uint32_t row : meeting.operations) {
      grow(waited_ns, last_ns - time_of(trace, row).begin_ns);
      waits->emplace(row, time_of(trace, row).end_ns - last_ns);
    }
    Late& late = by_process[index(trace.process_of(trace.operations[last].stream()))];
    ++late.times;
    grow(late.waited_ns, waited_ns);
    const int64_t first_ns = time_of(trace, meeting.operations.front()).begin_ns;
    late.longest_ns = std::max(late.longest_ns, last_ns - first_ns);
    // What is shown must be among the rows that the reader sees.
    if (last_ns - first_ns <= late.shown_ns || !kernels.selected.contains(last)) continue;
    late.shown_ns = last_ns - first_ns;
    late.shown = {first_ns, trace.operations[last].last_ns()};
    late.operation = last;
  }
  const auto most = std::max_element(by_process.begin(), by_process.end(), [](const auto& a, const auto& b) {
    return a.second.waited_ns < b.second.waited_ns;
  });
  if (by_process.empty() && (uncertain != 0 || (all.empty() && has_unknown_clock(trace, kernels)))) {
    found.push_back({});
    found.back().note = "late-rank: cannot tell which process is late: ";
    found.back().note += uncertain == 0 ? std::string("the clocks of the hosts are not known to agree")
                                        : fmt::format(
                                              "in {} collectives the waits (at most {}) are shorter than the "
                                              "bounds of the clocks of the hosts",
                                              uncertain, scaled_time(uncertain_ns));
  }
  if (most == by_process.end() || most->second.waited_ns == 0) return;
  const uint32_t process = most->first;
  const Late& late = most->second;
  if (late.operation == kNone) return;
  const auto of_late = [&trace, process](uint32_t operation) {
    return index(trace.process_of(trace.operations[operation].stream())) == process;
  };
  const auto by_late = [&trace, process](uint32_t call) {
    return index(trace.thread(trace.host[call].thread).process) == process;
  };
  Advice advice;
  advice.finding =
      fmt::format("other processes wait in communication kernels for {}", process_text(trace.processes[process]));
  advice.evidence = fmt::format("it comes last to {} of {} collectives; the others' kernels wait {} for it, at most {}",
                                late.times, all.size(), scaled_time(late.waited_ns), scaled_time(late.longest_ns));
  if (uncertain != 0)
    advice.evidence += fmt::format("; in {} others the clocks of the hosts do not show who is last", uncertain);
  advice.action =
      "find what this process does longer than the others: uneven data, a slow device or host, work of one rank only";
  advice.see = "gpu-trace";
  advice.operation = late.operation;
  advice.shown = late.shown;
  const auto in_meeting = [waits](uint32_t row) { return waits->contains(row); };
  const auto outside = [waits, of_late](uint32_t row) { return of_late(row) && !waits->contains(row); };
  advice.scenario = {{kind_bit(NodeKind::Kernel),
                      kPartOwn,
                      0,
                      0,
                      {},
                      in_meeting,
                      [waits](uint32_t row, int64_t) { return waits->at(row); },
                      true},
                     {kOperationNodes, kPartOwn, 0, 0, {}, outside, {}, true},
                     {kOperationNodes, kPartBefore | kPartOther, 0, kNodeUnexplained, {}, of_late, {}, true},
                     {kCallNodes, kPartOwn | kPartWait, 0, 0, {}, by_late, {}, true},
                     {kCallNodes, kPartBefore, 0, kNodeUnexplained | kNodeReturns, {}, by_late, {}, true}};
  found.push_back(std::move(advice));
}

}  // namespace prof::analyzer
