// What a thread saw, in the order it saw it: one struct per event with visit(). This is the only place that knows the
// fields of an event; codec.h, the kind table, dump and the docs are made from it.
//
// Fields before `optional` are always stored. Up to three optional fields cost nothing while they are 0.
// Host times are ticks of the log's clock. GPU times are CUPTI nanoseconds (definitions.h: GpuClock).
#pragma once

#include "preload/format/ids.h"

#include <cstdint>
#include <string_view>

namespace prof::format {

// Common to all launches. `flags` of a launch:
inline constexpr uint32_t kLaunchCaptured = 1;    // recorded into a graph under capture: no GPU work of its own
inline constexpr uint32_t kLaunchNoGpuTimes = 2;  // GPU activity was not being collected when it was entered
inline constexpr uint32_t kLaunchNested = 4;      // made inside another recorded call

// One kernel launch as the host saw it. The GPU's view of the same launch is KernelRun.
struct KernelLaunch {
  static constexpr uint32_t kKind = 1;
  static constexpr std::string_view kName = "kernel_launch";
  uint64_t end = 0;       // ticks; the call's begin is end − duration
  uint64_t duration = 0;  // ticks
  ConfigId config{};
  StreamId stream{};
  uint64_t depth = 0;  // operations on this stream not known to have finished, this one not counted; an upper bound
  StackId stack{};
  uint32_t result = 0;  // CUresult
  uint32_t flags = 0;   // kLaunch…
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("end", s.end), v.value("duration", s.duration), v.value("config", s.config), v.value("stream", s.stream);
    v.depth("depth", s.depth);
    v.optional("stack", s.stack), v.optional("result", s.result), v.optional("flags", s.flags);
  }
};

// A copy or a fill as the host saw it; the api tells which.
struct MemoryLaunch {
  static constexpr uint32_t kKind = 2;
  static constexpr std::string_view kName = "memory_launch";
  uint64_t end = 0, duration = 0;
  ApiId api{};
  StreamId stream{};
  uint64_t depth = 0;
  uint64_t bytes = 0;
  StackId stack{};
  uint32_t result = 0;
  uint32_t flags = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("end", s.end), v.value("duration", s.duration), v.value("api", s.api), v.value("stream", s.stream);
    v.depth("depth", s.depth), v.value("bytes", s.bytes);
    v.optional("stack", s.stack), v.optional("result", s.result), v.optional("flags", s.flags);
  }
};

// One launch of an executable graph: many GPU operations, one launch.
struct GraphLaunch {
  static constexpr uint32_t kKind = 3;
  static constexpr std::string_view kName = "graph_launch";
  uint64_t end = 0, duration = 0;
  GraphId graph{};
  ApiId api{};
  StreamId stream{};
  uint64_t depth = 0;
  StackId stack{};
  uint32_t result = 0;
  uint32_t flags = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("end", s.end), v.value("duration", s.duration), v.value("graph", s.graph), v.value("api", s.api);
    v.value("stream", s.stream), v.depth("depth", s.depth);
    v.optional("stack", s.stack), v.optional("result", s.result), v.optional("flags", s.flags);
  }
};

// Any other call of the table: synchronise, query, create, destroy, record, wait, load, instantiate …
struct ApiCall {
  static constexpr uint32_t kKind = 4;
  static constexpr std::string_view kName = "api_call";
  uint64_t end = 0, duration = 0;
  ApiId api{};
  StreamId stream{};    // the stream it was about, where it was about one
  uint64_t object = 0;  // handle of the event, module, graph … it was about
  uint32_t result = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("end", s.end), v.value("duration", s.duration), v.value("api", s.api);
    v.optional("stream", s.stream), v.optional("object", s.object), v.optional("result", s.result);
  }
};

// An ApiCall together with the stack it was made from: waits, where their stacks are recorded. (ApiCall has no room for a
// fourth optional field.)
struct StackedCall {
  static constexpr uint32_t kKind = 21;
  static constexpr std::string_view kName = "stacked_call";
  uint64_t end = 0, duration = 0;
  ApiId api{};
  StackId stack{};
  StreamId stream{};
  uint64_t object = 0;
  uint32_t result = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("end", s.end), v.value("duration", s.duration), v.value("api", s.api), v.value("stack", s.stack);
    v.optional("stream", s.stream), v.optional("object", s.object), v.optional("result", s.result);
  }
};

// Memory allocated or freed (bytes 0: freed, or size not known to the call).
struct AllocCall {
  static constexpr uint32_t kKind = 5;
  static constexpr std::string_view kName = "alloc_call";
  uint64_t end = 0, duration = 0;
  ApiId api{};
  uint64_t address = 0;
  uint64_t bytes = 0;
  ContextId context{};  // current when it was allocated, for calls that name no stream
  PoolId pool{};        // it was allocated from; 0: none, a graph's, or not known
  StreamId stream{};
  StackId stack{};
  uint32_t result = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("end", s.end), v.value("duration", s.duration), v.value("api", s.api), v.value("address", s.address);
    v.value("bytes", s.bytes), v.value("context", s.context), v.value("pool", s.pool);
    v.optional("stream", s.stream), v.optional("stack", s.stack), v.optional("result", s.result);
  }
};

// NVTX. `payload` holds the 64 bits of the value; its type is NVTX's payloadType. `text` is used where interning failed.
struct NvtxPush {
  static constexpr uint32_t kKind = 6;
  static constexpr std::string_view kName = "nvtx_push";
  uint64_t time = 0;
  LabelId label{};
  uint32_t payload_type = 0;
  uint64_t payload = 0;
  std::string_view text;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time), v.value("label", s.label);
    v.optional("payload_type", s.payload_type), v.optional("payload", s.payload), v.optional_text("text", s.text);
  }
};

struct NvtxPop {
  static constexpr uint32_t kKind = 7;
  static constexpr std::string_view kName = "nvtx_pop";
  uint64_t time = 0;
  DomainId domain{};
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time), v.optional("domain", s.domain);
  }
};

// The GPU's view of one kernel.
struct KernelRun {
  static constexpr uint32_t kKind = 8;
  static constexpr std::string_view kName = "kernel_run";
  uint64_t start = 0;     // GPU clock, ns
  uint64_t duration = 0;  // ns
  uint32_t correlation = 0;
  GpuStreamId stream{};
  GpuKernelId kernel{};
  uint64_t graph_node = 0;  // CUPTI's graph node id: execId << 32 | index; 0: not from a graph
  uint32_t graph = 0;       // CUPTI's graph id
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.gpu_time("start", s.start), v.value("duration", s.duration);
    v.launch_of("correlation", s.correlation, "stream", s.stream), v.value("kernel", s.kernel);
    v.optional_node("graph_node", s.graph_node), v.optional("graph", s.graph);
  }
};

// The GPU's view of one copy. kind = copyKind | srcKind << 8 | dstKind << 16, CUPTI's numbers.
struct CopyRun {
  static constexpr uint32_t kKind = 9;
  static constexpr std::string_view kName = "copy_run";
  uint64_t start = 0, duration = 0;
  uint32_t correlation = 0;
  GpuStreamId stream{};
  uint64_t bytes = 0;
  uint32_t kind = 0;
  uint64_t graph_node = 0;
  uint32_t graph = 0;
  uint32_t peer = 0;  // peer copies: 1 + source device | (1 + destination device) << 16
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.gpu_time("start", s.start), v.value("duration", s.duration), v.correlation("correlation", s.correlation);
    v.value("stream", s.stream), v.value("bytes", s.bytes), v.value("kind", s.kind);
    v.optional_node("graph_node", s.graph_node), v.optional("graph", s.graph), v.optional("peer", s.peer);
  }
};

// The GPU's view of one memset.
struct FillRun {
  static constexpr uint32_t kKind = 10;
  static constexpr std::string_view kName = "fill_run";
  uint64_t start = 0, duration = 0;
  uint32_t correlation = 0;
  GpuStreamId stream{};
  uint64_t bytes = 0;
  uint32_t value = 0;
  uint32_t memory_kind = 0;
  uint64_t graph_node = 0;
  uint32_t graph = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.gpu_time("start", s.start), v.value("duration", s.duration);
    v.launch_of("correlation", s.correlation, "stream", s.stream), v.value("bytes", s.bytes), v.value("value", s.value);
    v.value("memory_kind", s.memory_kind);
    v.optional_node("graph_node", s.graph_node), v.optional("graph", s.graph);
  }
};

// (time, correlation id) of driver calls, delta-coded one after the other inside their record.
struct CallPair {
  uint64_t time = 0;
  uint32_t correlation = 0;
};
struct CallPairs {
  const CallPair* data = nullptr;
  uint32_t count = 0;
  uint32_t unit = 0;  // of `moments` only: all times are multiples of 2^unit
};
inline constexpr uint32_t kMaxMomentUnit = 32;
inline constexpr uint64_t kMaxMoment = ~uint64_t{0} >> 1;  // moments are below 2^63 ns
inline constexpr uint32_t kMaxCallPairs = 128;             // at most 128 × 15 bytes: fits kMaxRecordBytes

// Driver calls of one thread as CUPTI saw them, each by a moment (GPU clock ns) between its start and its end, which lies inside
// [begin, end] of one launch of ours. Any such moment will do, so one that takes few bytes is chosen.
struct DriverCalls {
  static constexpr uint32_t kKind = 11;
  static constexpr std::string_view kName = "driver_calls";
  uint32_t tid = 0;  // system thread id
  CallPairs calls;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("tid", s.tid), v.moments("calls", s.calls);
  }
};

// Where CUPTI cannot name single driver calls: the begin tick of our launch, pushed as external id, and CUPTI's id.
struct ExternalCalls {
  static constexpr uint32_t kKind = 12;
  static constexpr std::string_view kName = "external_calls";
  CallPairs calls;
  template <class S, class V> static constexpr void visit(S& s, V&& v) { v.pairs("calls", s.calls); }
};

// Runtime calls (cudaLaunchKernel …) of one thread, for when CUPTI names no driver call inside them: two pairs a call, its start and
// its end, with the same correlation id. Each encloses one launch of ours or more.
struct RuntimeCalls {
  static constexpr uint32_t kKind = 28;
  static constexpr std::string_view kName = "runtime_calls";
  uint32_t tid = 0;  // system thread id
  CallPairs calls;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("tid", s.tid), v.gpu_pairs("calls", s.calls);
  }
};

struct NvtxStart {
  static constexpr uint32_t kKind = 13;
  static constexpr std::string_view kName = "nvtx_start";
  uint64_t time = 0;
  uint64_t range = 0;  // id the program got; the end may come from another thread
  LabelId label{};
  uint32_t payload_type = 0;
  uint64_t payload = 0;
  std::string_view text;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time), v.value("range", s.range), v.value("label", s.label);
    v.optional("payload_type", s.payload_type), v.optional("payload", s.payload), v.optional_text("text", s.text);
  }
};

struct NvtxEnd {
  static constexpr uint32_t kKind = 14;
  static constexpr std::string_view kName = "nvtx_end";
  uint64_t time = 0;
  uint64_t range = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time), v.value("range", s.range);
  }
};

struct NvtxMark {
  static constexpr uint32_t kKind = 15;
  static constexpr std::string_view kName = "nvtx_mark";
  uint64_t time = 0;
  LabelId label{};
  uint32_t payload_type = 0;
  uint64_t payload = 0;
  std::string_view text;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time), v.value("label", s.label);
    v.optional("payload_type", s.payload_type), v.optional("payload", s.payload), v.optional_text("text", s.text);
  }
};

// The three clocks read together, about once a second by the helper thread and once when the log is closed.
struct ClockAnchor {
  static constexpr uint32_t kKind = 16;
  static constexpr std::string_view kName = "clock_anchor";
  uint64_t tick = 0;
  uint64_t monotonic_ns = 0;
  uint64_t realtime_ns = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("tick", s.tick), v.value("monotonic_ns", s.monotonic_ns), v.value("realtime_ns", s.realtime_ns);
  }
};

// The last thing a thread does that ends in order.
struct ThreadEnd {
  static constexpr uint32_t kKind = 17;
  static constexpr std::string_view kName = "thread_end";
  uint64_t time = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) { v.time("time", s.time); }
};

// `what` of a graph node: CUgraphNodeType, and whether the call gave new parameters to a node that was there.
inline constexpr uint32_t kNodeTypes = 0xff;
inline constexpr uint32_t kNodeChanged = 0x100;

// A node of a graph, as the call made it that this thread left at `time`: a launch under capture, a cuGraphAdd… or a
// …SetParams. That call's own record follows; it has the function, the arguments and the begin.
struct GraphNode {
  static constexpr uint32_t kKind = 18;
  static constexpr std::string_view kName = "graph_node";
  uint64_t time = 0;
  uint32_t what = 0;
  uint64_t node =
      0;  // as CUPTI numbers it: graph << 32 | index; where one executable graph was changed: that one's number
  ConfigId config{};  // kernels that were added or changed; a captured launch has its own
  StackId stack{};    // of the call: its own record may have none
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time), v.value("what", s.what);
    v.optional_node("node", s.node), v.optional("config", s.config), v.optional("stack", s.stack);
  }
};

// What a stream was told to do with a word of memory, by the call that this thread left at `time`: cuStreamWaitValue…,
// cuStreamWriteValue…, and each wait and write of a cuStreamBatchMemOp in their order. That call's own record follows. None is
// written for a call that only became a node of a graph.
struct StreamMemory {
  static constexpr uint32_t kKind = 29;
  static constexpr std::string_view kName = "stream_memory";
  uint64_t time = 0;
  uint32_t what = 0;  // CUstreamBatchMemOpType: waits (1: 32 bits, 4: 64), writes (2: 32 bits, 5: 64)
  uint64_t address = 0;
  uint64_t value = 0;
  uint32_t flags = 0;  // CUstreamWaitValue_flags, CUstreamWriteValue_flags
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time), v.value("what", s.what), v.value("address", s.address), v.value("value", s.value);
    v.optional("flags", s.flags);
  }
};

// How a graph began, or got what is in it.
enum class GraphOrigin : uint32_t {
  Empty = 0,         // created, or a capture began that makes it
  Clone = 1,         // cuGraphClone of `source`
  Child = 2,         // inside the child graph node `node`, a copy of `source`
  Body = 3,          // of the conditional node `node`, empty
  Instantiated = 4,  // an executable graph made of `source`
  Updated = 5        // an executable graph took over the parameters of `source`
};

// Graphs by CUPTI's numbers. A copy keeps the index of every node.
struct GraphMade {
  static constexpr uint32_t kKind = 19;
  static constexpr std::string_view kName = "graph_made";
  uint64_t time = 0;  // when the call that did it was left, as in GraphNode
  GraphOrigin origin{};
  uint32_t graph = 0;
  uint32_t source = 0;  // 0: not known, or nothing
  uint64_t node = 0;
  uint32_t renumbered = 0;  // 1: the copy was seen to number its nodes otherwise
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time), v.value("origin", s.origin), v.value("graph", s.graph), v.value("source", s.source);
    v.optional_node("node", s.node), v.optional("renumbered", s.renumbered);
  }
};

// The GPU's view of one launch of a graph as a whole (PROF_GRAPHS=whole): no records of its nodes then.
struct GraphRun {
  static constexpr uint32_t kKind = 20;
  static constexpr std::string_view kName = "graph_run";
  uint64_t start = 0, duration = 0;
  uint32_t correlation = 0;
  GpuStreamId stream{};
  uint32_t graph = 0;  // CUPTI's number of the executable graph
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.gpu_time("start", s.start), v.value("duration", s.duration);
    v.launch_of("correlation", s.correlation, "stream", s.stream), v.value("graph", s.graph);
  }
};

// Something that happened to managed memory: pages moved, faults (PROF_UNIFIED=on). Not work of the program's: no launch, no stream.
struct UnifiedMemory {
  static constexpr uint32_t kKind = 27;
  static constexpr std::string_view kName = "unified_memory";
  uint64_t start = 0, duration = 0;  // GPU clock, ns; 0 long where it is a moment
  uint32_t what = 0;                 // CUpti_ActivityUnifiedMemoryCounterKind
  uint64_t value = 0;                // moved: bytes; GPU faults: how many; CPU faults: 1
  uint64_t address = 0;              // CPU faults: of the page; else where the pages begin
  uint32_t source = 0;               // 1 + device; 0: the CPU, or not meant
  uint32_t destination = 0;          // likewise
  uint32_t flags = 0;                // what CUPTI says: kind of access, cause of the migration
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.gpu_time("start", s.start), v.value("duration", s.duration), v.value("what", s.what), v.value("value", s.value);
    v.value("address", s.address);
    v.optional("source", s.source), v.optional("destination", s.destination), v.optional("flags", s.flags);
  }
};

// Bytes that the program attached to an NVTX event (its "extended payload"), right before that event of the same thread and with
// its time; one record a payload. `texts`: what the bytes point to and was copied then: (varint offset of the pointer, varint
// length, text) each.
struct NvtxPayload {
  static constexpr uint32_t kKind = 22;
  static constexpr std::string_view kName = "nvtx_payload";
  uint64_t time = 0;
  SchemaId schema{};     // 0: `type` says how to read them
  uint64_t type = 0;     // NVTX's number: a predefined type, or a schema that nobody registered
  uint64_t bytes = 0;    // of the payload, where the log has not all of them
  uint64_t address = 0;  // where it lay, where pointers of another payload of the event may lead
  std::string_view data;
  std::string_view texts;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time), v.value("schema", s.schema), v.text("data", s.data);
    v.optional("type", s.type), v.optional_text("texts", s.texts), v.optional("address", s.address);
    v.value("bytes", s.bytes);
  }
};
inline constexpr uint32_t kNvtxPayloadExtended = 9;  // payload_type of an event that such records stand before

// What a program said about a synchronisation object of its own.
enum class SyncAction : uint32_t {
  Create = 0,
  Destroy = 1,
  AcquireStart = 2,
  AcquireFailed = 3,
  AcquireSuccess = 4,
  Releasing = 5
};
struct NvtxSync {
  static constexpr uint32_t kKind = 23;
  static constexpr std::string_view kName = "nvtx_sync";
  uint64_t time = 0;
  SyncAction action{};
  uint64_t object = 0;  // a number of ours: handles may come again
  LabelId label{};
  std::string_view text;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time), v.value("action", s.action), v.value("object", s.object), v.value("label", s.label);
    v.optional_text("text", s.text);
  }
};

// The name that the program gave to something, from now on. Names of categories are definitions.
enum class NamedKind : uint32_t {
  Thread = 1,   // object: system thread id
  Device = 2,   // ordinal
  Context = 3,  // ContextId
  Stream = 4,   // StreamId
  Event = 5,    // handle
  Other = 6     // handle or pointer; `type` is NVTX's identifierType
};
struct ResourceName {
  static constexpr uint32_t kKind = 24;
  static constexpr std::string_view kName = "resource_name";
  uint64_t time = 0;
  NamedKind what{};
  uint64_t object = 0;
  DomainId domain{};
  uint32_t type = 0;
  uint32_t gone = 0;  // 1: the name was taken back
  std::string_view name;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time), v.value("what", s.what), v.value("object", s.object), v.text("name", s.name);
    v.optional("domain", s.domain), v.optional("type", s.type), v.optional("gone", s.gone);
  }
};

// Which clock a time stamp of the program's own is of.
enum class StampClock : uint32_t {
  None = 0,       // no stamp: `time` is when it happened
  Tick = 1,       // this log's ticks
  Realtime = 2,   // ns of CLOCK_REALTIME
  Monotonic = 3,  // ns of CLOCK_MONOTONIC
  Unknown = 4     // a clock that nobody can convert: `time`, when it was submitted, is the best there is
};

// A sample of a counter of the program's.
enum class SampleForm : uint32_t { Int64 = 0, Double = 1, Bytes = 2, Zero = 3, Unchanged = 4, Unavailable = 5 };
struct NvtxSample {
  static constexpr uint32_t kKind = 25;
  static constexpr std::string_view kName = "nvtx_sample";
  uint64_t time = 0;
  CounterId counter{};
  SampleForm form{};
  uint64_t value = 0;     // the 64 bits of the number
  std::string_view data;  // Bytes: laid out as the counter's schema says
  StampClock clock{};
  uint64_t stamp = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time), v.value("counter", s.counter), v.value("form", s.form), v.value("value", s.value);
    v.optional_text("data", s.data), v.optional("clock", s.clock), v.optional("stamp", s.stamp);
  }
};

// A range or mark that the program submitted after the fact, with its own time stamps; its payload stands before it.
struct NvtxDeferred {
  static constexpr uint32_t kKind = 26;
  static constexpr std::string_view kName = "nvtx_deferred";
  uint64_t time = 0;   // when it was submitted
  uint32_t style = 0;  // 0 push/pop range, 1 start/end range, 2 mark
  LabelId label{};
  StampClock clock{};
  uint64_t begin = 0, end = 0;
  std::string_view text;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time), v.value("style", s.style), v.value("label", s.label), v.value("clock", s.clock);
    v.value("begin", s.begin), v.value("end", s.end), v.optional_text("text", s.text);
  }
};

// A call of a library on top of CUDA (PROF_LIBS=1), written when it returns. The label is of the domain "library"; its text is the
// call with what it was asked for: "cublasSgemm_v2(transa=N, …)".
struct LibraryCall {
  static constexpr uint32_t kKind = 30;
  static constexpr std::string_view kName = "library_call";
  uint64_t end = 0, duration = 0;  // ticks
  LabelId label{};
  uint32_t status = 0;    // as the library returned it; 0: success
  std::string_view text;  // where interning failed
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("end", s.end), v.value("duration", s.duration), v.value("label", s.label);
    v.optional("status", s.status), v.optional_text("text", s.text);
  }
};

}  // namespace prof::format
