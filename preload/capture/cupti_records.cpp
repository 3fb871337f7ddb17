#include "preload/capture/cupti_records.h"

#include "preload/capture/cupti_buffers.h"
#include "preload/capture/cupti_client.h"
#include "preload/capture/cupti_layouts.h"
#include "preload/capture/devices.h"
#include "preload/capture/newer_callbacks.h"
#include "preload/capture/streams.h"
#include "preload/log/intern.h"
#include "preload/runtime/recorder.h"

#include <cstring>
#include <new>
#include <string_view>

namespace prof::preload {

namespace {

// Driver or runtime calls of one thread, waiting to be written together.
struct CallGroup {
  uint32_t tid;
  bool runtime;
  uint32_t count;
  uint64_t shortest;  // driver calls: ns of the shortest one
  format::CallPair pairs[format::kMaxCallPairs];
};
inline constexpr uint32_t kRoughestUnit = 12;  // 2^12 ns: more would save nothing
// Names die with their module, so a name's address means nothing in the next buffer; within one buffer the same address is
// the same text.
struct NameSlot {
  const char* name;
  format::StringId id;
};
struct StreamSlot {
  uint32_t device, context, stream;
  format::GpuStreamId id;
  uint64_t operations;
};
constexpr uint32_t kGroups = 8;
static_assert(format::kMaxCallPairs % 2 == 0, "a runtime call is two pairs");
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
        return copy(peer, (1 + peer.srcDeviceId) | (1 + peer.dstDeviceId) << 16);
      }
      case CUPTI_ACTIVITY_KIND_MEMSET: return fill(*reinterpret_cast<const FillRecord*>(record));
      case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return graph(*reinterpret_cast<const GraphRecord*>(record));
      case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER: return unified(*reinterpret_cast<const UnifiedRecord*>(record));
      case CUPTI_ACTIVITY_KIND_DRIVER:
      case CUPTI_ACTIVITY_KIND_RUNTIME: return call(*reinterpret_cast<const CUpti_ActivityAPI*>(record));
      case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        return external(*reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record));
      default:
        if (!cupti_client_known()) count(format::Counter::cupti_unknown_records);
    }
  }

  ReadCounts finish() {
    for (uint32_t i = 0; i < used_groups_; ++i) write(groups_[i]);
    write_external();
    for (uint32_t i = 0; i < used_streams_; ++i) report(streams_[i]);
    return counts_;
  }

 private:
  // The fields all GPU operations share. False: no valid times (the GPU had not finished when the flush was forced, or the
  // clock went wrong), nothing to write.
  template <class Run, class Record> bool timed(const Record& record, Run& run) {
    StreamSlot& stream = stream_of(record.deviceId, record.contextId, record.streamId);
    if (record.start == 0 || record.end < record.start) {
      count(format::Counter::gpu_clock_errors);
      return false;
    }
    ++stream.operations;
    ++counts_.operations;
    if (!device_wanted(record.deviceId)) {
      count(format::Counter::other_device_operations);
      return false;
    }
    run.start = record.start;
    run.duration = record.end - record.start;
    run.correlation = record.correlationId;
    run.stream = stream.id;
    return true;
  }
  // The graph's number is the upper half of the node's; stored beside it, it would cost two bytes of ten.
  template <class Run, class Record> bool common(const Record& record, Run& run) {
    if (!timed(record, run)) return false;
    run.graph_node = record.graphNodeId;
    if (version_ >= kGraphIdSince && record.graphId != record.graphNodeId >> 32) run.graph = record.graphId;
    return true;
  }

  // A graph that begins with a host function stands on the device where it ends; the libraries that say so have that field.
  void graph(GraphRecord record) {
    constexpr uint32_t kHost = INT32_MAX;
    if (record.deviceId == kHost) record.deviceId = record.endDeviceId, record.contextId = record.endContextId;
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
    run.kernel = format::GpuKernelId{g_intern.gpu_kernels.intern(hash, [&](uint32_t id) {
      kernel.id = format::GpuKernelId{id};
      return define(kernel);
    })};
    emit(run);
  }

  template <class Record> void copy(const Record& record, uint32_t peer) {
    format::CopyRun run;
    if (!common(record, run)) return;
    run.bytes = record.bytes;
    run.kind =
        record.copyKind | static_cast<uint32_t>(record.srcKind) << 8 | static_cast<uint32_t>(record.dstKind) << 16;
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
    // CUPTI gives both ids where one of them is the CPU, and then both are the device's.
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
    record.start != 0 ? static_cast<void>(emit(event)) : count(format::Counter::gpu_clock_errors);
  }

  void call(const CUpti_ActivityAPI& record) {
    const bool runtime = record.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
    // Others are another profiler's.
    if (runtime ? !is_launching_runtime_call(record.cbid) : !is_launching_driver_call(record.cbid)) return;
    if (record.start == 0) {
      count(format::Counter::gpu_clock_errors);
      return;
    }
    CallGroup& group = group_of(record.threadId, runtime);
    if (runtime) {
      group.pairs[group.count++] = {record.start, record.correlationId};
      group.pairs[group.count++] = {record.end, record.correlationId};
    } else {
      add_moment(group, record);
    }
    ++counts_.calls;
    if (group.count == format::kMaxCallPairs) write(group);
  }

  // Keeps the start, and how long the shortest call of the group is: within that, write() may choose another moment.
  void add_moment(CallGroup& group, const CUpti_ActivityAPI& record) {
    if (group.count != 0 && record.start < group.pairs[group.count - 1].time) write(group);  // moments only grow
    const uint64_t length = record.end > record.start ? record.end - record.start : 0;
    group.shortest = group.count == 0 ? length : std::min(group.shortest, length);
    group.pairs[group.count++] = {record.start, record.correlationId};
  }

  // Every call holds a multiple of 2^unit ns: the first one at or after its start.
  static uint32_t round_up(CallGroup& group) {
    const uint32_t unit = std::min(kRoughestUnit, 63 - static_cast<uint32_t>(__builtin_clzll(group.shortest + 1)));
    const uint64_t below = (uint64_t{1} << unit) - 1;
    for (uint32_t i = 0; i < group.count; ++i) group.pairs[i].time = (group.pairs[i].time + below) & ~below;
    return unit;
  }

  void external(const CUpti_ActivityExternalCorrelation& record) {
    if (record.externalKind != CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0) return;  // another tool's
    external_[external_count_++] = {record.externalId, record.correlationId};
    ++counts_.calls;
    if (external_count_ == format::kMaxCallPairs) write_external();
  }

  CallGroup& group_of(uint32_t tid, bool runtime) {
    for (uint32_t i = 0; i < used_groups_; ++i) {
      if (groups_[i].tid == tid && groups_[i].runtime == runtime) return groups_[i];
    }
    if (used_groups_ < kGroups) {
      groups_[used_groups_].tid = tid;
      groups_[used_groups_].runtime = runtime;
      groups_[used_groups_].count = 0;
      return groups_[used_groups_++];
    }
    CallGroup& oldest = groups_[next_group_++ % kGroups];
    write(oldest);
    oldest.tid = tid;
    oldest.runtime = runtime;
    return oldest;
  }

  void write(CallGroup& group) {
    if (group.count != 0 && group.runtime) emit(format::RuntimeCalls{group.tid, {group.pairs, group.count}});
    if (group.count != 0 && !group.runtime) {
      const uint32_t unit = round_up(group);
      emit(format::DriverCalls{group.tid, {group.pairs, group.count, unit}});
    }
    group.count = 0;
  }
  void write_external() {
    if (external_count_ != 0) emit(format::ExternalCalls{{external_, external_count_}});
    external_count_ = 0;
  }

  StreamSlot& stream_of(uint32_t device, uint32_t context, uint32_t stream) {
    for (uint32_t n = 0; n < used_streams_; ++n) {  // the same stream comes again and again: newest first
      StreamSlot& slot = streams_[(last_stream_ + kStreams - n) % kStreams];
      if (slot.stream == stream && slot.context == context && slot.device == device) return slot;
    }
    last_stream_ = used_streams_ < kStreams ? used_streams_ : (last_stream_ + 1) % kStreams;
    StreamSlot& slot = streams_[last_stream_];
    if (used_streams_ < kStreams) {
      ++used_streams_;
    } else {
      report(slot);
    }
    slot = {device, context, stream, gpu_stream_id(device, context, stream), 0};
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
    slot.operations = 0;
  }

  format::StringId name_id(const char* name) {
    if (name == nullptr) return {};
    NameSlot& slot = names_[Hash{}.add(reinterpret_cast<uintptr_t>(name)).done() % kNames];
    if (slot.name != name || slot.id == format::StringId{}) slot = {name, intern_string(std::string_view(name))};
    return slot.id;
  }

  uint32_t version_;
  uint32_t used_groups_ = 0, next_group_ = 0;
  uint32_t used_streams_ = 0, last_stream_ = 0;
  uint32_t external_count_ = 0;
  ReadCounts counts_;
  CallGroup groups_[kGroups];  // [0, used_groups_) are set
  format::CallPair external_[format::kMaxCallPairs];
  StreamSlot streams_[kStreams];
  NameSlot names_[kNames] = {};
};
static_assert(sizeof(Reader) <= CuptiBuffers::kScratchBytes);

constexpr bool can_launch(std::string_view topic) {
  constexpr std::string_view kTopics[] = {"Launch",   "LaunchMany", "GraphLaunch", "CopyToHost", "CopyFromHost",
                                          "CopyNull", "CopyAsync",  "FillNull",    "FillAsync"};
  for (const std::string_view known : kTopics) {
    if (known == topic) return true;
  }
  return false;
}

constexpr uint32_t kLaunchingCount = 0
#define CUDA_API(name, topic) +(can_launch(#topic) ? 1 : 0)
#include "preload/intercept/cuda_api.def"
#undef CUDA_API
    ;

struct LaunchingCalls {
  DriverCallId row[kLaunchingCount] = {};
};
constexpr LaunchingCalls launching_calls() {
  LaunchingCalls calls;
  uint32_t at = 0;
#define CUDA_API(name, topic) \
  if (can_launch(#topic)) calls.row[at++] = {CUPTI_DRIVER_TRACE_CBID_##name, #name};
#include "preload/intercept/cuda_api.def"
#undef CUDA_API
  return calls;
}
constexpr LaunchingCalls kLaunchingCalls = launching_calls();

// Sets of callback ids: another profiler may have turned all calls on.
struct CallbackSet {
  uint64_t word[32] = {};
  constexpr void add(uint32_t cbid) {
    if (cbid < 32 * 64) word[cbid / 64] |= uint64_t{1} << (cbid % 64);
  }
  constexpr bool has(uint32_t cbid) const { return cbid < 32 * 64 && (word[cbid / 64] >> (cbid % 64) & 1) != 0; }
};
constexpr CallbackSet launching_driver_set() {
  CallbackSet set;
  for (const DriverCallId& call : kLaunchingCalls.row) set.add(call.cbid);
  return set;
}
constexpr CallbackSet kLaunchingDriver = launching_driver_set();

constexpr uint32_t kRuntimeCalls[] = {
#define RUNTIME_CALL(name) CUPTI_RUNTIME_TRACE_CBID_##name,
#include "preload/capture/runtime_calls.def"
#undef RUNTIME_CALL
};
constexpr CallbackSet launching_runtime_set() {
  CallbackSet set;
  for (const uint32_t cbid : kRuntimeCalls) set.add(cbid);
  return set;
}
constexpr CallbackSet kLaunchingRuntime = launching_runtime_set();

}  // namespace

bool is_launching_driver_call(uint32_t cbid) { return kLaunchingDriver.has(cbid); }

bool is_launching_runtime_call(uint32_t cbid) { return kLaunchingRuntime.has(cbid); }

DriverCallIds launching_driver_calls() { return {kLaunchingCalls.row, kLaunchingCount}; }

bool driver_call_known(uint32_t version, uint32_t cbid) {
  if (cbid >= CUPTI_DRIVER_TRACE_CBID_cuMemcpyWithAttributesAsync) return version >= 130200;
  if (cbid >= CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2) return version >= 130000;
  if (cbid >= CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync) return version >= 26;  // CUDA 12.8
  if (cbid >= CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx) return version >= 18;    // CUDA 11.8
  return true;
}

ReadCounts read_cupti_buffer(const Cupti& api, uint32_t version, uint8_t* buffer, size_t valid_bytes, void* scratch) {
  Reader& reader = *new (scratch) Reader(version);
  CUpti_Activity* record = nullptr;
  while (api.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) reader.read(record);
  return reader.finish();
}

}  // namespace prof::preload
