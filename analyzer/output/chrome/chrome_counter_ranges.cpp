// Values of hardware counters as torch.profiler writes them, for tools that know no other form. Each kernel that has
// values becomes an event "cuda_profiler_range", in the order of the launches, on a track of its own under the GPU.
// Such tools join these events with launches by order. So kernels of graphs have no event, because no kernel launch
// corresponds to them. The event has the kernel's time and ends where the next one starts. "kernel correlation"
// identifies the kernel. No tool joins by it, and prof reads the kernel's own values.
#include "analyzer/output/chrome/chrome_writer.h"
#include "analyzer/output/chrome/counter_members.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

struct Counted {
  uint32_t operation;
  const CounterRow* values;
};

std::vector<Counted> counted_kernels(const ChromeContext& context, DeviceId device) {
  const Trace& trace = context.trace;
  std::vector<Counted> kernels;
  for (const Stream& stream : trace.streams) {
    if (stream.device != device) continue;
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      const GpuOperation& operation = trace.operations[row];
      if (operation.kind() != GpuKind::Kernel || !operation.linked() || !context.selects_operation(row)) continue;
      if (trace.host[operation.launch].kind() == HostKind::GraphLaunch) continue;
      if (const CounterRow* const values = trace.counters.of_operation(trace, row)) kernels.push_back({row, values});
    }
  }
  std::stable_sort(kernels.begin(), kernels.end(), [&](const Counted& a, const Counted& b) {
    return trace.operations[a.operation].start_ns < trace.operations[b.operation].start_ns;
  });
  return kernels;
}

void write_device(const ChromeContext& context, DeviceId device) {
  const Trace& trace = context.trace;
  const std::vector<Counted> kernels = counted_kernels(context, device);
  if (kernels.empty()) return;
  const uint64_t pid = context.ids.device[index(device)], tid = context.ids.counter_tracks[index(device)];
  context.events.name_track(pid, tid, "hardware counters ", {});
  const std::string track = context.events.track(pid, tid);
  EventMembers members(context.events);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const GpuOperation& operation = trace.operations[kernels[i].operation];
    int64_t end_ns = std::max(operation.start_ns, operation.end_ns);
    if (i + 1 != kernels.size()) end_ns = std::min(end_ns, trace.operations[kernels[i + 1].operation].start_ns);
    members.clear();
    members.add_count(EventKey::Device, trace.device(device).ordinal);
    members.add_count(EventKey::KernelCorrelation,
                      ChromeIds::correlation(trace.device(device).process, trace.host[operation.launch].correlation));
    add_counter_members(trace, kernels[i].values, context.events, members);
    context.events.slice(context.events.slice_head(
                             "cuda_profiler_range",
                             context.views.names().name(context.views.names().named_by(operation), NameForm::Full)),
                         track, operation.start_ns, end_ns - operation.start_ns, members);
  }
}

}  // namespace

void write_chrome_counter_ranges(const ChromeContext& context) {
  if (context.trace.counters.launches.empty()) return;
  for (uint32_t d = 0; d < context.trace.devices.size(); ++d) {
    if (context.writes(DeviceId{d})) write_device(context, DeviceId{d});
  }
}

}  // namespace prof::analyzer
