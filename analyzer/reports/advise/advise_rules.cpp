#include "analyzer/reports/advise/advise_rules.h"

#include "analyzer/base/saturated.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

uint32_t longest_call(const AdviceInput& in, const Scenario& scenario) {
  uint32_t longest = kNone;
  each_node(in, scenario.front().kinds & kCallNodes, [&](const Node& node) {
    if (!scenario.front().concerns(node)) return;
    const auto& host = in.input.trace.host;
    if (longest == kNone || host[node.row].duration_ns() > host[longest].duration_ns()) longest = node.row;
  });
  return longest;
}

namespace {

constexpr int64_t kSmallKernelNs = 10'000, kShortGapNs = 10'000;
constexpr uint64_t kManyKernels = 20, kManyAllocations = 3;
constexpr double kDominating = 0.3;

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
    count += nodes.count;
    grow(time_ns, nodes.own_ns);
    if (nodes.count > most_count) {
      most_count = nodes.count;
      most = nodes.name;
    }
  }
  if (count < kManyKernels) return;
  Advice advice;
  advice.see = "launch-stats";
  advice.finding = "launching kernels one by one";
  advice.evidence = fmt::format("{} launch calls, {}; most: {} ({})", count, scaled_time(time_ns), most, most_count);
  advice.action = "capture the loop in a CUDA graph, or use torch.compile(mode=\"reduce-overhead\")";
  advice.scenario = without_launch_cost();
  advice.call = longest_call(in, advice.scenario);
  found.push_back(std::move(advice));
}

void short_kernels(const AdviceInput& in, std::vector<Advice>& found) {
  const Trace& trace = in.input.trace;
  FoundNodes operations, launches;
  std::unordered_map<uint64_t, uint64_t> pairs;                    // of subjects, the earlier one in the upper half
  std::vector<const Node*> before(trace.streams.size(), nullptr);  // the previous operation, by stream
  each_node(in, kOperationNodes, [&](const Node& node) {
    const GpuOperation& operation = operation_of(in, node);
    const Node*& last = before[operation.stream_index];
    const Node* const previous = std::exchange(last, &node);
    if (previous == nullptr || node.kind() != NodeKind::Kernel || previous->kind() != NodeKind::Kernel) return;
    const GpuOperation& other = operation_of(in, *previous);
    if (operation.duration_ns() > kSmallKernelNs || other.duration_ns() > kSmallKernelNs ||
        operation.start_ns - other.end_ns > kShortGapNs)
      return;
    operations.add(node.row, operation.duration_ns());
    if (operation.linked()) launches.add(operation.launch, trace.host[operation.launch].duration_ns());
    ++pairs[uint64_t{previous->subject()} << 32 | node.subject()];
  });
  if (operations.count < kManyKernels) return;
  // If several pairs are equally frequent, the pair with the smallest number is taken.
  const auto most = std::max_element(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first > b.first;
  });
  Advice advice;
  advice.see = "sequences";
  advice.finding = "short kernels one after the other";
  advice.evidence =
      fmt::format("{} kernels below {} right after another one, {}; most: {} then {} ({})", operations.count,
                  scaled_time(kSmallKernelNs), scaled_time(operations.time_ns),
                  node_name(in.input, NodeKind::Kernel, static_cast<uint32_t>(most->first >> 32)),
                  node_name(in.input, NodeKind::Kernel, static_cast<uint32_t>(most->first)), most->second);
  advice.action = "fuse them: torch.compile, or one kernel by hand";
  advice.call = launches.longest;
  advice.operation = operations.longest;
  advice.scenario = {
      {kind_bit(NodeKind::Kernel), kPartBefore | kPartOther, 0, kNodeUnexplained, {}, only(std::move(operations))},
      {kind_bit(NodeKind::KernelCall), kPartOwn, 0, 0, {}, only(std::move(launches))}};
  found.push_back(std::move(advice));
}

void synchronizations(const AdviceInput& in, std::vector<Advice>& found) {
  for (const NamedNodes& nodes : in.named) {
    if (nodes.kind != NodeKind::SynchronizationCall) continue;
    Advice advice;
    advice.see = "syncs";
    advice.finding = fmt::format("the host waits in {}", nodes.name);
    advice.evidence = fmt::format("{} calls, {} of them waited for work", nodes.count, nodes.returns);
    advice.action = "wait less often: once a step, on an event of the work that is needed, or not at all";
    advice.scenario = without_waits(nodes);
    advice.call = longest_call(in, advice.scenario);
    found.push_back(std::move(advice));
  }
}

void allocations(const AdviceInput& in, std::vector<Advice>& found) {
  const int64_t half_ns = in.graph.begin_ns() + in.graph.wall_ns() / 2;
  FoundNodes calls;
  each_node(in, kind_bit(NodeKind::AllocationCall), [&](const Node& node) {
    const HostEvent& event = in.input.trace.host[node.row];
    if (event.begin_ns >= half_ns) calls.add(node.row, event.duration_ns());
  });
  if (calls.count < kManyAllocations) return;
  Advice advice;
  advice.see = "api-trace";
  advice.finding = "memory is allocated or freed in the second half of the run";
  advice.evidence = fmt::format("{} calls, {}", calls.count, scaled_time(calls.time_ns));
  advice.action = "keep buffers, or use a caching allocator or cudaMallocAsync";
  advice.call = calls.longest;
  advice.scenario = {{kind_bit(NodeKind::AllocationCall), kPartOwn, 0, 0, {}, only(std::move(calls))}};
  found.push_back(std::move(advice));
}

void default_stream(const AdviceInput& in, std::vector<Advice>& found) {
  const std::vector<uint32_t>& ordered = in.shared.ordered_by_legacy();
  if (ordered.empty()) return;
  FoundNodes after;
  each_node(in, kOperationNodes, [&](const Node& node) {
    if (std::binary_search(ordered.begin(), ordered.end(), node.row))
      after.add(node.row, in.graph.time(node.after_before));
  });
  if (after.count == 0) return;
  Advice advice;
  advice.see = "gpu-trace";
  advice.finding = "the default stream orders the other streams";
  advice.evidence = fmt::format("{} operations were ordered after another stream by it", after.count);
  advice.action = "create streams with cudaStreamNonBlocking, or compile with --default-stream per-thread";
  advice.operation = after.longest;
  advice.scenario = {
      {kind_bit(NodeKind::Join), kPartWait, 0, 0, {}, [](uint32_t row) { return row == kLegacyJoin; }, {}, true}};
  found.push_back(std::move(advice));
}

void communication(const AdviceInput& in, std::vector<Advice>& found) {
  const KernelCategories& categories = in.input.views.categories();
  const size_t kernels = in.input.trace.kernels.size();
  std::vector<bool> communicates(kernels), subjects(kernels);
  for (uint32_t kernel = 0; kernel < kernels; ++kernel)
    communicates[kernel] = categories.purpose(KernelId{kernel}) == Purpose::Communication;
  if (std::find(communicates.begin(), communicates.end(), true) == communicates.end()) return;
  FoundNodes operations;
  each_node(in, kind_bit(NodeKind::Kernel), [&](const Node& node) {
    if (node.subject() >= kernels || !communicates[node.subject()]) return;
    subjects[node.subject()] = true;
    operations.add(node.row, operation_of(in, node).duration_ns());
  });
  if (operations.count == 0) return;
  Advice advice;
  advice.see = "breakdown";
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
    grow(all_ns, nodes.own_ns);
    if (nodes.kind == NodeKind::Kernel && (most == nullptr || nodes.own_ns > most->own_ns)) most = &nodes;
  }
  if (most == nullptr || static_cast<double>(most->own_ns) < kDominating * static_cast<double>(all_ns)) return;
  Advice advice;
  advice.see = "kernels";
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
  FoundNodes launches;
  each_node(in, kCallNodes, [&](const Node& node) {
    if (node.has(kNodeReturns) && std::binary_search(blocked.begin(), blocked.end(), node.row))
      launches.add(node.row, in.input.trace.host[node.row].duration_ns());
  });
  if (launches.count == 0) return;
  Advice advice;
  advice.see = "queue-depth";
  advice.finding = "launches wait because the queue is full";
  advice.evidence = fmt::format("{} launches, {} in their calls", launches.count, scaled_time(launches.time_ns));
  advice.action = "harmless while the GPU is busy; else launch fewer, larger operations or use a graph";
  advice.scenario = without_full_queue(in.graph.dependencies());
  advice.call = launches.longest;
  found.push_back(std::move(advice));
}

void host_work(const AdviceInput& in, std::vector<Advice>& found) {
  FoundNodes before;  // calls
  int64_t time_ns = 0;
  each_node(in, kHostNodes, [&](const Node& node) {
    if (node.has(kNodeReturns) || node.has(kNodeUnexplained)) return;
    grow(time_ns, in.graph.time(node.after_before));
    if (node.kind() != NodeKind::Point) before.add(node.row, in.graph.time(node.after_before));
  });
  if (time_ns == 0) return;
  Advice advice;
  advice.see = "critical-path";
  advice.finding = "host time between CUDA calls: work, and waits for what is not recorded";
  advice.evidence = fmt::format("{} on all threads", scaled_time(time_ns));
  advice.action =
      "take work out of the loop: torch.compile, larger batches, data loading in other processes, CUDA graphs";
  advice.scenario = without_host_work();
  if (before.longest != kNone) {
    const int64_t end_ns = in.input.trace.host[before.longest].begin_ns;
    advice.call = before.longest;
    advice.shown = {end_ns - before.longest_ns, end_ns};
  }
  found.push_back(std::move(advice));
}

constexpr AdviceRule kRules[] = {
    {"launch-cost", launch_cost},
    {"short-kernels", short_kernels, true},
    {"synchronization", synchronizations},
    {"blocking-copy", blocking_copies},
    {"blocking-memset", blocking_memsets},
    {"pageable-copy", pageable_copies},
    {"small-copies", small_copies},
    {"moved-data", moved_data},
    {"repeated-copies", repeated_copies},
    {"round-trips", round_trips},
    {"slow-copies", slow_copies},
    {"exposed-copies", copies_not_overlapped},
    {"allocation", allocations},
    {"default-stream", default_stream},
    {"communication", communication},
    {"dominating-kernel", dominating_kernel},
    {"full-queue", full_queue},
    {"host-work", host_work},
    {"host-work-in", host_work_in, true},
    {"idle-device", idle_device, true},
    {"low-use", low_use},
    {"slow-launches", slow_launches},
    {"other-call", other_calls},
    {"small-grid", small_grids},
    {"device-imbalance", device_imbalance},
    {"late-rank", late_rank},
};

}  // namespace

std::span<const AdviceRule> advice_rules() { return kRules; }

}  // namespace prof::analyzer
