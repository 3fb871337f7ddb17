// Second step of the builder: where every decoded row belongs.
#include "analyzer/model/parallel.h"
#include "analyzer/model/stages.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

// Enclosing events before the ones they enclose; then as recorded.
bool host_order(const HostEvent& a, const HostEvent& b) {
  return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
}

bool gpu_order(const GpuOperation& a, const GpuOperation& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  return a.end_ns != b.end_ns ? a.end_ns < b.end_ns : a.correlation < b.correlation;
}

void place_host(const LogInput& input, Staged& staged, uint32_t first_row, Trace& trace) {
  ClockReader ns{*input.clock};
  HostEvent* to = trace.host.data() + first_row;
  size_t span = 0;
  for (size_t i = 0; i < staged.host.size(); ++i) {
    while (span + 1 < staged.spans.size() && staged.spans[span + 1].host <= i) ++span;
    HostEvent event = staged.host[i];
    event.begin_ns = ns.tick(static_cast<uint64_t>(event.begin_ns)) - input.origin_ns;
    event.end_ns = ns.tick(static_cast<uint64_t>(event.end_ns)) - input.origin_ns;
    event.thread = ThreadId{staged.spans[span].thread};
    *to++ = event;
  }
  staged.host.free();
}

void place_operations(const LogInput& input, Staged& staged, std::vector<uint32_t> next_row, Trace& trace) {
  ClockReader ns{*input.clock};
  for (GpuOperation operation : staged.operations) {
    operation.start_ns = ns.gpu(static_cast<uint64_t>(operation.start_ns)) - input.origin_ns;
    operation.end_ns = ns.gpu(static_cast<uint64_t>(operation.end_ns)) - input.origin_ns;
    trace.operations[next_row[operation.stream_index]++] = operation;
  }
  staged.operations.free();
}

void place_calls(const LogInput& input, Staged& staged, DriverCall* to) {
  ClockReader ns{*input.clock};
  for (const StagedCall& call : staged.calls) {
    const int64_t time_ns = call.tid == 0 ? ns.tick(call.time) : ns.gpu(call.time);
    *to++ = {time_ns - input.origin_ns, call.correlation, call.tid};
  }
  staged.calls.free();
}

}  // namespace

void place_events(std::vector<LogInput>& inputs, std::vector<Staged>& staged, Trace& trace,
                  std::vector<Column<DriverCall>>& calls, unsigned workers) {
  // Rows of every thread and stream. Tasks are in thread order, so a thread's rows stay together and in order.
  std::vector<uint32_t> host_first(staged.size() + 1), of_stream(trace.streams.size() + 1);
  std::vector<size_t> call_first(staged.size());
  std::vector<size_t> call_count(inputs.size());
  for (size_t t = 0; t < staged.size(); ++t) {
    Staged& task = staged[t];
    for (size_t s = 0; s < task.spans.size(); ++s) {
      Thread& thread = trace.threads[task.spans[s].thread];
      const uint32_t first = host_first[t] + task.spans[s].host;
      const uint32_t last =
          host_first[t] + (s + 1 < task.spans.size() ? task.spans[s + 1].host : static_cast<uint32_t>(task.host.size()));
      if (thread.host.size() == 0) thread.host.first = first;
      thread.host.last = last;
    }
    host_first[t + 1] = host_first[t] + static_cast<uint32_t>(task.host.size());
    for (size_t s = 0; s < task.per_stream.size(); ++s) of_stream[s + 1] += task.per_stream[s];
    call_first[t] = call_count[task.log];
    call_count[task.log] += task.calls.size();
  }
  for (size_t s = 0; s + 1 < of_stream.size(); ++s) {
    of_stream[s + 1] += of_stream[s];
    trace.streams[s].operations = {of_stream[s], of_stream[s + 1]};
  }
  trace.host.resize(host_first.back());
  trace.operations.resize(of_stream.back());
  calls.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) calls[i].resize(call_count[i]);

  std::vector<std::vector<uint32_t>> operation_rows(staged.size());
  for (size_t t = 0; t < staged.size(); ++t) {
    operation_rows[t].assign(of_stream.begin(), of_stream.begin() + static_cast<ptrdiff_t>(staged[t].per_stream.size()));
    for (size_t s = 0; s < staged[t].per_stream.size(); ++s) of_stream[s] += staged[t].per_stream[s];
  }
  parallel_for(
      staged.size(),
      [&](size_t t) {
        const LogInput& input = inputs[staged[t].log];
        place_host(input, staged[t], host_first[t], trace);
        place_operations(input, staged[t], std::move(operation_rows[t]), trace);
        place_calls(input, staged[t], calls[staged[t].log].data() + call_first[t]);
      },
      workers);
  parallel_for(
      trace.threads.size() + trace.streams.size(),
      [&](size_t i) {
        if (i < trace.threads.size()) {
          const Rows rows = trace.threads[i].host;
          HostEvent *first = trace.host.data() + rows.first, *last = trace.host.data() + rows.last;
          if (!std::is_sorted(first, last, host_order)) std::stable_sort(first, last, host_order);
        } else {
          const Rows rows = trace.streams[i - trace.threads.size()].operations;
          GpuOperation *first = trace.operations.data() + rows.first, *last = trace.operations.data() + rows.last;
          if (!std::is_sorted(first, last, gpu_order)) std::sort(first, last, gpu_order);
        }
      },
      workers);
}

}  // namespace prof::analyzer
