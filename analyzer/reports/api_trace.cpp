// api-trace: one row per CUDA call in order of start. The table is nsys's cuda_api_trace plus queue depth and NVTX
// path.
#include "analyzer/analysis/select/selected_operations.h"
#include "analyzer/model/call_arguments.h"
#include "analyzer/model/memory_key.h"
#include "analyzer/reports/reports.h"

namespace prof::analyzer {

Table report_api_trace(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("api-trace", "CUDA calls in order of begin");
  table.add_columns({ColumnId::start, ColumnId::duration, ColumnId::name, ColumnId::result, ColumnId::correlation,
                     ColumnId::pid, ColumnId::tid, ColumnId::thread_name, ColumnId::bytes, ColumnId::queue_waiting,
                     ColumnId::queue_outstanding, ColumnId::queue_live, ColumnId::kernel, ColumnId::note});
  if (!trace.call_arguments.empty()) table.add_column(ColumnId::arguments);
  table.add_column(ColumnId::nvtx_path);

  const auto add = [input, &trace, &depths = input.views.depth().at_launch(), &paths = input.views.path_of_call(),
                    &names = input.views.names()](uint32_t at, Table::Row& row) {
    const HostEvent& event = trace.host[at];
    const Thread& thread = trace.thread(event.thread);
    row.add(event.begin_ns).add(event.duration_ns());
    row.add(event.api() == 0 ? std::string_view("[unknown call]") : trace.api_name(event)).add(event.result());
    row.add_if(event.correlation != 0, event.correlation);
    row.add_owner(thread.process).add(thread.tid).add(std::string_view(thread.name));
    if (event.kind() == HostKind::MemoryLaunch || event.kind() == HostKind::Allocation) {
      row.add(asked_bytes(event));
    } else {
      row.empty();
    }
    const LaunchDepth depth = depths[at];
    if (depth.known()) {
      row.add(depth.waiting).add(depth.outstanding);
    } else {
      row.empty().empty();
    }
    row.add_if(event.is_launch() && !event.has(kHostCaptured) && trace.process_of(event).has_live_depth(),
               event.live_depth);
    if (event.kind() == HostKind::KernelLaunch) {
      row.add(names.name(KernelId{static_cast<uint32_t>(event.subject)}, input.options.names));
    } else {
      row.empty();
    }
    if (event.has(kHostUnfinished)) {
      row.add(std::string_view("unfinished"));
    } else if (event.has(kHostCaptured)) {
      row.add(std::string_view("captured"));
    } else if (event.is_launch() && !event.has(kHostHasGpu)) {
      row.add(std::string_view("no GPU time"));
    } else {
      row.empty();
    }
    if (!trace.call_arguments.empty()) {
      const CallDetails* const said = trace.arguments_of(at);
      if (said != nullptr) {
        const std::string_view inner = trace.inner_api_name(at);
        row.add(arguments_text(trace, inner.empty() ? trace.api_name(event) : inner, *said));
      } else {
        row.empty();
      }
    }
    if (index(paths[at]) != 0) row.add(std::string_view(path_text(trace, paths[at])));
  };
  table.list(selected_calls(input, Order::Start), add);
  return table;
}

}  // namespace prof::analyzer
