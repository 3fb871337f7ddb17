// Events about the GPU (see events.h): what CUPTI reported of each operation, and what ties it to the call that it came from.
#pragma once

#include "preload/format/ids.h"

#include <cstdint>
#include <string_view>

namespace prof::format {

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
    v.gpu_time("start", s.start);
    v.value("duration", s.duration);
    v.launch_of("correlation", s.correlation, "stream", s.stream);
    v.value("kernel", s.kernel);
    v.optional_node("graph_node", s.graph_node);
    v.optional("graph", s.graph);
  }
};

// The GPU's view of one copy.
struct CopyRun {
  static constexpr uint32_t kKind = 9;
  static constexpr std::string_view kName = "copy_run";
  uint64_t start = 0, duration = 0;
  uint32_t correlation = 0;
  GpuStreamId stream{};
  uint64_t bytes = 0;
  uint32_t kind = 0;  // kinds()
  uint64_t graph_node = 0;
  uint32_t graph = 0;
  uint32_t peer = 0;  // peer copies: peers()

  // CUPTI's numbers: copyKind | srcKind << 8 | dstKind << 16.
  static constexpr uint32_t kinds(uint32_t copy, uint32_t source_memory, uint32_t destination_memory) {
    return copy | source_memory << 8 | destination_memory << 16;
  }
  // 1 + source device | (1 + destination device) << 16.
  static constexpr uint32_t peers(uint32_t source_device, uint32_t destination_device) {
    return (1 + source_device) | (1 + destination_device) << 16;
  }
  constexpr uint32_t peer_source() const { return peer & 0xffff; }  // 1 + device; 0: not a peer copy
  constexpr uint32_t peer_destination() const { return peer >> 16; }
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.gpu_time("start", s.start);
    v.value("duration", s.duration);
    v.correlation("correlation", s.correlation);
    v.value("stream", s.stream);
    v.value("bytes", s.bytes);
    v.value("kind", s.kind);
    v.optional_node("graph_node", s.graph_node);
    v.optional("graph", s.graph);
    v.optional("peer", s.peer);
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
    v.gpu_time("start", s.start);
    v.value("duration", s.duration);
    v.launch_of("correlation", s.correlation, "stream", s.stream);
    v.value("bytes", s.bytes);
    v.value("value", s.value);
    v.value("memory_kind", s.memory_kind);
    v.optional_node("graph_node", s.graph_node);
    v.optional("graph", s.graph);
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
    v.value("tid", s.tid);
    v.moments("calls", s.calls);
  }
};

// Runtime calls (cudaLaunchKernel …) of one thread, for when CUPTI names no driver call inside them: two pairs a call, its start and
// its end, with the same correlation id. Each encloses one launch of ours or more.
struct RuntimeCalls {
  static constexpr uint32_t kKind = 28;
  static constexpr std::string_view kName = "runtime_calls";
  uint32_t tid = 0;  // system thread id
  CallPairs calls;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("tid", s.tid);
    v.gpu_pairs("calls", s.calls);
  }
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
    v.time("time", s.time);
    v.value("what", s.what);
    v.optional_node("node", s.node);
    v.optional("config", s.config);
    v.optional("stack", s.stack);
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
    v.time("time", s.time);
    v.value("origin", s.origin);
    v.value("graph", s.graph);
    v.value("source", s.source);
    v.optional_node("node", s.node);
    v.optional("renumbered", s.renumbered);
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
    v.gpu_time("start", s.start);
    v.value("duration", s.duration);
    v.launch_of("correlation", s.correlation, "stream", s.stream);
    v.value("graph", s.graph);
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
    v.gpu_time("start", s.start);
    v.value("duration", s.duration);
    v.value("what", s.what);
    v.value("value", s.value);
    v.value("address", s.address);
    v.optional("source", s.source);
    v.optional("destination", s.destination);
    v.optional("flags", s.flags);
  }
};

// What values of hardware counters are about.
enum class CounterScope : uint32_t {
  Launch = 0,  // one launch of a kernel or of a graph: the thread's launch that was left at `moment`
  Range = 1    // an NVTX range: the thread's push that was made at `moment`
};

// Values of hardware counters (PROF_COUNTERS). They may be read later than what they are about, and by another thread.
struct CounterValues {
  static constexpr uint32_t kKind = 31;
  static constexpr std::string_view kName = "counter_values";
  uint64_t moment = 0;  // ticks: the `end` of the launch's record, the `time` of the range's
  uint32_t tid = 0;     // system thread id of the thread that launched or pushed
  CounterSetId set{};
  std::string_view values;  // of the set's metrics in their order: a double each, little-endian
  CounterScope scope{};
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("moment", s.moment);
    v.value("tid", s.tid);
    v.value("set", s.set);
    v.text("values", s.values);
    v.optional("scope", s.scope);
  }
};

// Samples of a GPU's hardware counters (PROF_SAMPLING): values of everything that it did meanwhile, whoever launched it.
struct HardwareSamples {
  static constexpr uint32_t kKind = 64;
  static constexpr std::string_view kName = "counter_samples";
  uint64_t start = 0;  // of the first sample: GPU clock, ns
  SampledSetId set{};
  std::string_view samples;  // sample_codec.h
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.gpu_time("start", s.start);
    v.value("set", s.set);
    v.text("samples", s.samples);
  }
};

}  // namespace prof::format
