// What of an event goes into each kind of row? kineto_rows.cpp decides which kind an event becomes.
#include "analyzer/input/kineto/kineto_rows.h"

#include "analyzer/base/json/json_decimal.h"
#include "analyzer/input/kineto/kineto_category.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

constexpr uint64_t kMostDevices = 4096;
constexpr uint32_t kStreamMask = (1u << 29) - 1;  // of GpuOperation::stream_index

uint32_t low_32(uint64_t value) { return static_cast<uint32_t>(value); }

// A number of a stream that is not "none", which CUPTI writes as -1.
bool stream_number(std::string_view text, uint32_t& number) {
  int64_t value = 0;
  if (to_int64(text, value) != DecimalResult::Ok || value < 0 || value >= UINT32_MAX) return false;
  number = static_cast<uint32_t>(value);
  return true;
}

}  // namespace

size_t KinetoRowMaker::KernelHash::operator()(const KinetoKernel& kernel) const {
  uint64_t hash = kernel.name;
  for (const uint32_t word : {kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0], kernel.block[1],
                              kernel.block[2], kernel.registers, kernel.shared_bytes})
    hash = (hash ^ word) * 0x9e3779b97f4a7c15 + (hash >> 29);
  return hash;
}

size_t KinetoRowMaker::StreamHash::operator()(const KinetoStream& stream) const {
  uint64_t hash = stream.pid;
  for (const uint32_t word : {stream.device, stream.context, stream.number})
    hash = (hash ^ word) * 0x9e3779b97f4a7c15 + (hash >> 29);
  return hash;
}

uint64_t KinetoRowMaker::number(KinetoArgument argument, uint64_t otherwise) {
  if (!event_.has(argument)) return otherwise;
  uint64_t value = 0;
  if (to_uint64(event_[argument], value) == DecimalResult::Ok) return value;
  aside(KinetoAside::BadNumber);
  return otherwise;
}

int64_t KinetoRowMaker::signed_number(KinetoArgument argument, int64_t otherwise) {
  if (!event_.has(argument)) return otherwise;
  int64_t value = 0;
  if (to_int64(event_[argument], value) == DecimalResult::Ok) return value;
  aside(KinetoAside::BadNumber);
  return otherwise;
}

// Most events are of the same process and thread as the one before.
uint32_t KinetoRowMaker::pid_text() {
  if (event_.pid != last_pid_) {
    last_pid_ = event_.pid;
    last_pid_text_ = text(event_.pid);
  }
  return last_pid_text_;
}

uint32_t KinetoRowMaker::tid_text() {
  if (event_.tid != last_tid_) {
    last_tid_ = event_.tid;
    last_tid_text_ = text(event_.tid);
  }
  return last_tid_text_;
}

uint32_t KinetoRowMaker::track() {
  const KinetoTrack key{pid_text(), tid_text()};
  if (last_track_ != UINT32_MAX && key == last_track_key_) return last_track_;
  const auto [found, added] =
      track_of_.try_emplace(uint64_t{key.pid} << 32 | key.tid, static_cast<uint32_t>(rows_.tracks.size()));
  if (added) rows_.tracks.push_back(key);
  last_track_key_ = key;
  return last_track_ = found->second;
}

uint32_t KinetoRowMaker::device_or_pid() {
  uint64_t device = 0;
  if (event_.has(KinetoArgument::DeviceOrdinal)) {
    device = number(KinetoArgument::DeviceOrdinal);
  } else if (to_uint64(event_.pid, device) != DecimalResult::Ok) {
    device = 0;
  }
  // A pid in place of a device's number.
  return device < kMostDevices ? low_32(device) : 0;
}

// A stream of the event's device; UINT32_MAX: the text says "none".
uint32_t KinetoRowMaker::stream(std::string_view number_text) {
  KinetoStream key;
  key.pid = pid_text();
  if (!stream_number(number_text, key.number)) return UINT32_MAX;
  key.device = device_or_pid();
  key.context = low_32(number(KinetoArgument::Context));
  std::vector<KinetoStream>& streams = rows_.streams;
  if (last_stream_ < streams.size() && streams[last_stream_] == key) return last_stream_;
  const auto [found, added] = stream_of_.try_emplace(key, static_cast<uint32_t>(streams.size()));
  if (added) streams.push_back(key);
  last_stream_ = found->second;
  return last_stream_;
}

uint32_t KinetoRowMaker::kernel() {
  KinetoKernel key;
  key.name = text(event_.name);
  if (!read_shape(event_[KinetoArgument::Grid], key.grid)) std::fill(std::begin(key.grid), std::end(key.grid), 0);
  if (!read_shape(event_[KinetoArgument::Block], key.block)) std::fill(std::begin(key.block), std::end(key.block), 0);
  key.registers = low_32(number(KinetoArgument::Registers));
  key.shared_bytes = low_32(number(KinetoArgument::SharedMemory));
  const auto [found, added] = kernel_of_.try_emplace(key, static_cast<uint32_t>(rows_.kernels.size()));
  if (added) rows_.kernels.push_back(key);
  return found->second;
}

// FLOPs and bytes that the event of a kernel says itself; 0: it does not.
uint32_t KinetoRowMaker::own_numbers() {
  std::string members;
  for (const auto& [argument, key] :
       {std::pair(KinetoArgument::KernelGb, "kernel_num_gb"), std::pair(KinetoArgument::KernelFlop, "kernel_flop")}) {
    if (event_.has(argument)) members += fmt::format("{}\"{}\":{}", members.empty() ? "" : ",", key, event_[argument]);
  }
  if (members.empty()) return 0;
  OperatorDetail row;
  row.other = StringId{text(keep(members))};
  rows_.details.push_back(row);
  return row_count(rows_.details);
}

void KinetoRowMaker::operation(GpuKind kind) {
  GpuOperation row;
  row.start_ns = begin_ns_, row.end_ns = end_ns_;
  row.kind_bits = static_cast<uint32_t>(kind) & 7;
  const std::string_view number_text =
      event_.has(KinetoArgument::StreamNumber) ? event_[KinetoArgument::StreamNumber] : event_.tid;
  uint32_t at = stream(number_text);
  if (at == UINT32_MAX) at = stream("0");
  row.stream_index = at & kStreamMask;
  row.correlation = low_32(number(KinetoArgument::Correlation));
  if (event_.has(KinetoArgument::GraphId)) {
    row.graph_node = number(KinetoArgument::GraphId) << 32 | low_32(number(KinetoArgument::GraphNode));
  }
  row.bytes = number(KinetoArgument::Bytes) & ((uint64_t{1} << 48) - 1);
  if (kind == GpuKind::Kernel) {
    row.detail = kernel();
    row.bytes = own_numbers();
  } else if (kind == GpuKind::Copy) {
    const CopyWords words = copy_words(event_.name, event_[KinetoArgument::CopyKind]);
    row.detail = words.kind | words.source << 8 | words.destination << 16;
    if (event_.has(KinetoArgument::FromDevice) && event_.has(KinetoArgument::ToDevice)) {
      row.peer_source = (number(KinetoArgument::FromDevice) + 1) & 0xff;
      row.peer_destination = (number(KinetoArgument::ToDevice) + 1) & 0xff;
    }
  } else {
    row.detail = fill_memory_kind(event_.name);
  }
  rows_.operations.push_back(row);
  rows_.operation_external.push_back(number(KinetoArgument::ExternalId));
  if (kind == GpuKind::Kernel && !event_.metrics.empty())
    counted(KinetoCounted::Operation, rows_.operations.size() - 1);
}

void KinetoRowMaker::call() {
  HostEvent row;
  row.begin_ns = begin_ns_, row.end_ns = end_ns_;
  row.thread = ThreadId{track()};
  row.stack = text(event_.name);
  row.correlation = low_32(number(KinetoArgument::Correlation));
  rows_.host.push_back(row);
  rows_.host_external.push_back(number(KinetoArgument::ExternalId));
}

void KinetoRowMaker::sync() {
  SyncEvent row;
  row.begin_ns = begin_ns_, row.end_ns = end_ns_;
  row.correlation = low_32(number(KinetoArgument::Correlation));
  row.stream = stream(event_.has(KinetoArgument::StreamNumber) ? event_[KinetoArgument::StreamNumber] : event_.tid);
  row.waits_for = event_.has(KinetoArgument::WaitOnStream) ? stream(event_[KinetoArgument::WaitOnStream]) : kNone;
  row.record_correlation =
      low_32(static_cast<uint64_t>(std::max<int64_t>(signed_number(KinetoArgument::WaitOnRecord, 0), 0)));
  row.event_id = low_32(static_cast<uint64_t>(std::max<int64_t>(signed_number(KinetoArgument::WaitOnEvent, 0), 0)));
  const std::string_view kind = event_[KinetoArgument::SyncKindName];
  row.kind = sync_kind(kind.empty() ? event_.name : kind);
  rows_.syncs.push_back(row);
}

void KinetoRowMaker::gpu_annotation() {
  uint32_t at = stream(event_.has(KinetoArgument::StreamNumber) ? event_[KinetoArgument::StreamNumber]
                       : event_.has(KinetoArgument::OfStream)   ? event_[KinetoArgument::OfStream]
                                                                : event_.tid);
  if (at == UINT32_MAX) at = stream("0");
  rows_.gpu_annotations.push_back({begin_ns_, end_ns_, StreamId{at}, LabelId{text(event_.name)}});
}

uint32_t KinetoRowMaker::detail() {
  const auto json = [&](KinetoArgument argument) {
    return event_.has(argument) ? StringId{text(event_[argument])} : StringId{};
  };
  OperatorDetail row;
  row.external_id = number(KinetoArgument::ExternalId, number(KinetoArgument::Correlation));
  row.sequence = signed_number(KinetoArgument::Sequence, -1);
  row.flops = number(KinetoArgument::Flops);
  row.forward_thread = low_32(number(KinetoArgument::ForwardThread));
  row.dims = json(KinetoArgument::InputDims);
  row.types = json(KinetoArgument::InputTypes);
  row.concrete = json(KinetoArgument::ConcreteInputs);
  row.stack = json(KinetoArgument::CallStack);
  constexpr std::pair<KinetoArgument, std::string_view> kOthers[] = {
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
      {KinetoArgument::DestinationRank, "Dst Rank"}};
  std::string other;
  for (const auto& [argument, key] : kOthers) {
    if (event_.has(argument)) other += fmt::format("{}\"{}\":{}", other.empty() ? "" : ",", key, event_[argument]);
  }
  if (!other.empty()) row.other = StringId{text(keep(other))};
  const bool known = row.external_id != 0 || row.sequence != -1 || row.flops != 0 || row.forward_thread != 0 ||
                     static_cast<uint32_t>(row.dims) != 0 || static_cast<uint32_t>(row.types) != 0 ||
                     static_cast<uint32_t>(row.concrete) != 0 || static_cast<uint32_t>(row.stack) != 0 ||
                     static_cast<uint32_t>(row.other) != 0;
  if (!known) return 0;
  rows_.details.push_back(row);
  return static_cast<uint32_t>(rows_.details.size());
}

uint32_t KinetoRowMaker::label() {
  const uint32_t name = text(event_.name);
  if (!event_.has(KinetoArgument::Domain)) return name;
  const uint32_t domain = text(event_[KinetoArgument::Domain]);
  const auto [found, added] = label_of_.try_emplace(uint64_t{domain} << 32 | name, row_count(rows_.labels));
  if (added) rows_.labels.push_back({name, domain});
  return kOfDomain | found->second;
}

void KinetoRowMaker::range(RangeKind kind) {
  Range row;
  row.begin_ns = begin_ns_, row.end_ns = end_ns_;
  row.thread = ThreadId{track()};
  row.label = LabelId{label()};
  row.kind = kind;
  if (kind == RangeKind::Operator || kind == RangeKind::Annotation) row.payload = detail();
  rows_.ranges.push_back(row);
  if (!event_.metrics.empty()) counted(KinetoCounted::Range, rows_.ranges.size() - 1);
}

void KinetoRowMaker::memory() {
  MemoryEvent row;
  row.time_ns = begin_ns_;
  row.bytes = signed_number(KinetoArgument::MemoryBytes, 0);
  row.address = number(KinetoArgument::MemoryAddress);
  row.allocated = number(KinetoArgument::MemoryAllocated);
  row.reserved = number(KinetoArgument::MemoryReserved);
  row.thread = ThreadId{track()};
  constexpr int64_t kHost = 0;  // of PyTorch's device types
  const int64_t device = signed_number(KinetoArgument::MemoryDevice, -1);
  if (signed_number(KinetoArgument::MemoryDeviceType, kHost) != kHost && device >= 0)
    row.device = low_32(static_cast<uint64_t>(device));
  rows_.memory.push_back(row);
}

void KinetoRowMaker::instant() {
  if (of_profiler()) return aside(KinetoAside::ProfilerSpan);
  if (!take_times(false)) return;
  if (event_.name == "[memory]") return memory();
  Range row;
  row.begin_ns = row.end_ns = begin_ns_;
  row.thread = ThreadId{track()};
  row.label = LabelId{label()};
  row.kind = RangeKind::Annotation;
  row.style = RangeStyle::Mark;
  rows_.marks.push_back(row);
}

void KinetoRowMaker::edge(char phase) {
  if (!take_times(false)) return;
  KinetoEdge row;
  row.time_ns = begin_ns_;
  row.thread = track();
  row.phase = phase;
  if (phase == 'B') {
    row.label = label();
    row.kind = static_cast<uint8_t>(class_ == KinetoClass::Operator   ? RangeKind::Operator
                                    : class_ == KinetoClass::Python   ? RangeKind::Python
                                    : class_ == KinetoClass::Overhead ? RangeKind::Overhead
                                                                      : RangeKind::Annotation);
    row.detail = detail();
  }
  rows_.edges.push_back(row);
}

void KinetoRowMaker::async(char phase) {
  if (!take_times(false)) return;
  KinetoEdge row;
  row.time_ns = begin_ns_;
  row.thread = track();
  row.phase = phase;
  row.kind = static_cast<uint8_t>(RangeKind::Annotation);
  row.label = label();
  row.key = text(keep(fmt::format("{}\n{}\n{}\n{}", event_.cat, event_.id, event_.scope, event_.pid)));
  rows_.edges.push_back(row);
}

// An arrow is no row of the model: its ends are kept for launching_processes(). Its name says what it is in every version.
void KinetoRowMaker::flow(char phase) {
  aside(KinetoAside::Flow);
  uint64_t id = 0;
  int64_t time_ns = 0;
  if (phase == 't' || event_.name != "ac2g" || to_uint64(event_.id, id) != DecimalResult::Ok || !event_.has_ts ||
      micros_to_ns(event_.ts, time_ns) != DecimalResult::Ok)
    return;
  uint32_t number = UINT32_MAX;
  if (phase == 'f' && !stream_number(event_.tid, number)) return;
  rows_.flows.push_back({time_ns, id, pid_text(), number, phase == 's'});
}

}  // namespace prof::analyzer
