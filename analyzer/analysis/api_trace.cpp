// api-trace: one row per CUDA call in order of begin; nsys's cuda_api_trace plus queue depth and NVTX path.
#include "analyzer/analysis/analysis.h"

#include <algorithm>

namespace prof::analyzer {

Table report_api_trace(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Table table("api-trace", "CUDA calls in order of begin");
  table.add_column("Start", "start", CellType::Nanoseconds);
  table.add_column("Duration", "duration", CellType::Nanoseconds);
  table.add_column("Name", "name", CellType::Text);
  for (const auto& [title, key] :
       {std::pair{"Result", "result"}, {"CorrID", "correlation"}, {"Pid", "pid"}, {"Tid", "tid"}}) {
    table.add_column(title, key, CellType::Count);
  }
  table.add_column("Thread Name", "thread_name", CellType::Text);
  for (const auto& [title, key] : {std::pair{"Bytes (B)", "bytes"},
                                   {"Waiting", "queue_waiting"},
                                   {"Outstanding", "queue_outstanding"},
                                   {"Live", "queue_live"}}) {
    table.add_column(title, key, CellType::Count);
  }
  table.add_column("Kernel", "kernel", CellType::Text);
  table.add_column("Note", "note", CellType::Text);
  table.add_column("NVTX path", "nvtx_path", CellType::Text);

  std::vector<uint32_t> rows;
  for (const Thread& thread : trace.threads) {
    if (!input.selection.has_thread(thread)) continue;
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row) {
      const HostEvent& event = trace.host[row];
      if (!input.selection.in_window(event.begin_ns, event.end_ns)) continue;
      if (!input.selection.devices.empty() || !input.selection.streams.empty()) {
        const uint32_t stream = trace.host_streams[index(event.stream)].stream;
        if (stream == kNone || !input.selection.has_stream(trace, trace.streams[stream])) continue;
      }
      rows.push_back(row);
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return trace.host[a].begin_ns < trace.host[b].begin_ns; });
  std::vector<PathCursor> cursors;
  for (uint32_t t = 0; t < trace.threads.size(); ++t) cursors.emplace_back(trace, ThreadId{t});
  for (const uint32_t at : rows) {
    const HostEvent& event = trace.host[at];
    const Thread& thread = trace.thread(event.thread);
    Table::Row row = table.row();
    row.add(event.begin_ns).add(event.duration_ns());
    row.add(event.api() == 0 ? std::string_view("[unknown call]") : trace.api_name(event)).add(event.result());
    if (event.correlation != 0) {
      row.add(event.correlation);
    } else {
      row.empty();
    }
    row.add(trace.processes[index(thread.process)].pid).add(thread.tid).add(std::string_view(thread.name));
    if (event.kind() == HostKind::MemoryLaunch || event.kind() == HostKind::Allocation) {
      row.add(event.subject);
    } else {
      row.empty();
    }
    const LaunchDepth depth = input.views.depth().at_launch()[at];
    if (depth.known()) {
      row.add(depth.waiting).add(depth.outstanding);
    } else {
      row.empty().empty();
    }
    if (event.is_launch() && !event.has(kHostCaptured) && trace.process_of(event).has_live_depth()) {
      row.add(event.live_depth);
    } else {
      row.empty();
    }
    if (event.kind() == HostKind::KernelLaunch) {
      row.add(input.views.names().name(KernelId{static_cast<uint32_t>(event.subject)}, input.options.names));
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
    const PathId path = cursors[index(event.thread)].at(event.begin_ns);
    if (index(path) != 0) row.add(std::string_view(path_text(trace, path)));
  }
  return table;
}

}  // namespace prof::analyzer
