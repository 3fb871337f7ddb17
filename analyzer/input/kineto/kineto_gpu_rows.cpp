#include "analyzer/input/kineto/kineto_gpu_rows.h"

#include "analyzer/base/json/json_decimal.h"
#include "analyzer/input/kineto/kineto_category.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace prof::analyzer {

namespace {

// The event's argument "stream", else its thread, which is the stream in traces of torch.profiler.
std::string_view stream_text(const KinetoEvent& event) {
  return event.has(KinetoArgument::StreamNumber) ? event[KinetoArgument::StreamNumber] : event.tid;
}

}  // namespace

// A stream of the event's device; kNoStream: the text is no stream's number.
StretchStream KinetoGpuRowMaker::stream_or_none(const KinetoEvent& event, std::string_view number_text, bool in_order) {
  KinetoStream stream;
  stream.in_order = in_order;
  stream.pid = numbering_.pid(event.pid);
  if (!read_stream_number(number_text, stream.number)) return kNoStream;
  stream.device = read_device(event, rows_.tally);
  stream.context = read_id(event, KinetoArgument::Context, rows_.tally);
  return numbering_.stream(stream);
}

// What runs on a GPU is on a stream: 0 if the event names none.
StretchStream KinetoGpuRowMaker::stream(const KinetoEvent& event, std::string_view number_text) {
  const StretchStream stream = stream_or_none(event, number_text);
  return stream != kNoStream ? stream : stream_or_none(event, "0", false);
}

StretchKernel KinetoGpuRowMaker::kernel(const KinetoEvent& event) {
  KinetoKernel kernel;
  kernel.name = numbering_.text(event.name);
  if (!read_shape(event[KinetoArgument::Grid], kernel.grid))
    std::fill(std::begin(kernel.grid), std::end(kernel.grid), 0);
  if (!read_shape(event[KinetoArgument::Block], kernel.block))
    std::fill(std::begin(kernel.block), std::end(kernel.block), 0);
  kernel.registers = read_id(event, KinetoArgument::Registers, rows_.tally);
  kernel.shared_bytes = read_id(event, KinetoArgument::SharedMemory, rows_.tally);
  return numbering_.kernel(kernel);
}

// FLOPs and bytes that the event of a kernel has itself.
StretchDetail KinetoGpuRowMaker::own_numbers(const KinetoEvent& event) {
  std::string members;
  for (const auto& [argument, key] :
       {std::pair(KinetoArgument::KernelGb, "kernel_num_gb"), std::pair(KinetoArgument::KernelFlop, "kernel_flop")}) {
    if (event.has(argument)) members += fmt::format("{}\"{}\":{}", members.empty() ? "" : ",", key, event[argument]);
  }
  if (members.empty()) return {};
  KinetoDetail row;
  row.other = numbering_.made_text(members);
  rows_.details.push_back(row);
  return StretchDetail{row_count(rows_.details)};
}

void KinetoGpuRowMaker::add_operation(const KinetoEvent& event, const KinetoTimes& times, GpuKind kind) {
  add_on(stream(event, stream_text(event)), event, times, kind);
}

void KinetoGpuRowMaker::add_foreign_operation(const KinetoEvent& event, const KinetoTimes& times) {
  StretchStream on = stream_or_none(event, stream_text(event), false);
  if (on == kNoStream) on = stream(event, "0");
  add_on(on, event, times, kind_by_name(event.name));
}

void KinetoGpuRowMaker::add_on(StretchStream stream, const KinetoEvent& event, const KinetoTimes& times, GpuKind kind) {
  KinetoOperation row;
  row.start_ns = times.begin_ns;
  row.end_ns = times.end_ns;
  row.kind = kind;
  row.stream = stream;
  row.correlation = read_id(event, KinetoArgument::Correlation, rows_.tally);
  if (event.has(KinetoArgument::GraphId)) {
    row.graph_node = graph_node_id(read_id(event, KinetoArgument::GraphId, rows_.tally),
                                   read_id(event, KinetoArgument::GraphNode, rows_.tally));
  }
  row.bytes = read_number(event, KinetoArgument::Bytes, rows_.tally);
  switch (kind) {
    case GpuKind::Kernel:
      row.kernel = kernel(event);
      row.numbers = own_numbers(event);
      break;
    case GpuKind::Copy:
      row.copy = copy_words(event.name, event[KinetoArgument::CopyKind]);
      if (event.has(KinetoArgument::FromDevice) && event.has(KinetoArgument::ToDevice)) {
        row.peer_source = read_id(event, KinetoArgument::FromDevice, rows_.tally) + 1;
        row.peer_destination = read_id(event, KinetoArgument::ToDevice, rows_.tally) + 1;
      }
      break;
    case GpuKind::Fill: row.memory_kind = fill_memory_kind(event.name); break;
    case GpuKind::Graph: break;  // no trace has an event for a graph as a whole
  }
  row.external_id = read_number(event, KinetoArgument::ExternalId, rows_.tally);
  rows_.operations.push_back(row);
}

void KinetoGpuRowMaker::add_sync(const KinetoEvent& event, const KinetoTimes& times) {
  KinetoSync row;
  row.begin_ns = times.begin_ns;
  row.end_ns = times.end_ns;
  row.correlation = read_id(event, KinetoArgument::Correlation, rows_.tally);
  row.stream = stream_or_none(event, stream_text(event));
  if (event.has(KinetoArgument::WaitOnStream))
    row.waits_for = stream_or_none(event, event[KinetoArgument::WaitOnStream]);
  row.record_correlation = read_optional_id(event, KinetoArgument::WaitOnRecord, rows_.tally);
  row.event_id = read_optional_id(event, KinetoArgument::WaitOnEvent, rows_.tally);
  const std::string_view kind = event[KinetoArgument::SyncKindName];
  row.kind = sync_kind(kind.empty() ? event.name : kind);
  rows_.syncs.push_back(row);
}

void KinetoGpuRowMaker::add_annotation(const KinetoEvent& event, const KinetoTimes& times) {
  const bool other_key = !event.has(KinetoArgument::StreamNumber) && event.has(KinetoArgument::OfStream);
  const StretchStream at = stream(event, other_key ? event[KinetoArgument::OfStream] : stream_text(event));
  rows_.gpu_annotations.push_back({times.begin_ns, times.end_ns, at, numbering_.text(event.name)});
}

// The arrow's name says what it is in every version of Kineto; its category does not.
void KinetoGpuRowMaker::add_arrow_end(const KinetoEvent& event, char phase) {
  KinetoArrowEnd row;
  if (phase == 't' || event.name != "ac2g" || to_uint64(event.id, row.id) != DecimalResult::Ok || !event.has_ts ||
      micros_to_ns(event.ts, row.time_ns) != DecimalResult::Ok)
    return;
  row.at_call = phase == 's';
  if (!row.at_call && !read_stream_number(event.tid, row.stream)) return;
  row.pid = numbering_.pid(event.pid);
  rows_.arrows.push_back(row);
}

}  // namespace prof::analyzer
