// A step of the builder: finds the call of each record that was written about a call. These records are about graphs,
// about values in memory that streams wait for, and with arguments of the call.
#include "analyzer/input/log/build/ended_calls.h"
#include "analyzer/input/log/build/stages.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

template <class Row> void place(std::vector<Row>& from, std::vector<Row>& to, const Trace& trace) {
  for (Row& row : from) {
    row.call = call_that_ended(trace, trace.thread(row.thread), row.time_ns);
    to.push_back(row);
  }
}

template <class Row> void sort_rows(std::vector<Row>& rows, const Trace& trace) {
  const auto process = [&](const Row& row) { return index(trace.thread(row.thread).process); };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return process(a) != process(b) ? process(a) < process(b) : a.time_ns < b.time_ns;
  });
}

}  // namespace

void sort_by_call(std::vector<CallDetails>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CallDetails& a, const CallDetails& b) { return a.call < b.call; });
}

void place_beside(std::vector<LogTask>& tasks, Trace& trace) {
  for (LogTask& task : tasks) {
    place(task.beside.nodes, trace.graph_nodes, trace);
    place(task.beside.made, trace.graphs_made, trace);
    place(task.beside.memory_ops, trace.memory_ops, trace);
    for (StagedArguments& staged : task.beside.arguments) {
      staged.said.call = call_that_ended(trace, trace.thread(staged.said.thread), staged.said.time_ns);
      if (!staged.file.empty()) staged.said.file = trace.strings.intern(staged.file);
      trace.call_arguments.push_back(staged.said);
    }
    for (StagedCollective& staged : task.beside.collectives) {
      staged.start.text = staged.text.empty() ? trace.labels[staged.label].text : trace.strings.intern(staged.text);
      trace.collectives.push_back(staged.start);
    }
    task.beside = {};
  }
  sort_rows(trace.graph_nodes, trace);
  sort_rows(trace.graphs_made, trace);
  sort_rows(trace.memory_ops, trace);
  sort_rows(trace.collectives, trace);
  sort_by_call(trace.call_arguments);
}

}  // namespace prof::analyzer
