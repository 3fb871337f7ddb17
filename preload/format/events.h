// What a thread saw, in the order it saw it: one struct per event with visit(). This is the only place that knows the
// fields of an event; codec.h, the kind table, dump and the docs are made from it.
//
// Fields before `optional` are always stored. Up to three optional fields cost nothing while they are 0.
// Host times are ticks of the log's clock. GPU times are CUPTI nanoseconds (gpu_definitions.h: GpuClock).
#pragma once

#include "preload/format/gpu_events.h"
#include "preload/format/ids.h"
#include "preload/format/nvtx_events.h"

#include <cstdint>
#include <string_view>

namespace prof::format {

// Common to all launches. `flags` of a launch:
inline constexpr uint32_t kLaunchCaptured = 1;    // recorded into a graph under capture: no GPU work of its own
inline constexpr uint32_t kLaunchNoGpuTimes = 2;  // GPU activity was not being collected all the time that it took
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
    v.time("end", s.end);
    v.value("duration", s.duration);
    v.value("config", s.config);
    v.value("stream", s.stream);
    v.depth("depth", s.depth);
    v.optional("stack", s.stack);
    v.optional("result", s.result);
    v.optional("flags", s.flags);
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
    v.time("end", s.end);
    v.value("duration", s.duration);
    v.value("api", s.api);
    v.optional("stream", s.stream);
    v.optional("object", s.object);
    v.optional("result", s.result);
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
    v.time("end", s.end);
    v.value("duration", s.duration);
    v.value("api", s.api);
    v.value("stack", s.stack);
    v.optional("stream", s.stream);
    v.optional("object", s.object);
    v.optional("result", s.result);
  }
};

// What else a call said that is worth reading, right before the record of the call that this thread left at `time`. Not written where all
// of it is 0. Which arguments these are depends on the function: record_arguments.h.
struct CallArguments {
  static constexpr uint32_t kKind = 63;
  static constexpr std::string_view kName = "call_arguments";
  uint64_t time = 0;
  uint32_t flags = 0;   // cuMemAdvise: the advice
  uint64_t count = 0;   // parts of a batch: copies, pieces of memory; 0: the call is no batch
  uint64_t bytes = 0;   // of memory that is no allocation of this call
  uint32_t target = 0;  // where that memory goes or belongs: number << 3 | CUmemLocationType; 0: nowhere in particular
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

// The three clocks read together, about once a second by the helper thread and once when the log is closed.
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

// The last thing a thread does that ends in order.
struct ThreadEnd {
  static constexpr uint32_t kKind = 17;
  static constexpr std::string_view kName = "thread_end";
  uint64_t time = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) { v.time("time", s.time); }
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
    v.time("time", s.time);
    v.value("what", s.what);
    v.value("address", s.address);
    v.value("value", s.value);
    v.optional("flags", s.flags);
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
    v.time("end", s.end);
    v.value("duration", s.duration);
    v.value("label", s.label);
    v.optional("status", s.status);
    v.optional_text("text", s.text);
  }
};

}  // namespace prof::format
