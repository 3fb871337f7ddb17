// Every time in the model, in one list: for what moves times, such as a new zero or the clock of another host.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>

namespace prof::analyzer {

struct AllRows {
  uint32_t host = 0, operations = 0, ranges = 0, marks = 0, memory = 0, syncs = 0, gpu_annotations = 0;
};

// Calls move(process, time) for each time of the rows from `first` on, in tables that every input fills. `process` is
// the one whose clock recorded the time.
template <class First, class Move> void each_time_of_rows(Trace& trace, const First& first, Move move) {
  const auto of_thread = [&](ThreadId thread) {
    return index(thread) < trace.threads.size() ? trace.thread(thread).process : ProcessId{};
  };
  const auto both = [&](ProcessId process, int64_t& begin_ns, int64_t& end_ns) {
    move(process, begin_ns);
    move(process, end_ns);
  };
  for (size_t i = first.host; i < trace.host.size(); ++i)
    both(of_thread(trace.host[i].thread), trace.host[i].begin_ns, trace.host[i].end_ns);
  for (size_t i = first.operations; i < trace.operations.size(); ++i) {
    GpuOperation& operation = trace.operations[i];
    both(trace.process_of(operation.stream()), operation.start_ns, operation.end_ns);
  }
  for (size_t i = first.ranges; i < trace.ranges.size(); ++i)
    both(of_thread(trace.ranges[i].thread), trace.ranges[i].begin_ns, trace.ranges[i].end_ns);
  for (size_t i = first.marks; i < trace.marks.size(); ++i)
    both(of_thread(trace.marks[i].thread), trace.marks[i].begin_ns, trace.marks[i].end_ns);
  for (size_t i = first.memory; i < trace.memory.size(); ++i)
    move(of_thread(trace.memory[i].thread), trace.memory[i].time_ns);
  for (size_t i = first.syncs; i < trace.syncs.size(); ++i) {
    SyncEvent& sync = trace.syncs[i];
    const ProcessId process = sync.stream != kNone    ? trace.process_of(StreamId{sync.stream})
                              : sync.process != kNone ? ProcessId{sync.process}
                              : sync.call != kNone    ? of_thread(trace.host[sync.call].thread)
                                                      : ProcessId{};
    both(process, sync.begin_ns, sync.end_ns);
  }
  for (size_t i = first.gpu_annotations; i < trace.gpu_annotations.size(); ++i) {
    GpuAnnotation& annotation = trace.gpu_annotations[i];
    both(trace.process_of(annotation.stream), annotation.start_ns, annotation.end_ns);
  }
}

// The same for the tables that only logs fill.
template <class Move> void each_time_of_logs(Trace& trace, Move move) {
  const auto of_thread = [&](ThreadId thread) { return trace.thread(thread).process; };
  for (const Thread& thread : trace.threads) {
    for (uint32_t i = thread.path_changes.first; i < thread.path_changes.last; ++i)
      move(thread.process, trace.path_changes[i].time_ns);
  }
  for (GraphNode& node : trace.graph_nodes) move(of_thread(node.thread), node.time_ns);
  for (GraphMade& made : trace.graphs_made) move(of_thread(made.thread), made.time_ns);
  for (StreamMemoryOp& operation : trace.memory_ops) move(of_thread(operation.thread), operation.time_ns);
  for (CollectiveStart& start : trace.collectives) move(of_thread(start.thread), start.time_ns);
  for (CallDetails& details : trace.call_arguments) move(of_thread(details.thread), details.time_ns);
  for (GivenName& name : trace.given_names) move(name.process, name.time_ns);
  for (CounterSample& sample : trace.counter_samples)
    move(trace.program_counters[sample.counter].process, sample.time_ns);
  for (UnifiedMemoryEvent& event : trace.unified) {
    move(event.process, event.start_ns);
    move(event.process, event.end_ns);
  }
  for (const SampledSet& set : trace.samples.sets) {
    for (size_t i = set.first; i < set.last; ++i) {
      move(trace.device(set.device).process, trace.samples.rows[i].begin_ns);
      move(trace.device(set.device).process, trace.samples.rows[i].end_ns);
    }
  }
  PcSampleTable& instructions = trace.pc_samples;
  for (PcBatchRow& batch : instructions.batches) move(batch.process, batch.time_ns);
  for (size_t i = 0; i < instructions.size(); ++i)
    move(trace.device(instructions.device[i]).process, instructions.time_ns[i]);
  HostSampling& host = trace.host_sampling;
  for (size_t i = 0; i < host.samples.size(); ++i) move(of_thread(host.samples.thread[i]), host.samples.time_ns[i]);
  for (size_t i = 0; i < host.states.size(); ++i) {
    move(of_thread(host.states.thread[i]), host.states.begin_ns[i]);
    move(of_thread(host.states.thread[i]), host.states.end_ns[i]);
  }
  for (HostSamplingRate& rate : host.rates) move(rate.process, rate.from_ns);
  for (PipeHolder& holder : host.holders) move(holder.waiting, holder.found_ns);
}

}  // namespace prof::analyzer
