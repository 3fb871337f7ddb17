// What did a thread do, in which order? Each event is a struct with visit(). Only this file, gpu_events.h and
// nvtx_events.h know the fields of an event. codec.h, the kind table, `prof dump` and the docs are derived from them.
// The recorder writes these records and the reader reads them. A field must never change its meaning.
// Fields before `optional` are always stored. An optional field takes no byte while it is 0; an event has at most
// three. Host times are ticks of the log's clock. GPU times are CUPTI nanoseconds (gpu_definitions.h: GpuClock).
#pragma once

#include "preload/format/gpu_events.h"
#include "preload/format/ids.h"
#include "preload/format/nvtx_events.h"

#include <cstdint>
#include <string_view>

namespace prof::format {

// `flags` of a launch, common to all kinds of launches:
inline constexpr uint32_t kLaunchCaptured = 1;    // captured into a graph: it submits no GPU operation
inline constexpr uint32_t kLaunchNoGpuTimes = 2;  // GPU activity was not collected during the whole call
inline constexpr uint32_t kLaunchNested = 4;      // made inside another recorded call

// One kernel launch as the host saw it. KernelRun is the record of the same launch on the GPU.
struct KernelLaunch {
  static constexpr uint32_t kKind = 1;
  static constexpr std::string_view kName = "kernel_launch";
  uint64_t end = 0;       // ticks; the call starts at end − duration
  uint64_t duration = 0;  // ticks
  ConfigId config{};
  StreamId stream{};
  // Upper bound of the outstanding operations on this stream, without this one.
  uint64_t depth = 0;
  StackId stack{};
  uint32_t result = 0;  // CUresult
  uint32_t flags = 0;   // kLaunch…
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.quick_time("end", s.end);
    v.quick_value("duration", s.duration);
    v.value("config", s.config);
    v.value("stream", s.stream);
    v.depth("depth", s.depth);
    v.optional("stack", s.stack);
    v.optional("result", s.result);
    v.optional("flags", s.flags);
  }
};

// A copy or a memset as the host saw it. Which of the two it is depends on `api`.
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
    v.time("end", s.end);
    v.value("duration", s.duration);
    v.value("api", s.api);
    v.value("stream", s.stream);
    v.depth("depth", s.depth);
    v.value("bytes", s.bytes);
    v.optional("stack", s.stack);
    v.optional("result", s.result);
    v.optional("flags", s.flags);
  }
};

// One launch of an executable graph: one host call that submits many GPU operations.
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
    v.time("end", s.end);
    v.value("duration", s.duration);
    v.value("graph", s.graph);
    v.value("api", s.api);
    v.value("stream", s.stream);
    v.depth("depth", s.depth);
    v.optional("stack", s.stack);
    v.optional("result", s.result);
    v.optional("flags", s.flags);
  }
};

// Any other call of a hooked function: synchronise, query, create, destroy, record, wait, load, instantiate …
struct ApiCall {
  static constexpr uint32_t kKind = 4;
  static constexpr std::string_view kName = "api_call";
  uint64_t end = 0, duration = 0;
  ApiId api{};
  StreamId stream{};    // the stream that the call is about, if there is one
  uint64_t object = 0;  // handle of the event, module, graph … that the call is about
  uint32_t result = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("end", s.end);
    v.value("duration", s.duration);
    v.value("api", s.api);
    v.optional("stream", s.stream);
    v.optional("object", s.object);
    v.optional("result", s.result);
  }
};

// An ApiCall with the stack of its caller: waits, if their stacks are recorded. (ApiCall has no room for a fourth
// optional field.)
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
    v.time("end", s.end);
    v.value("duration", s.duration);
    v.value("api", s.api);
    v.value("stack", s.stack);
    v.optional("stream", s.stream);
    v.optional("object", s.object);
    v.optional("result", s.result);
  }
};

// More arguments of a call, directly before the record of the call that this thread left at `time`. If all of them are
// 0, the record is not written. Which arguments these are depends on the function: record_arguments.h.
struct CallArguments {
  static constexpr uint32_t kKind = 63;
  static constexpr std::string_view kName = "call_arguments";
  uint64_t time = 0;
  uint32_t flags = 0;  // cuMemAdvise: the advice
  uint64_t count = 0;  // elements of a batch: copies, pieces of memory; 0: the call is no batch
  uint64_t bytes = 0;  // size of the memory that the call is about, unless the call allocates it
  // Where that memory goes or belongs: number << 3 | CUmemLocationType; 0: no particular place.
  uint32_t target = 0;
  std::string_view file;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("flags", s.flags);
    v.value("count", s.count);
    v.optional("bytes", s.bytes);
    v.optional("target", s.target);
    v.optional_text("file", s.file);
  }
};

// An allocation or a free. If `bytes` is 0, memory was freed, or the call does not know the size.
struct AllocCall {
  static constexpr uint32_t kKind = 5;
  static constexpr std::string_view kName = "alloc_call";
  uint64_t end = 0, duration = 0;
  ApiId api{};
  uint64_t address = 0;
  uint64_t bytes = 0;
  ContextId context{};  // context that was current at the allocation, for calls without a stream
  PoolId pool{};        // pool of the allocation; 0: none, the pool of a graph, or not known
  StreamId stream{};
  StackId stack{};
  uint32_t result = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("end", s.end);
    v.value("duration", s.duration);
    v.value("api", s.api);
    v.value("address", s.address);
    v.value("bytes", s.bytes);
    v.value("context", s.context);
    v.value("pool", s.pool);
    v.optional("stream", s.stream);
    v.optional("stack", s.stack);
    v.optional("result", s.result);
  }
};

// The three clocks, read together by the helper thread about once a second, and once when the log is closed.
struct ClockAnchor {
  static constexpr uint32_t kKind = 16;
  static constexpr std::string_view kName = "clock_anchor";
  uint64_t tick = 0;
  uint64_t monotonic_ns = 0;
  uint64_t realtime_ns = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("tick", s.tick);
    v.value("monotonic_ns", s.monotonic_ns);
    v.value("realtime_ns", s.realtime_ns);
  }
};

// The end of a thread. It is the last record of a thread that exits normally.
struct ThreadEnd {
  static constexpr uint32_t kKind = 17;
  static constexpr std::string_view kName = "thread_end";
  uint64_t time = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) { v.time("time", s.time); }
};

// An operation on a word of memory, submitted to a stream by the call that this thread left at `time`:
// cuStreamWaitValue…, cuStreamWriteValue…, and each wait and write of a cuStreamBatchMemOp in order. The record of
// that call follows. If the call was captured into a graph, no record is written.
struct StreamMemory {
  static constexpr uint32_t kKind = 29;
  static constexpr std::string_view kName = "stream_memory";
  uint64_t time = 0;
  uint32_t what = 0;  // CUstreamBatchMemOpType: waits (1: 32 bits, 4: 64), writes (2: 32 bits, 5: 64)
  uint64_t address = 0;
  uint64_t value = 0;
  uint32_t flags = 0;  // CUstreamWaitValue_flags, CUstreamWriteValue_flags
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("what", s.what);
    v.value("address", s.address);
    v.value("value", s.value);
    v.optional("flags", s.flags);
  }
};

// A call of a library on top of CUDA (PROF_LIBS=1), written when it returns. The label is in the domain "library". Its
// text is the call with its arguments: "cublasSgemm_v2(transa=N, …)".
struct LibraryCall {
  static constexpr uint32_t kKind = 30;
  static constexpr std::string_view kName = "library_call";
  uint64_t end = 0, duration = 0;  // ticks
  LabelId label{};
  uint32_t status = 0;    // status that the library returned; 0: success
  std::string_view text;  // the same text, if interning failed
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("end", s.end);
    v.value("duration", s.duration);
    v.value("label", s.label);
    v.optional("status", s.status);
    v.optional_text("text", s.text);
  }
};

// `flags` of a Collective:
inline constexpr uint32_t kCollectiveLocal = 1;  // the number of the communicator is of this process only
inline constexpr uint32_t kCollectivePair = 2;   // a send or receive: `sequence` counts these apart

// The start of a call of NCCL (PROF_COLLECTIVES=1). If the call returns, its library_call has the same start.
// `sequence` counts the calls on the communicator, from the start of the process on, whatever is recorded: 1, 2 …
// 0: the call that makes the communicator. Calls without a communicator (ncclGroupEnd) have communicator 0.
struct Collective {
  static constexpr uint32_t kKind = 77;
  static constexpr std::string_view kName = "collective";
  uint64_t time = 0;          // ticks
  uint64_t communicator = 0;  // equal on all of its ranks
  uint64_t sequence = 0;
  LabelId label{};        // as of a library_call
  uint32_t flags = 0;     // kCollective…
  std::string_view text;  // the same text, if interning failed
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("communicator", s.communicator);
    v.value("sequence", s.sequence);
    v.value("label", s.label);
    v.optional("flags", s.flags);
    v.optional_text("text", s.text);
  }
};

}  // namespace prof::format
