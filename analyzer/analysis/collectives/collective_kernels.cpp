#include "analyzer/analysis/collectives/collective_kernels.h"

#include "analyzer/analysis/bursts.h"
#include "analyzer/analysis/collectives/host_clocks.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace prof::analyzer {

namespace {

using OfProcesses = std::map<ProcessId, std::vector<CollectiveKernel*>>;  // by start

int64_t start_of(const Trace& trace, const CollectiveKernel& kernel) {
  return trace.operations[kernel.operation].start_ns;
}

bool alike(const CollectiveKernel& a, const CollectiveKernel& b) {
  return a.call.kind == b.call.kind && a.call.size == b.call.size;
}

// Sets the latest start in the n-th kernels of all processes. If they do not overlap, they may not be one operation:
// nothing is set.
void meet(const Trace& trace, const std::vector<CollectiveKernel*>& kernels) {
  int64_t latest_ns = INT64_MIN, first_end_ns = INT64_MAX;
  for (const CollectiveKernel* each : kernels) {
    latest_ns = std::max(latest_ns, start_of(trace, *each));
    first_end_ns = std::min(first_end_ns, trace.operations[each->operation].end_ns);
  }
  if (latest_ns >= first_end_ns) return;
  const auto process_of = [&](const CollectiveKernel* kernel) {
    return trace.process_of(trace.operations[kernel->operation].stream());
  };
  // The wait of a kernel is certain if it is longer than what the clocks of the two ranks may be apart.
  const auto is_certain = [&](const CollectiveKernel* kernel, const CollectiveKernel* latest) {
    const std::optional<int64_t> bound_ns = clock_bound_ns(trace, process_of(kernel), process_of(latest), latest_ns);
    return bound_ns && (*bound_ns == 0 || latest_ns - start_of(trace, *kernel) > *bound_ns);
  };
  const CollectiveKernel* const latest =
      *std::find_if(kernels.begin(), kernels.end(),
                    [&](const CollectiveKernel* each) { return start_of(trace, *each) == latest_ns; });
  const bool latest_is_certain = std::all_of(kernels.begin(), kernels.end(), [&](const CollectiveKernel* each) {
    return each == latest || is_certain(each, latest);
  });
  for (CollectiveKernel* each : kernels) {
    if (each == latest ? latest_is_certain : is_certain(each, latest)) {
      each->latest_start_ns = latest_ns;
    } else {
      each->within_bound = true;
    }
  }
}

void meet_all(const Trace& trace, OfProcesses& processes) {
  const std::vector<CollectiveKernel*>& first = processes.begin()->second;
  const uint64_t ranks = first.front()->call.known_ranks();
  if (processes.size() < 2 || (ranks != 0 && processes.size() > ranks)) return;
  for (auto& [process, kernels] : processes) {
    if (kernels.size() != first.size()) return;
    std::stable_sort(kernels.begin(), kernels.end(), [&](const CollectiveKernel* a, const CollectiveKernel* b) {
      return start_of(trace, *a) < start_of(trace, *b);
    });
    if (!std::equal(kernels.begin(), kernels.end(), first.begin(),
                    [](const CollectiveKernel* a, const CollectiveKernel* b) { return alike(*a, *b); }))
      return;
  }
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<CollectiveKernel*> together;
    for (const auto& [process, kernels] : processes) together.push_back(kernels[i]);
    meet(trace, together);
  }
}

}  // namespace

std::vector<CollectiveKernel> collective_kernels(const Trace& trace, const CollectiveCalls& calls,
                                                 const Selection& selection) {
  std::vector<CollectiveKernel> found;
  std::unordered_map<uint32_t, uint32_t> kernels_of_call;  // by its range
  for (uint32_t row = 0; calls.any() && row < trace.operations.size(); ++row) {
    const GpuOperation& operation = trace.operations[row];
    const std::optional<CollectiveCall> call = calls.of(operation);
    if (!call || !selection.has_process(trace.process_of(operation.stream()))) continue;
    if (!call->grouped) ++kernels_of_call[call->range];
    found.push_back({row, *call, 1, std::nullopt});
  }
  std::map<std::string_view, OfProcesses> by_communicator;
  for (CollectiveKernel& each : found) {
    if (!each.call.grouped) each.kernels = kernels_of_call[each.call.range];
    if (each.call.grouped || each.kernels != 1 || each.call.kind == CollectiveKind::PointToPoint) continue;
    const ProcessId process = trace.process_of(trace.operations[each.operation].stream());
    // Kernels recorded in bursts are incomplete, so the n-th kernels of two processes may belong to different
    // operations.
    if (!budget_of(trace.processes[index(process)]).empty()) continue;
    by_communicator[each.call.communicator][process].push_back(&each);
  }
  for (auto& [communicator, processes] : by_communicator) meet_all(trace, processes);
  return found;
}

CollectiveRate collective_rate(const Trace& trace, const CollectiveKernel& kernel) {
  const CollectiveCall& call = kernel.call;
  const GpuOperation& operation = trace.operations[kernel.operation];
  const int64_t time_ns = operation.end_ns - kernel.latest_start_ns.value_or(operation.start_ns);
  CollectiveRate rate;
  if (call.grouped) {
    rate.missing = "group";
  } else if (kernel.kernels > 1) {
    rate.missing = "several kernels";
  } else if (moves_bytes(call.kind) && !call.type.empty() && element_bytes(call.type) == 0) {
    rate.missing = "size of the type is not known";
  } else if (moves_bytes(call.kind) && !bus_factor(call.kind, call.known_ranks())) {
    rate.missing = "number of ranks is not known";
  } else if (!call.size || time_ns <= 0) {
    rate.missing = "no size";
  } else {
    rate.algorithm = static_cast<double>(*call.size) / static_cast<double>(time_ns);
    rate.bus = rate.algorithm * *bus_factor(call.kind, call.known_ranks());
  }
  return rate;
}

}  // namespace prof::analyzer
