#include "preload/capture/cupti_records.h"

#include "preload/capture/cupti/cupti_buffers.h"
#include "preload/capture/cupti/cupti_calls.h"
#include "preload/capture/cupti/cupti_client.h"
#include "preload/capture/cupti/cupti_layouts.h"
#include "preload/capture/cupti/launching_calls.h"
#include "preload/capture/gpu_bursts.h"
#include "preload/capture/gpu_busy.h"
#include "preload/capture/streams/burst_counts.h"
#include "preload/capture/streams/streams.h"
#include "preload/driver/gpu_devices.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"
#include "preload/record/texts.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <string_view>

namespace prof::preload {

namespace {

// Names are freed with their module, so a name's address means nothing in the next buffer. Within one buffer the same
// address is the same text.
struct NameSlot {
  const char* name;
  format::StringId id;
};
struct StreamSlot {
  uint32_t device, context, stream;
  format::GpuStreamId id;
  uint64_t operations;
  uint64_t of_burst;  // operations
  uint32_t last;      // correlation id, of operations outside graphs
};
constexpr uint32_t kNames = 256;
constexpr uint32_t kStreams = 32;

class Reader {
 public:
  explicit Reader(uint32_t version) : version_(version) {}

  void read(const CUpti_Activity* record) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      case CUPTI_ACTIVITY_KIND_KERNEL: return kernel(*reinterpret_cast<const KernelRecord*>(record));
      case CUPTI_ACTIVITY_KIND_MEMCPY: return copy(*reinterpret_cast<const CopyRecord*>(record), 0);
      case CUPTI_ACTIVITY_KIND_MEMCPY2: {
        const auto& peer = *reinterpret_cast<const PeerRecord*>(record);
        return copy(peer, format::CopyRun::peers(peer.srcDeviceId, peer.dstDeviceId));
      }
      case CUPTI_ACTIVITY_KIND_MEMSET: return fill(*reinterpret_cast<const FillRecord*>(record));
      case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return graph(*reinterpret_cast<const GraphRecord*>(record));
      case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER: return unified(*reinterpret_cast<const UnifiedRecord*>(record));
      case CUPTI_ACTIVITY_KIND_DRIVER:
      case CUPTI_ACTIVITY_KIND_RUNTIME: return calls_.call(*reinterpret_cast<const CUpti_ActivityAPI*>(record));
      default:
        if (!cupti_client_known()) count(format::LossCounter::cupti_unknown_records);
    }
  }

  ReadCounts finish() {
    counts_.calls = calls_.finish();
    for (uint32_t i = 0; i < used_streams_; ++i) report(streams_[i]);
    if (last_end_ns_ != 0) note_gpu_work(last_end_ns_, busy_ns_, devices_);
    return counts_;
  }

 private:
  // Fills in the fields that all GPU operations share. False: no valid times (the GPU had not finished when the flush
  // was forced, or the clock went wrong), or the device is left out. Nothing is written then.
  template <class Run, class Record> bool timed(const Record& record, Run& run) {
    StreamSlot& stream = stream_of(record.deviceId, record.contextId, record.streamId);
    if (record.start == 0 || record.end < record.start) {
      count(format::LossCounter::gpu_clock_errors);
      return false;
    }
    ++stream.operations;
    ++counts_.operations;
    last_end_ns_ = std::max<uint64_t>(last_end_ns_, record.end);
    busy_ns_ += record.end - record.start;
    devices_ |= 1ull << record.deviceId % 64;
    if (in_bursts_) count_of_burst(record, stream);
    if (!device_wanted(record.deviceId)) {
      count(format::LossCounter::other_device_operations);
      return false;
    }
    run.start = record.start;
    run.duration = record.end - record.start;
    run.correlation = record.correlationId;
    run.stream = stream.id;
    return true;
  }
  // A launch outside of graphs counts as one operation, whatever the driver makes of it.
  template <class Record> void count_of_burst(const Record& record, StreamSlot& stream) {
    bool node = false;
    if constexpr (requires { record.graphNodeId; }) node = record.graphNodeId != 0;
    if (!node && record.correlationId == stream.last) return;
    if (!node) stream.last = record.correlationId;
    if (burst_operation(record.correlationId)) ++stream.of_burst;
  }
  // The graph's number is the upper half of the node's. Stored again, it would cost two bytes of ten.
  template <class Run, class Record> bool common(const Record& record, Run& run) {
    if (!timed(record, run)) return false;
    run.graph_node = record.graphNodeId;
    if (version_ >= kGraphIdSince && record.graphId != record.graphNodeId >> 32) run.graph = record.graphId;
    return true;
  }

  // A graph that starts with a host function has the device where it ends. Libraries that report this have that field.
  void graph(GraphRecord record) {
    constexpr uint32_t kHost = INT32_MAX;
    if (record.deviceId == kHost) {
      record.deviceId = record.endDeviceId;
      record.contextId = record.endContextId;
    }
    format::GraphRun run;
    run.graph = record.graphId;
    if (timed(record, run)) emit(run);
  }

  void kernel(const KernelRecord& record) {
    format::KernelRun run;
    if (!common(record, run)) return;
    format::GpuKernelDef kernel;
    kernel.name = name_id(record.name);
    kernel.grid[0] = static_cast<uint32_t>(record.gridX);
    kernel.grid[1] = static_cast<uint32_t>(record.gridY);
    kernel.grid[2] = static_cast<uint32_t>(record.gridZ);
    kernel.block[0] = static_cast<uint32_t>(record.blockX);
    kernel.block[1] = static_cast<uint32_t>(record.blockY);
    kernel.block[2] = static_cast<uint32_t>(record.blockZ);
    kernel.registers = record.registersPerThread;
    kernel.static_shared_bytes = static_cast<uint32_t>(record.staticSharedMemory);
    kernel.dynamic_shared_bytes = static_cast<uint32_t>(record.dynamicSharedMemory);
    kernel.local_bytes = record.localMemoryPerThread;
    kernel.launch_type = record.launchType;
    const uint64_t hash =
        Hash{}
            .add(static_cast<uint64_t>(kernel.name) << 32 | kernel.registers)
            .add(static_cast<uint64_t>(kernel.grid[0]) << 32 | kernel.grid[1])
            .add(static_cast<uint64_t>(kernel.grid[2]) << 32 | kernel.block[0])
            .add(static_cast<uint64_t>(kernel.block[1]) << 32 | kernel.block[2])
            .add(static_cast<uint64_t>(kernel.static_shared_bytes) << 32 | kernel.dynamic_shared_bytes)
            .add(static_cast<uint64_t>(kernel.local_bytes) << 32 | kernel.launch_type)
            .done();
    const auto write = [&](uint32_t id) {
      kernel.id = format::GpuKernelId{id};
      return define(kernel);
    };
    run.kernel = format::GpuKernelId{g_intern.gpu_kernels.intern(hash, write, is_kept(kernel.name))};
    emit(run);
  }

  template <class Record> void copy(const Record& record, uint32_t peer) {
    format::CopyRun run;
    if (!common(record, run)) return;
    run.bytes = record.bytes;
    run.kind = format::CopyRun::kinds(record.copyKind, record.srcKind, record.dstKind);
    run.peer = peer;
    emit(run);
  }

  void fill(const FillRecord& record) {
    format::FillRun run;
    if (!common(record, run)) return;
    run.bytes = record.bytes;
    run.value = record.value;
    run.memory_kind = record.memoryKind;
    emit(run);
  }

  void unified(const UnifiedRecord& record) {
    // CUPTI sets both ids if one of them is the CPU, and then both are the device's.
    const auto place = [](uint32_t id) { return id == CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID ? 0 : id + 1; };
    const auto kind = record.counterKind;
    const bool from_device = kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH ||
                             kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT ||
                             kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING;
    const bool both = kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD ||
                      kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP;
    const bool to_device = kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
    format::UnifiedMemory event;
    event.start = record.start;
    event.duration = record.end > record.start ? record.end - record.start : 0;
    event.what = static_cast<uint32_t>(record.counterKind);
    event.value = record.value;
    event.address = record.address;
    event.source = from_device || both ? place(record.srcId) : 0;
    event.destination = to_device || both ? place(record.dstId) : 0;
    event.flags = record.flags;
    if (record.start != 0) {
      emit(event);
    } else {
      count(format::LossCounter::gpu_clock_errors);
    }
  }

  StreamSlot& stream_of(uint32_t device, uint32_t context, uint32_t stream) {
    for (uint32_t n = 0; n < used_streams_; ++n) {  // most records are of the same stream: newest first
      StreamSlot& slot = streams_[(last_stream_ + kStreams - n) % kStreams];
      if (slot.stream != stream || slot.context != context || slot.device != device) continue;
      if (!is_kept(slot.id)) slot.id = gpu_stream_id(device, context, stream);
      return slot;
    }
    last_stream_ = used_streams_ < kStreams ? used_streams_ : (last_stream_ + 1) % kStreams;
    StreamSlot& slot = streams_[last_stream_];
    if (used_streams_ < kStreams) {
      ++used_streams_;
    } else {
      report(slot);
    }
    slot = {device, context, stream, gpu_stream_id(device, context, stream), 0, 0, 0};
    return slot;
  }
  static format::GpuStreamId gpu_stream_id(uint32_t device, uint32_t context, uint32_t stream) {
    const uint64_t hash = Hash{}.add(static_cast<uint64_t>(device) << 32 | context).add(stream).done();
    return format::GpuStreamId{g_intern.gpu_streams.intern(hash, [&](uint32_t id) {
      return define(format::GpuStreamDef{format::GpuStreamId{id}, device, context, stream});
    })};
  }
  static void report(StreamSlot& slot) {
    if (slot.operations != 0) gpu_reported(slot.context, slot.stream, slot.operations);
    if (slot.of_burst != 0) burst_reported(slot.context, slot.stream, slot.of_burst);
    slot.operations = slot.of_burst = 0;
  }

  format::StringId name_id(const char* name) {
    if (name == nullptr) return {};
    NameSlot& slot = names_[Hash{}.add(reinterpret_cast<uintptr_t>(name)).done() % kNames];
    if (slot.name != name || slot.id == format::StringId{} || !is_kept(slot.id))
      slot = {name, intern_string(std::string_view(name))};
    return slot.id;
  }

  uint32_t version_;
  const bool in_bursts_ = gpu_in_bursts();
  uint32_t used_streams_ = 0, last_stream_ = 0;
  uint64_t last_end_ns_ = 0, busy_ns_ = 0, devices_ = 0;
  ReadCounts counts_;
  CallRecords calls_;
  StreamSlot streams_[kStreams];
  NameSlot names_[kNames] = {};
};
static_assert(sizeof(Reader) <= CuptiBuffers::kScratchBytes);

// Calls that launch, by which operations of a burst are known.
void note_burst_call(const CUpti_Activity& record) {
  if (record.kind != CUPTI_ACTIVITY_KIND_DRIVER && record.kind != CUPTI_ACTIVITY_KIND_RUNTIME) return;
  const auto& call = reinterpret_cast<const CUpti_ActivityAPI&>(record);
  const bool launches = record.kind == CUPTI_ACTIVITY_KIND_DRIVER
                            ? is_launching_driver_call(call.cbid)
                            : is_launching_runtime_call(call.cbid) || is_newer_launching_runtime_call(call.cbid);
  if (launches) burst_call(call.start, call.correlationId);
}

}  // namespace

ReadCounts read_cupti_buffer(const Cupti& api, uint32_t version, uint8_t* buffer, size_t valid_bytes, void* scratch) {
  Reader& reader = *new (scratch) Reader(version);
  CUpti_Activity* record = nullptr;
  while (gpu_in_bursts() && api.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
    note_burst_call(*record);
  record = nullptr;
  while (api.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) reader.read(record);
  return reader.finish();
}

}  // namespace prof::preload
