// Converts finished operations of the device into CUPTI's records, with its structs and its clock.
#include <unistd.h>

#include <algorithm>

#include "tests/sim/cupti/cupti_state.h"

namespace sim {
namespace {

// Every record starts from zero: fields that this simulator does not set read as "none".
template <class Record> Record blank() {
  Record record;
  memset(static_cast<void*>(&record), 0, sizeof record);
  return record;
}

template <class Record> size_t put(const Record& record, uint8_t* to) {
  memcpy(to, &record, sizeof record);
  return sizeof record;
}

size_t kernel(State& now, const OperationRecord& from, uint8_t* to) {
  auto record = blank<CUpti_ActivityKernel10>();
  record.kind = now.enabled[CUPTI_ACTIVITY_KIND_KERNEL] && !now.enabled[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]
                    ? CUPTI_ACTIVITY_KIND_KERNEL
                    : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.registersPerThread = from.registers;
  record.start = translate(now, from.start);
  record.end = translate(now, from.end);
  record.completed = record.end;
  record.deviceId = from.device;
  record.contextId = from.context_id;
  record.streamId = from.stream_id;
  record.gridX = static_cast<int32_t>(from.grid.x);
  record.gridY = static_cast<int32_t>(from.grid.y);
  record.gridZ = static_cast<int32_t>(from.grid.z);
  record.blockX = static_cast<int32_t>(from.block.x);
  record.blockY = static_cast<int32_t>(from.block.y);
  record.blockZ = static_cast<int32_t>(from.block.z);
  record.staticSharedMemory = static_cast<int32_t>(from.static_shared);
  record.dynamicSharedMemory = static_cast<int32_t>(from.dynamic_shared);
  record.sharedMemoryExecuted = from.static_shared + from.dynamic_shared;
  record.correlationId = from.correlation;
  record.gridId = static_cast<int64_t>(from.grid_id);
  record.name = from.name;
  record.queued = record.submitted = CUPTI_TIMESTAMP_UNKNOWN;
  record.launchType = from.launch_type;
  record.graphNodeId = from.graph_node;
  record.graphId = from.graph_id;
  record.channelID = from.stream_id;
  record.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
  return put(record, to);
}

size_t copy(State& now, const OperationRecord& from, uint8_t* to) {
  auto record = blank<CUpti_ActivityMemcpy6>();
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = from.copy_kind;
  record.srcKind = from.source_kind;
  record.dstKind = from.target_kind;
  record.flags = from.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
  record.bytes = from.bytes;
  record.start = translate(now, from.start);
  record.end = translate(now, from.end);
  record.deviceId = from.device;
  record.contextId = from.context_id;
  record.streamId = from.stream_id;
  record.correlationId = from.correlation;
  record.graphNodeId = from.graph_node;
  record.graphId = from.graph_id;
  record.channelID = from.stream_id;
  record.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
  record.copyCount = 1;
  return put(record, to);
}

size_t peer_copy(State& now, const OperationRecord& from, uint8_t* to) {
  auto record = blank<CUpti_ActivityMemcpyPtoP4>();
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  record.srcKind = from.source_kind;
  record.dstKind = from.target_kind;
  record.flags = from.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
  record.bytes = from.bytes;
  record.start = translate(now, from.start);
  record.end = translate(now, from.end);
  record.deviceId = from.device;
  record.contextId = from.context_id;
  record.streamId = from.stream_id;
  record.srcDeviceId = from.source_device;
  record.srcContextId = from.source_context;
  record.dstDeviceId = from.target_device;
  record.dstContextId = from.target_context;
  record.correlationId = from.correlation;
  record.graphNodeId = from.graph_node;
  record.graphId = from.graph_id;
  record.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
  return put(record, to);
}

size_t fill(State& now, const OperationRecord& from, uint8_t* to) {
  auto record = blank<CUpti_ActivityMemset4>();
  record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  record.value = from.value;
  record.bytes = from.bytes;
  record.start = translate(now, from.start);
  record.end = translate(now, from.end);
  record.deviceId = from.device;
  record.contextId = from.context_id;
  record.streamId = from.stream_id;
  record.correlationId = from.correlation;
  record.flags = from.async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
  record.memoryKind = from.target_kind;
  record.graphNodeId = from.graph_node;
  record.graphId = from.graph_id;
  record.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
  return put(record, to);
}

size_t graph(State& now, const GraphRun& from, uint8_t* to) {
  auto record = blank<CUpti_ActivityGraphTrace2>();
  record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  record.correlationId = from.correlation;
  record.start = translate(now, from.start);
  record.end = translate(now, from.end);
  record.deviceId = record.endDeviceId = from.device;
  record.contextId = record.endContextId = from.context_id;
  record.streamId = from.stream_id;
  record.graphId = from.graph_id;
  return put(record, to);
}

size_t api(const ApiRecord& from, uint8_t* to) {
  auto record = blank<CUpti_ActivityAPI>();
  record.kind = from.kind;
  record.cbid = from.cbid;
  record.start = from.begin;
  record.end = from.end;
  record.processId = static_cast<uint32_t>(getpid());
  record.threadId = from.thread;
  record.correlationId = from.correlation;
  record.returnValue = static_cast<uint32_t>(from.result);
  return put(record, to);
}

size_t external(const ExternalRecord& from, uint8_t* to) {
  auto record = blank<CUpti_ActivityExternalCorrelation>();
  record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.externalKind = from.kind;
  record.externalId = from.id;
  record.correlationId = from.correlation;
  return put(record, to);
}

size_t migration(State& now, const Migration& from, uint8_t* to) {
  auto record = blank<CUpti_ActivityUnifiedMemoryCounter3>();
  record.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER;
  record.counterKind = from.to_device ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD
                                      : CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH;
  record.value = from.bytes;
  record.start = translate(now, from.start);
  record.end = translate(now, from.end);
  record.address = 0x7f0000000000;
  record.srcId = record.dstId = from.device;  // never the CPU: observed with CUDA 13
  record.processId = static_cast<uint32_t>(getpid());
  return put(record, to);
}

}  // namespace

uint64_t translate(State& now, Ns moment) {
  const auto& anchors = now.anchors;
  if (anchors.empty()) return moment;
  auto after =
      std::upper_bound(anchors.begin(), anchors.end(), moment, [](Ns m, const auto& one) { return m < one.first; });
  if (after == anchors.begin())
    return anchors.front().second - std::min(anchors.front().second, anchors.front().first - moment);
  const auto before = after - 1;
  if (after == anchors.end()) return before->second + (moment - before->first);
  const auto wide = static_cast<unsigned __int128>(moment - before->first) * (after->second - before->second);
  return before->second + static_cast<uint64_t>(wide / (after->first - before->first));
}

size_t record_size(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME: return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return sizeof(CUpti_ActivityGraphTrace2);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER: return sizeof(CUpti_ActivityUnifiedMemoryCounter3);
    default: return 0;
  }
}

size_t write_record(State& now, const Finished& from, uint8_t* to) {
  if (const auto* one = std::get_if<ApiRecord>(&from)) return api(*one, to);
  if (const auto* one = std::get_if<ExternalRecord>(&from)) return external(*one, to);
  if (const auto* one = std::get_if<GraphRun>(&from)) return graph(now, *one, to);
  if (const auto* one = std::get_if<Migration>(&from)) return migration(now, *one, to);
  const auto& one = std::get<OperationRecord>(from);
  switch (one.kind) {
    case OperationKind::Kernel: return kernel(now, one, to);
    case OperationKind::Memset: return fill(now, one, to);
    default: return one.peer ? peer_copy(now, one, to) : copy(now, one, to);
  }
}

}  // namespace sim
