// What did the host do? Calls, allocations, construction of graphs, synchronisations: tables of Trace (trace.h).
#pragma once

#include "analyzer/base/strings.h"
#include "analyzer/model/row_ids.h"

#include <atomic>
#include <cstdint>

namespace prof::analyzer {

enum class HostKind : uint32_t { KernelLaunch = 0, MemoryLaunch = 1, GraphLaunch = 2, Call = 3, Allocation = 4 };

// Flags of a host event.
inline constexpr uint32_t kHostCaptured = 1;     // captured into a graph: no GPU operation of its own
inline constexpr uint32_t kHostNoGpuTimes = 2;   // GPU activity was not collected at that time
inline constexpr uint32_t kHostNested = 4;       // made inside another recorded call
inline constexpr uint32_t kHostHasGpu = 8;       // at least one GPU operation belongs to it
inline constexpr uint32_t kHostUnfinished = 16;  // the call had not returned at the end of the log

// One call of the host. 48 bytes.
struct HostEvent {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint64_t subject =
      0;  // KernelLaunch: KernelId; GraphLaunch: GraphId; MemoryLaunch: bytes; Allocation: allocated(); Call: handle
  ThreadId thread{};
  HostStreamId stream{};
  uint32_t live_depth = 0;   // launches: outstanding on the stream, as the recorder counted; Allocation: memory_key.h
  uint32_t stack = 0;        // StackId
  uint32_t correlation = 0;  // 0: unknown
  uint32_t word = 0;         // api (StringId of `apis`, 14 bits) | kind (3) | flags (5) | result (10)

  static constexpr uint32_t kApiBits = 14, kKindShift = 14, kFlagShift = 17, kResultShift = 22;
  static constexpr uint32_t kMostApis = 1u << kApiBits;  // rows of Trace::apis
  static constexpr uint32_t pack(uint32_t api, HostKind kind, uint32_t flags, uint32_t result) {
    return (api & (kMostApis - 1)) | static_cast<uint32_t>(kind) << kKindShift | (flags & 31) << kFlagShift |
           (result > 1023 ? 1023 : result) << kResultShift;
  }
  uint32_t api() const { return word & (kMostApis - 1); }
  HostKind kind() const { return static_cast<HostKind>(word >> kKindShift & 7); }
  uint32_t flags() const { return word >> kFlagShift & 31; }
  uint32_t result() const { return word >> kResultShift; }
  bool has(uint32_t flag) const { return (flags() & flag) != 0; }
  void remove_flag(uint32_t flag) { word &= ~(flag << kFlagShift); }
  // For threads that set flags of one row at once.
  void add_flag_atomically(uint32_t flag) {
    std::atomic_ref<uint32_t> shared(word);
    const uint32_t bit = flag << kFlagShift;
    if ((shared.load(std::memory_order_relaxed) & bit) == 0) shared.fetch_or(bit, std::memory_order_relaxed);
  }
  bool is_launch() const { return kind() <= HostKind::GraphLaunch; }
  // Allocation: pool (row of Trace::memory_pools, 16 bits; a pool with a higher row is stored as none) | bytes (48)
  static constexpr uint64_t kMostBytes = (uint64_t{1} << 48) - 1;
  static constexpr uint64_t allocated(uint64_t bytes, uint32_t pool) {
    return uint64_t{pool > UINT16_MAX ? 0 : pool} << 48 | (bytes > kMostBytes ? kMostBytes : bytes);
  }
  // MemoryLaunch, Allocation
  uint64_t bytes() const { return kind() == HostKind::Allocation ? subject & kMostBytes : subject; }
  uint32_t pool() const { return kind() == HostKind::Allocation ? static_cast<uint32_t>(subject >> 48) : 0; }
  int64_t duration_ns() const { return end_ns > begin_ns ? end_ns - begin_ns : 0; }  // reversed: 0
};
static_assert(sizeof(HostEvent) == 48);

// A stream as calls name it.
struct HostStream {
  ProcessId process{};
  uint64_t handle = 0;
  uint64_t context_handle = 0;
  uint32_t device = kNone;  // ordinal; kNone: unknown
  uint32_t type = 0;        // format::StreamType
  uint32_t flags = 0;
  int64_t priority = 0;
  uint32_t stream = kNone;     // row of Trace::streams: the GPU stream of the handle, if known
  bool whole_context = false;  // not a stream: represents the context of calls without a stream
  StringId name{};             // given by the program
};

// A pool of stream-ordered allocations. Only logs have them.
struct MemoryPool {
  ProcessId process{};
  uint64_t handle = 0;
  uint32_t origin = 0;    // format::PoolOrigin
  uint32_t location = 0;  // CUmemLocationType; 0: unknown
  uint32_t place = 0;     // ordinal of the device, NUMA node
  uint32_t number = 0;    // 1, 2 … among the pools of its process that are no device's default pool
};

// A node of a graph, as a call captured, added or changed it. Only logs have them.
struct GraphNode {
  uint64_t node = 0;      // graph_node_id(), as in GpuOperation
  int64_t time_ns = 0;    // end of the call
  uint32_t call = kNone;  // row of Trace::host; kNone: its record is lost
  uint32_t kernel = 0;    // KernelId that a kernel node launches
  ThreadId thread{};      // thread of the call
  uint32_t stack = 0;     // StackId of the call, whose own row may have none
  uint32_t type = 0;      // CUgraphNodeType
  bool changed = false;   // an existing node got new parameters
};
static_assert(sizeof(GraphNode) <= 48);

// A graph that was created, copied, instantiated or updated; graphs by their numbers. Only logs have them.
struct GraphMade {
  int64_t time_ns = 0;
  uint64_t node = 0;      // child graphs and bodies: the node that contains them
  uint32_t call = kNone;  // row of Trace::host
  ThreadId thread{};
  uint32_t origin = 0;  // format::GraphOrigin
  uint32_t graph = 0;
  uint32_t from = 0;        // 0: none, or unknown
  bool renumbered = false;  // its nodes do not have the indices of `from`
};
static_assert(sizeof(GraphMade) <= 48);

// Further arguments of a call, if there are any. Only logs have them.
struct CallDetails {
  int64_t time_ns = 0;  // end of the call
  uint64_t count = 0;   // entries of a batch; 0: no batch
  uint64_t bytes = 0;
  uint32_t call = kNone;  // row of Trace::host; kNone: its record is lost
  ThreadId thread{};
  uint32_t flags = 0;
  uint32_t target = 0;  // format::CallArguments::target: number << 3 | CUmemLocationType
  StringId file{};

  uint32_t location_type() const { return target & 7; }
  uint32_t location_number() const { return target >> 3; }  // device's ordinal, NUMA node
};
static_assert(sizeof(CallDetails) <= 48);

// An operation on a value in memory that a call put on a stream. Only logs have them.
struct StreamMemoryOp {
  int64_t time_ns = 0;  // end of the call
  uint64_t address = 0, value = 0;
  uint32_t call = kNone;  // row of Trace::host; kNone: its record is lost
  ThreadId thread{};
  uint32_t what = 0;   // CUstreamBatchMemOpType
  uint32_t flags = 0;  // CUstreamWaitValue_flags, CUstreamWriteValue_flags
  bool waits() const { return what == 1 || what == 4; }
  bool writes() const { return what == 2 || what == 5; }
  bool wide() const { return what >= 4; }  // 64 bits
};
static_assert(sizeof(StreamMemoryOp) <= 48);

// The start of a call of NCCL (PROF_COLLECTIVES). Only logs have them. 48 bytes.
struct CollectiveStart {
  int64_t time_ns = 0;
  uint64_t communicator = 0;  // equal on all ranks; 0: a call without a communicator
  uint64_t sequence = 0;      // number of the call on the communicator; 0: the call that makes it
  ThreadId thread{};
  StringId text{};     // "ncclAllReduce(count=1000, …)"
  uint32_t flags = 0;  // format::kCollective…
};
static_assert(sizeof(CollectiveStart) <= 48);

// An allocation (bytes > 0) or release (< 0) that a framework reported: torch.profiler's "[memory]". 48 bytes.
struct MemoryEvent {
  int64_t time_ns = 0;
  int64_t bytes = 0;
  uint64_t address = 0;
  uint64_t allocated = 0;  // total of the allocator after the event; 0: unknown
  uint64_t reserved = 0;
  ThreadId thread{};
  uint32_t device = kNone;  // ordinal; kNone: host memory
};
static_assert(sizeof(MemoryEvent) == 48);

// A synchronisation as CUPTI reported it (Kineto's cuda_sync, nsys's SYNCHRONIZATION). 48 bytes.
enum class SyncKind : uint8_t {
  Unknown = 0,
  Event = 1,
  StreamWaitEvent = 2,
  Stream = 3,
  Context = 4
};  // CUPTI's numbers
struct SyncEvent {
  int64_t begin_ns = 0, end_ns = 0;
  uint32_t correlation = 0;
  uint32_t call = kNone;            // row of Trace::host: the call with that correlation
  uint32_t stream = kNone;          // row of Trace::streams that waits or is waited for
  uint32_t waits_for = kNone;       // StreamWaitEvent, Event: the stream on which the event was recorded
  uint32_t record_correlation = 0;  // correlation of the call that recorded the event; 0: unknown
  uint32_t event_id = 0;
  uint32_t process = kNone;  // row of Trace::processes, for synchronisations without a stream
  SyncKind kind{};
};
static_assert(sizeof(SyncEvent) == 48);

}  // namespace prof::analyzer
