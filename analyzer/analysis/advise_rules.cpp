#include "analyzer/analysis/advise_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr int64_t kShortKernelNs = 10'000, kShortGapNs = 10'000;
constexpr uint64_t kManyKernels = 20, kManyCopies = 10, kManyAllocations = 3;
constexpr uint64_t kSmallCopyBytes = 64 * 1024;
constexpr double kDominating = 0.3;

// Which nodes of a kind a rule is about, counted as they are found.
struct Found {
  std::vector<bool> rows;
  uint64_t count = 0;
  int64_t time_ns = 0, longest_ns = -1;
  uint32_t longest = kNone;  // row

  void add(uint32_t row, int64_t ns) {
    if (row >= rows.size()) rows.resize(std::max<size_t>(row + 1, rows.size() * 2));
    if (rows[row]) return;
    rows[row] = true;
    ++count;
    time_ns += ns;
    if (ns > longest_ns) longest_ns = ns, longest = row;
  }
};

// Holds the rows as long as the scenario lives.
std::function<bool(uint32_t)> only(Found&& found) {
  return [rows = std::make_shared<const std::vector<bool>>(std::move(found.rows))](uint32_t row) {
    return row < rows->size() && (*rows)[row];
  };
}

template <class Take> void each_node(const AdviceInput& in, uint32_t kinds, Take&& take) {
  for (uint32_t id = 1; id < in.graph.nodes().size(); ++id) {
    const Node& node = in.graph.nodes()[id];
    if ((kinds & kind_bit(node.kind())) != 0) take(node);
  }
}

const GpuOperation& operation_of(const AdviceInput& in, const Node& node) {
  return in.input.trace.operations[node.row];
}

// The longest call of those that concern the scenario's first change.
uint32_t longest_call(const AdviceInput& in, const Scenario& scenario) {
  uint32_t longest = kNone;
  each_node(in, scenario.front().kinds & kCallNodes, [&](const Node& node) {
    if (!scenario.front().concerns(node)) return;
    const auto& host = in.input.trace.host;
    if (longest == kNone || host[node.row].duration_ns() > host[longest].duration_ns()) longest = node.row;
  });
  return longest;
}

uint32_t longest_operation(const AdviceInput& in, const Scenario& scenario) {
  uint32_t longest = kNone;
  each_node(in, scenario.front().kinds & kOperationNodes, [&](const Node& node) {
    if (!scenario.front().concerns(node)) return;
    const auto& operations = in.input.trace.operations;
    if (longest == kNone || operations[node.row].duration_ns() > operations[longest].duration_ns()) longest = node.row;
  });
  return longest;
}

void launch_cost(const AdviceInput& in, std::vector<Advice>& found) {
  uint64_t count = 0, most_count = 0;
  int64_t time_ns = 0;
  std::string_view most;
  for (const NamedNodes& nodes : in.named) {
    if (nodes.kind != NodeKind::KernelCall) continue;
    count += nodes.count, time_ns += nodes.own_ns;
    if (nodes.count > most_count) most_count = nodes.count, most = nodes.name;
  }
  if (count < kManyKernels) return;
  Advice advice;
  advice.finding = "launching kernels one by one";
  advice.evidence = fmt::format("{} launch calls, {}; most: {} ({})", count, scaled_time(time_ns), most, most_count);
  advice.action = "capture the loop in a CUDA graph, or use torch.compile(mode=\"reduce-overhead\")";
  advice.scenario = without_launch_cost();
  advice.call = longest_call(in, advice.scenario);
  found.push_back(std::move(advice));
}

void short_kernels(const AdviceInput& in, std::vector<Advice>& found) {
  const Trace& trace = in.input.trace;
  Found operations, launches;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> pairs;  // of subjects
  std::map<uint32_t, const Node*> before;                   // stream -> its operation before
  each_node(in, kOperationNodes, [&](const Node& node) {
    const GpuOperation& operation = operation_of(in, node);
    const Node*& last = before[operation.stream_index];
    const Node* const previous = std::exchange(last, &node);
    if (previous == nullptr || node.kind() != NodeKind::Kernel || previous->kind() != NodeKind::Kernel) return;
    const GpuOperation& other = operation_of(in, *previous);
    if (operation.duration_ns() > kShortKernelNs || other.duration_ns() > kShortKernelNs ||
        operation.start_ns - other.end_ns > kShortGapNs)
      return;
    operations.add(node.row, operation.duration_ns());
    if (operation.linked()) launches.add(operation.launch, trace.host[operation.launch].duration_ns());
    ++pairs[{previous->subject(), node.subject()}];
  });
  if (operations.count < kManyKernels) return;
  const auto most =
      std::max_element(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  Advice advice;
  advice.finding = "short kernels one after the other";
  advice.evidence = fmt::format("{} kernels below {} right behind another one, {}; most: {} then {} ({})",
                                operations.count, scaled_time(kShortKernelNs), scaled_time(operations.time_ns),
                                node_name(in.input, NodeKind::Kernel, most->first.first),
                                node_name(in.input, NodeKind::Kernel, most->first.second), most->second);
  advice.action = "fuse them: torch.compile, or one kernel by hand; the sequences report lists the runs";
  advice.call = launches.longest, advice.operation = operations.longest;
  advice.scenario = {
      {kind_bit(NodeKind::Kernel), kPartBefore | kPartOther, 0, kNodeUnexplained, {}, only(std::move(operations))},
      {kind_bit(NodeKind::KernelCall), kPartOwn, 0, 0, {}, only(std::move(launches))}};
  found.push_back(std::move(advice));
}

void synchronizations(const AdviceInput& in, std::vector<Advice>& found) {
  for (const NamedNodes& nodes : in.named) {
    if (nodes.kind != NodeKind::SynchronizationCall) continue;
    Advice advice;
    advice.finding = fmt::format("the host waits in {}", nodes.name);
    advice.evidence = fmt::format("{} calls, {} of them waited for work", nodes.count, nodes.returns);
    advice.action = "wait less often: once a step, on an event of the work that is needed, or not at all";
    advice.scenario = without_waits(nodes);
    advice.call = longest_call(in, advice.scenario);
    found.push_back(std::move(advice));
  }
}

void blocking_copies(const AdviceInput& in, std::vector<Advice>& found) {
  for (const NamedNodes& nodes : in.named) {
    if (nodes.kind != NodeKind::MemoryCall || nodes.returns == 0) continue;
    Advice advice;
    advice.finding = fmt::format("{} holds its caller until the copy is done", nodes.name);
    advice.evidence = fmt::format("{} of {} calls waited", nodes.returns, nodes.count);
    advice.action =
        "copy asynchronously to pinned memory and wait later; in PyTorch avoid .item(), .cpu(), print() of a "
        "tensor in the loop, and copy with non_blocking=True";
    advice.scenario = without_blocked_copies(in.graph.dependencies());
    advice.scenario.front().subjects = nodes.subjects;
    advice.call = longest_call(in, advice.scenario);
    found.push_back(std::move(advice));
  }
}

// Copies that a rule takes, with the calls that made them.
template <class Take>
void some_copies(const AdviceInput& in, uint64_t at_least, Advice advice, std::vector<Advice>& found, Take&& take) {
  Found copies, calls;
  uint64_t bytes = 0;
  each_node(in, kind_bit(NodeKind::Copy), [&](const Node& node) {
    const GpuOperation& operation = operation_of(in, node);
    if (!take(operation)) return;
    copies.add(node.row, operation.duration_ns());
    bytes += operation.bytes;
    if (operation.linked()) calls.add(operation.launch, in.input.trace.host[operation.launch].duration_ns());
  });
  if (copies.count < at_least) return;
  advice.evidence = fmt::format("{} copies, {} bytes, {}; {} in their calls", copies.count, bytes,
                                scaled_time(copies.time_ns), scaled_time(calls.time_ns));
  advice.call = calls.longest, advice.operation = copies.longest;
  advice.scenario = {{kind_bit(NodeKind::Copy), kPartOwn | kPartOther, 0, 0, {}, only(std::move(copies))},
                     {kind_bit(NodeKind::MemoryCall), kPartOwn, 0, 0, {}, only(std::move(calls))}};
  found.push_back(std::move(advice));
}

void pageable_copies(const AdviceInput& in, std::vector<Advice>& found) {
  constexpr uint32_t kPageable = 1;  // CUPTI's memory kind
  Advice advice;
  advice.finding = "copies of pageable memory";
  advice.action = "allocate with cudaHostAlloc, or pin_memory=True in the DataLoader: faster and asynchronous";
  some_copies(in, 1, std::move(advice), found, [](const GpuOperation& copy) {
    return (copy.detail >> 8 & 255) == kPageable || (copy.detail >> 16 & 255) == kPageable;
  });
}

void small_copies(const AdviceInput& in, std::vector<Advice>& found) {
  Advice advice;
  advice.finding = "many copies of 64 KiB or less";
  advice.action = "gather them in one buffer and copy once";
  some_copies(in, kManyCopies, std::move(advice), found,
              [](const GpuOperation& copy) { return copy.bytes <= kSmallCopyBytes; });
}

void copies_not_overlapped(const AdviceInput& in, std::vector<Advice>& found) {
  Found copies;
  each_node(in, kind_bit(NodeKind::Copy),
            [&](const Node& node) { copies.add(node.row, operation_of(in, node).duration_ns()); });
  if (copies.count == 0) return;
  Advice advice;
  advice.finding = "copies that run while no kernel does";
  advice.evidence = fmt::format("{} copies, {}", copies.count, scaled_time(copies.time_ns));
  advice.action = "copy on a stream of its own, one batch ahead, from pinned memory";
  advice.scenario = without_copies();
  advice.floor_ns = longest_copies_ns(in.graph);
  advice.operation = copies.longest;
  found.push_back(std::move(advice));
}

void allocations(const AdviceInput& in, std::vector<Advice>& found) {
  const int64_t half_ns = in.graph.begin_ns() + in.graph.wall_ns() / 2;
  Found calls;
  each_node(in, kind_bit(NodeKind::AllocationCall), [&](const Node& node) {
    const HostEvent& event = in.input.trace.host[node.row];
    if (event.begin_ns >= half_ns) calls.add(node.row, event.duration_ns());
  });
  if (calls.count < kManyAllocations) return;
  Advice advice;
  advice.finding = "memory is allocated or freed in the second half of the run";
  advice.evidence = fmt::format("{} calls, {}", calls.count, scaled_time(calls.time_ns));
  advice.action = "keep buffers, or use a caching allocator or cudaMallocAsync";
  advice.call = calls.longest;
  advice.scenario = {{kind_bit(NodeKind::AllocationCall), kPartOwn, 0, 0, {}, only(std::move(calls))}};
  found.push_back(std::move(advice));
}

void default_stream(const AdviceInput& in, std::vector<Advice>& found) {
  uint64_t count = 0;
  for (const Wait& wait : in.graph.dependencies().of_operations) count += wait.legacy;
  if (count == 0) return;
  Advice advice;
  advice.finding = "the default stream orders the other streams";
  advice.evidence = fmt::format("{} times an operation was ordered behind another stream by it", count);
  advice.action = "create streams with cudaStreamNonBlocking, or compile with --default-stream per-thread";
  advice.scenario = {{kind_bit(NodeKind::Join), kPartWait, 0, 0, {}, [](uint32_t row) { return row == kLegacyJoin; }}};
  found.push_back(std::move(advice));
}

void communication(const AdviceInput& in, std::vector<Advice>& found) {
  const KernelCategories& categories = in.input.views.categories();
  const size_t kernels = in.input.trace.kernels.size();
  std::vector<bool> subjects(kernels);
  Found operations;
  each_node(in, kind_bit(NodeKind::Kernel), [&](const Node& node) {
    if (node.subject() >= kernels || categories.purpose(KernelId{node.subject()}) != Purpose::Communication) return;
    subjects[node.subject()] = true;
    operations.add(node.row, operation_of(in, node).duration_ns());
  });
  if (operations.count == 0) return;
  Advice advice;
  advice.finding = "communication that nothing overlaps";
  advice.evidence = fmt::format("{} kernels, {}", operations.count, scaled_time(operations.time_ns));
  advice.action = "overlap it with computing: buckets in DDP, prefetch in FSDP, a stream of its own";
  advice.scenario = {{kind_bit(NodeKind::Kernel), kPartOwn, 0, 0, subjects, {}}};
  advice.operation = operations.longest;
  found.push_back(std::move(advice));
}

void dominating_kernel(const AdviceInput& in, std::vector<Advice>& found) {
  int64_t all_ns = 0;
  const NamedNodes* most = nullptr;
  for (const NamedNodes& nodes : in.named) {
    if ((kind_bit(nodes.kind) & kOperationNodes) == 0) continue;
    all_ns += nodes.own_ns;
    if (nodes.kind == NodeKind::Kernel && (most == nullptr || nodes.own_ns > most->own_ns)) most = &nodes;
  }
  if (most == nullptr || static_cast<double>(most->own_ns) < kDominating * static_cast<double>(all_ns)) return;
  Advice advice;
  advice.finding = fmt::format("one kernel takes much of the GPU's time: {}", most->name);
  advice.evidence =
      fmt::format("{} times, {} of {} of all operations", most->count, scaled_time(most->own_ns), scaled_time(all_ns));
  advice.action = "optimise this kernel first: Nsight Compute, a library's version of it, a smaller data type";
  advice.scenario = without_own(*most);
  advice.operation = longest_operation(in, advice.scenario);
  found.push_back(std::move(advice));
}

void full_queue(const AdviceInput& in, std::vector<Advice>& found) {
  const std::vector<uint32_t>& blocked = in.graph.dependencies().blocked_launches;
  if (blocked.empty()) return;
  Advice advice;
  advice.finding = "launches wait because the queue is full";
  advice.evidence = fmt::format("{} launches", blocked.size());
  advice.action = "harmless while the GPU is busy; else launch fewer, larger operations or use a graph";
  advice.scenario = without_full_queue(in.graph.dependencies());
  advice.call = longest_call(in, advice.scenario);
  found.push_back(std::move(advice));
}

void host_work(const AdviceInput& /*input*/, std::vector<Advice>& found) {
  Advice advice;
  advice.finding = "the host's own work between CUDA calls";
  advice.evidence = "critical-path says in which operators and functions";
  advice.action =
      "take work out of the loop: torch.compile, larger batches, data loading in other processes, CUDA graphs";
  advice.scenario = without_host_work();
  found.push_back(std::move(advice));
}

constexpr AdviceRule kRules[] = {
    {"launch-cost", launch_cost},
    {"short-kernels", short_kernels},
    {"synchronization", synchronizations},
    {"blocking-copy", blocking_copies},
    {"pageable-copy", pageable_copies},
    {"small-copies", small_copies},
    {"exposed-copies", copies_not_overlapped},
    {"allocation", allocations},
    {"default-stream", default_stream},
    {"communication", communication},
    {"dominating-kernel", dominating_kernel},
    {"full-queue", full_queue},
    {"host-work", host_work},
};

}  // namespace

std::span<const AdviceRule> advice_rules() { return kRules; }

}  // namespace prof::analyzer
