#include "analyzer/input/kineto/kineto_model.h"

#include "analyzer/input/kineto/kineto_counter_join.h"
#include "analyzer/input/kineto/kineto_gpu_tracks.h"

#include <algorithm>
#include <utility>

namespace prof::analyzer {

KinetoModel::KinetoModel(Trace& trace, const std::string& path)
    : trace_(trace),
      path_(path),
      mark_(trace),
      threads_(trace, mark_, path_),
      streams_(trace, mark_),
      kernels_(trace),
      to_(trace, threads_, streams_, kernels_),
      launchers_(trace, mark_),
      counters_(trace, mark_) {}

void KinetoModel::add(const KinetoRows& rows) {
  to_.start(rows);
  const size_t first_operation = trace_.operations.size(), first_range = trace_.ranges.size();
  add_names(rows);
  add_calls(rows);
  add_operations(rows);
  add_syncs(rows);
  add_gpu_annotations(rows);
  add_details(rows);
  add_ranges(rows);
  add_memory(rows);
  add_arrows(rows);
  counters_.add(rows, to_, first_operation, first_range);
  summary_.add(rows.tally);
  last_ns_ = std::max(last_ns_, rows.last_ns);
}

void KinetoModel::add_names(const KinetoRows& rows) {
  for (const KinetoName& name : rows.names) {
    const StringId pid = to_.text(name.track.pid), text = to_.text(name.name);
    switch (name.of) {
      case KinetoNamed::Process: threads_.name_process(pid, text); break;
      case KinetoNamed::Labels: threads_.label_process(pid, text); break;
      case KinetoNamed::Thread: threads_.name_thread(pid, to_.text(name.track.tid), text); break;
    }
  }
}

void KinetoModel::add_calls(const KinetoRows& rows) {
  for (const KinetoCall& call : rows.calls) {
    HostEvent row;
    row.begin_ns = call.begin_ns;
    row.end_ns = call.end_ns;
    row.thread = to_.thread(call.track);
    row.correlation = call.correlation;
    row.word = to_.call_word(call.name);
    trace_.host.push_back(row);
    launchers_.add_call(call.external_id);
  }
}

void KinetoModel::add_operations(const KinetoRows& rows) {
  for (const KinetoOperation& operation : rows.operations) {
    GpuOperation row;
    row.start_ns = operation.start_ns;
    row.end_ns = operation.end_ns;
    row.graph_node = operation.graph_node;
    row.correlation = operation.correlation;
    row.set_stream(to_.stream(operation.stream));
    row.set_kind(operation.kind);
    row.set_peers(operation.peer_source, operation.peer_destination);
    switch (operation.kind) {
      case GpuKind::Kernel:
      case GpuKind::Graph:
        row.detail = index(to_.kernel(operation.kernel));
        row.set_bytes(to_.detail(operation.numbers));
        break;
      case GpuKind::Copy:
        row.detail = GpuOperation::copy_detail(operation.copy.kind, operation.copy.source, operation.copy.destination);
        row.set_bytes(operation.bytes);
        break;
      case GpuKind::Fill:
        row.detail = operation.memory_kind;
        row.set_bytes(operation.bytes);
        break;
    }
    trace_.operations.push_back(row);
    launchers_.add_operation(operation.external_id);
  }
}

void KinetoModel::add_syncs(const KinetoRows& rows) {
  for (const KinetoSync& sync : rows.syncs) {
    SyncEvent row;
    row.begin_ns = sync.begin_ns;
    row.end_ns = sync.end_ns;
    row.correlation = sync.correlation;
    row.stream = to_.stream(sync.stream);
    row.waits_for = to_.stream(sync.waits_for);
    row.record_correlation = sync.record_correlation;
    row.event_id = sync.event_id;
    row.kind = sync.kind;
    trace_.syncs.push_back(row);
  }
}

void KinetoModel::add_gpu_annotations(const KinetoRows& rows) {
  for (const KinetoGpuAnnotation& each : rows.gpu_annotations) {
    GpuAnnotation row;
    row.start_ns = each.start_ns;
    row.end_ns = each.end_ns;
    row.stream = StreamId{to_.stream(each.stream)};
    row.label = to_.label({each.name, {}});
    trace_.gpu_annotations.push_back(row);
  }
}

void KinetoModel::add_details(const KinetoRows& rows) {
  if (trace_.details.empty() && !rows.details.empty()) trace_.details.push_back({});  // row 0: none
  for (const KinetoDetail& detail : rows.details) {
    OperatorDetail row;
    row.external_id = detail.external_id;
    row.sequence = detail.sequence;
    row.flops = detail.flops;
    row.forward_thread = detail.forward_thread;
    row.dims = to_.text(detail.dims);
    row.types = to_.text(detail.types);
    row.concrete = to_.text(detail.concrete);
    row.stack = to_.text(detail.stack);
    row.other = to_.text(detail.other);
    trace_.details.push_back(row);
  }
}

void KinetoModel::add_ranges(const KinetoRows& rows) {
  for (const KinetoRange& range : rows.ranges) {
    Range row;
    row.begin_ns = range.begin_ns;
    row.end_ns = range.end_ns;
    row.payload = to_.detail(range.detail);
    row.thread = to_.thread(range.track);
    row.label = to_.label(range.label);
    row.kind = range.kind;
    if (range.foreign) row.payload_type = kForeignRange;
    any_foreign_ |= range.foreign;
    row.path = PathId{row_count(trace_.ranges)};  // as in the file, see ImportMark
    trace_.ranges.push_back(row);
  }
  for (const KinetoMark& mark : rows.marks) {
    Range row;
    row.begin_ns = row.end_ns = mark.time_ns;
    row.thread = to_.thread(mark.track);
    row.label = to_.label(mark.label);
    row.kind = RangeKind::Annotation;
    row.style = RangeStyle::Mark;
    row.path = PathId{row_count(trace_.marks)};
    trace_.marks.push_back(row);
  }
  for (const KinetoEdge& edge : rows.edges)
    range_pairs_.add({edge.time_ns, to_.detail(edge.detail), to_.thread(edge.track), to_.label(edge.label),
                      to_.text(edge.key), edge.edge, edge.kind});
}

void KinetoModel::add_memory(const KinetoRows& rows) {
  for (const KinetoMemory& memory : rows.memory) {
    MemoryEvent row;
    row.time_ns = memory.time_ns;
    row.bytes = memory.bytes;
    row.address = memory.address;
    row.allocated = memory.allocated;
    row.reserved = memory.reserved;
    row.thread = to_.thread(memory.track);
    row.device = memory.device;
    trace_.memory.push_back(row);
  }
}

void KinetoModel::add_arrows(const KinetoRows& rows) {
  for (const KinetoArrowEnd& end : rows.arrows) {
    if (end.at_call) {
      launchers_.add_arrow_at_call(end.id, to_.text(end.pid));
    } else {
      launchers_.add_arrow_at_operation(end.id, end.time_ns, to_.text(end.pid), end.stream);
    }
  }
}

void KinetoModel::finish(const KinetoHeader& header, KinetoTextDamage damage) {
  range_pairs_.close(last_ns_, trace_, summary_);
  streams_.name_lanes(threads_);
  counters_.move_threads(
      convert_gpu_tracks(trace_, mark_, threads_, streams_, kernels_, to_.apis(), summary_, any_foreign_));
  threads_.need_process();
  const std::vector<std::string> counter_facts = join_counters(trace_, mark_, streams_, kernels_, counters_);
  streams_.assign(launchers_.find(streams_, threads_, summary_), summary_);
  streams_.describe_devices(header.devices, threads_);
  counters_.remember_rows();
  threads_.write_names();
  for (uint32_t p = mark_.processes; p < trace_.processes.size(); ++p) trace_.processes[p].facts = header.facts;
  summary_.write(header, std::move(damage), counter_facts, path_, trace_.processes[mark_.processes]);
  // The profiler before torch.profiler (torch.autograd.profiler.profile(use_cuda=True)) timed operators between events.
  if (const StringId legacy = trace_.strings.intern("CUDA functions"); threads_.find_process(legacy) != kNone) {
    trace_.processes[mark_.processes].partial.push_back(
        "a trace of the legacy autograd profiler: \"CUDA functions\" are operators timed between CUDA events, no "
        "kernels; they are read as ranges, and GPU times are not known");
  }
  counters_.place(finish_import(trace_, mark_, header.base_ns));
}

}  // namespace prof::analyzer
