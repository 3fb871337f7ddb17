// Where does every row belong? The second step of the builder.
#include "analyzer/base/parallel.h"
#include "analyzer/input/log/build/builder.h"
#include "analyzer/input/log/build/stages.h"

#include <algorithm>
#include <type_traits>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// Enclosing events come before the enclosed ones; then the recorded order applies.
bool host_order(const HostEvent& a, const HostEvent& b) {
  return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
}

bool gpu_order(const GpuOperation& a, const GpuOperation& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  return a.end_ns != b.end_ns ? a.end_ns < b.end_ns : a.correlation < b.correlation;
}

// Calls are recorded when they end, so only nested ones are out of order, by a few rows. Stable for host events, which
// have no unique key. Needs memory only if rows are far from their places.
template <class Row, class Order> void sort_nearly_sorted(Row* first, Row* last, Order order) {
  auto moves = 8 * (last - first);
  for (Row* row = first; row != last; ++row) {
    if (row == first || !order(*row, row[-1])) continue;
    Row* const place = std::upper_bound(first, row, *row, order);
    moves -= row - place;
    if (moves < 0) {
      if constexpr (std::is_same_v<Row, HostEvent>) {
        std::stable_sort(first, last, order);
      } else {
        std::sort(first, last, order);
      }
      return;
    }
    std::rotate(place, row, row + 1);
  }
}

// Assigns rows to every thread. Tasks are in thread order, so the rows of a thread are adjacent and in order.
void give_host_rows(std::vector<LogTask>& tasks, Trace& trace) {
  uint64_t rows = 0;
  for (const LogTask& task : tasks) {
    for (size_t s = 0; s < task.spans.size(); ++s) {
      Thread& thread = trace.threads[task.spans[s].thread];
      const uint64_t last = s + 1 < task.spans.size() ? task.spans[s + 1].host : task.host.count;
      if (thread.host.size() == 0) thread.host.first = static_cast<uint32_t>(rows + task.spans[s].host);
      thread.host.last = static_cast<uint32_t>(rows + last);
    }
    rows += task.host.count;
  }
  trace.host.resize(rows);
  HostEvent* next = trace.host.data();
  for (LogTask& task : tasks) {
    task.host.next = next;
    task.host.end = next += task.host.count;
  }
}

void give_operation_rows(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace) {
  std::vector<uint64_t> first(trace.streams.size() + 1);
  for (const LogTask& task : tasks) {
    const size_t first_stream = inputs[task.log].ids.first_stream;
    for (size_t s = 0; s < task.operations.size(); ++s) first[first_stream + s + 1] += task.operations[s].count;
  }
  for (size_t s = 0; s < trace.streams.size(); ++s) {
    first[s + 1] += first[s];
    trace.streams[s].operations = {static_cast<uint32_t>(first[s]), static_cast<uint32_t>(first[s + 1])};
  }
  trace.operations.resize(first.back());
  for (LogTask& task : tasks) {
    const size_t first_stream = inputs[task.log].ids.first_stream;
    for (size_t s = 0; s < task.operations.size(); ++s) {
      Room<GpuOperation*>& room = task.operations[s];
      uint64_t& next = first[first_stream + s];
      room.next = trace.operations.data() + next;
      room.end = trace.operations.data() + (next += room.count);
    }
  }
}

void give_call_rows(std::vector<LogTask>& tasks, std::vector<ProcessCalls>& calls) {
  std::vector<std::unordered_map<uint64_t, size_t>> group_of(calls.size());
  for (const LogTask& task : tasks) {
    std::vector<CallGroup>& groups = calls[task.log].groups;
    for (const auto& [key, room] : task.calls) {
      const auto [found, added] = group_of[task.log].try_emplace(key, groups.size());
      if (added) groups.push_back({key, 0, 0});
      groups[found->second].last += room.count;
    }
  }
  for (ProcessCalls& process : calls) {
    size_t next = 0;
    for (CallGroup& group : process.groups) {
      const size_t count = group.last;
      group.first = group.last = next;
      next += count;
    }
    process.rows.resize(next);
  }
  for (LogTask& task : tasks) {
    ProcessCalls& process = calls[task.log];
    for (auto& [key, room] : task.calls) {
      CallGroup& group = process.groups[group_of[task.log][key]];
      room.next = process.rows.data() + group.last;
      room.end = process.rows.data() + (group.last += room.count);
    }
  }
}

}  // namespace

void place_events(std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace,
                  std::vector<ProcessCalls>& calls, unsigned workers) {
  calls.resize(inputs.size());
  give_host_rows(tasks, trace);
  give_operation_rows(inputs, tasks, trace);
  give_call_rows(tasks, calls);
  parallel_for(
      tasks.size(),
      [&](size_t t) {
        const LogInput& input = inputs[tasks[t].log];
        if (!fill(input, tasks[t]))
          throw InputError(input.file->path() + ": the log was changed while it was read; read it again");
      },
      workers);
  for (const LogTask& task : tasks) {
    Process& process = trace.processes[index(inputs[task.log].process)];
    process.last_ns = std::max(process.last_ns, task.last_ns);
    trace.last_ns = std::max(trace.last_ns, task.last_ns);
  }
  parallel_for(
      trace.threads.size() + trace.streams.size(),
      [&](size_t i) {
        if (i < trace.threads.size()) {
          const Rows rows = trace.threads[i].host;
          sort_nearly_sorted(trace.host.data() + rows.first, trace.host.data() + rows.last, host_order);
        } else {
          const Rows rows = trace.streams[i - trace.threads.size()].operations;
          sort_nearly_sorted(trace.operations.data() + rows.first, trace.operations.data() + rows.last, gpu_order);
        }
      },
      workers);
}

}  // namespace prof::analyzer
