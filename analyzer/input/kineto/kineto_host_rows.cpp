#include "analyzer/input/kineto/kineto_host_rows.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace prof::analyzer {

namespace {

// Arguments that OperatorDetail::other keeps, with the key that it has there.
constexpr std::pair<KinetoArgument, std::string_view> kOtherArguments[] = {
    {KinetoArgument::KernelFile, "kernel_file"},
    {KinetoArgument::KernelHash, "kernel_hash"},
    {KinetoArgument::KernelBackend, "kernel_backend"},
    {KinetoArgument::NumWarps, "num_warps"},
    {KinetoArgument::NumStages, "num_stages"},
    {KinetoArgument::Grid, "grid"},
    {KinetoArgument::KernelGb, "kernel_num_gb"},
    {KinetoArgument::KernelFlop, "kernel_flop"},
    {KinetoArgument::KernelDetails, "kernel_details"},
    {KinetoArgument::HloOp, "hlo_op"},
    {KinetoArgument::HloModule, "hlo_module"},
    {KinetoArgument::CollectiveName, "Collective name"},
    {KinetoArgument::InElements, "In msg nelems"},
    {KinetoArgument::OutElements, "Out msg nelems"},
    {KinetoArgument::ElementType, "dtype"},
    {KinetoArgument::GroupName, "Process Group Name"},
    {KinetoArgument::GroupSize, "Group size"},
    {KinetoArgument::GroupRank, "Rank"},
    {KinetoArgument::SourceRank, "Src Rank"},
    {KinetoArgument::DestinationRank, "Dst Rank"},
    {KinetoArgument::CollectiveSequence, "Seq"}};

}  // namespace

void KinetoHostRowMaker::add_call(const KinetoEvent& event, const KinetoTimes& times) {
  KinetoCall row;
  row.begin_ns = times.begin_ns;
  row.end_ns = times.end_ns;
  row.track = track(event);
  row.name = numbering_.text(event.name);
  row.correlation = read_id(event, KinetoArgument::Correlation, rows_.tally);
  row.external_id = read_number(event, KinetoArgument::ExternalId, rows_.tally);
  rows_.calls.push_back(row);
}

void KinetoHostRowMaker::add_range(const KinetoEvent& event, const KinetoTimes& times, RangeKind kind) {
  KinetoRange row;
  row.begin_ns = times.begin_ns;
  row.end_ns = times.end_ns;
  row.track = track(event);
  row.label = label(event);
  row.kind = kind;
  if (kind == RangeKind::Operator || kind == RangeKind::Annotation) row.detail = detail(event, kind);
  rows_.ranges.push_back(row);
}

void KinetoHostRowMaker::add_foreign_range(const KinetoEvent& event, const KinetoTimes& times) {
  add_range(event, times, RangeKind::Annotation);
  rows_.ranges.back().foreign = true;
}

void KinetoHostRowMaker::add_mark(const KinetoEvent& event, int64_t time_ns) {
  KinetoMark row;
  row.time_ns = time_ns;
  row.track = track(event);
  row.label = label(event);
  rows_.marks.push_back(row);
}

void KinetoHostRowMaker::add_memory(const KinetoEvent& event, int64_t time_ns) {
  constexpr int64_t kHost = 0;  // of PyTorch's device types
  KinetoTally& tally = rows_.tally;
  KinetoMemory row;
  row.time_ns = time_ns;
  row.bytes = read_signed(event, KinetoArgument::MemoryBytes, tally);
  row.address = read_number(event, KinetoArgument::MemoryAddress, tally);
  row.allocated = read_number(event, KinetoArgument::MemoryAllocated, tally);
  row.reserved = read_number(event, KinetoArgument::MemoryReserved, tally);
  row.track = track(event);
  const int64_t device = read_signed(event, KinetoArgument::MemoryDevice, tally, -1);
  if (read_signed(event, KinetoArgument::MemoryDeviceType, tally, kHost) != kHost && device >= 0)
    row.device = static_cast<uint32_t>(device);
  rows_.memory.push_back(row);
}

void KinetoHostRowMaker::add_edge(const KinetoEvent& event, int64_t time_ns, KinetoEdgeKind edge, RangeKind kind) {
  KinetoEdge row;
  row.time_ns = time_ns;
  row.track = track(event);
  row.edge = edge;
  switch (edge) {
    case KinetoEdgeKind::NestedBegin:
      row.label = label(event);
      row.kind = kind;
      row.detail = detail(event, kind);
      break;
    case KinetoEdgeKind::NestedEnd: row.label = label(event); break;  // most have no name
    case KinetoEdgeKind::AsyncBegin:
    case KinetoEdgeKind::AsyncEnd:
      row.label = label(event);
      row.key = numbering_.made_text(fmt::format("{}\n{}\n{}\n{}", event.cat, event.id, event.scope, event.pid));
      break;
  }
  rows_.edges.push_back(row);
}

KinetoLabel KinetoHostRowMaker::label(const KinetoEvent& event) {
  KinetoLabel label;
  label.name = numbering_.text(event.name);
  if (event.has(KinetoArgument::Domain)) label.domain = numbering_.text(event[KinetoArgument::Domain]);
  return label;
}

StretchDetail KinetoHostRowMaker::detail(const KinetoEvent& event, RangeKind kind) {
  const auto text = [&](KinetoArgument argument) {
    return event.has(argument) ? numbering_.text(event[argument]) : StretchText{};
  };
  KinetoTally& tally = rows_.tally;
  KinetoDetail row;
  // What may turn out to be an operation or a call is joined by its correlation id.
  const uint64_t correlation = read_number(event, KinetoArgument::Correlation, tally);
  row.external_id = kind == RangeKind::Annotation && correlation != 0
                        ? correlation
                        : read_number(event, KinetoArgument::ExternalId, tally, correlation);
  row.sequence = read_signed(event, KinetoArgument::Sequence, tally, -1);
  row.flops = read_number(event, KinetoArgument::Flops, tally);
  row.forward_thread = read_id(event, KinetoArgument::ForwardThread, tally);
  row.dims = text(KinetoArgument::InputDims);
  row.types = text(KinetoArgument::InputTypes);
  row.concrete = text(KinetoArgument::ConcreteInputs);
  row.stack = text(KinetoArgument::CallStack);
  std::string other;
  for (const auto& [argument, key] : kOtherArguments) {
    if (event.has(argument)) other += fmt::format("{}\"{}\":{}", other.empty() ? "" : ",", key, event[argument]);
  }
  if (!other.empty()) row.other = numbering_.made_text(other);
  if (row == KinetoDetail()) return {};
  rows_.details.push_back(row);
  return StretchDetail{row_count(rows_.details)};
}

}  // namespace prof::analyzer
