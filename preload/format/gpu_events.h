// What did the GPU do, and which call submitted it? These events (see events.h) hold what CUPTI reported of each
// operation, and what relates it to its call. The recorder writes them and the reader reads them.
#pragma once

#include "preload/format/ids.h"
#include "preload/format/numbers.h"

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
  uint64_t graph_node = 0;  // CUPTI's graph node id: execId << 32 | index; 0: not part of a graph
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

// (time, correlation id) of driver or runtime calls.
struct CallPair {
  uint64_t time = 0;
  uint32_t correlation = 0;
};
struct CallPairs {
  const CallPair* data = nullptr;
  uint32_t count = 0;
  uint32_t unit = 0;    // v.moments(): all times are multiples of 2^unit ns; v.spans(): of the time since the first one
  uint32_t length = 0;  // v.spans(): units that most calls take
};
inline constexpr uint32_t kMaxMomentUnit = 32;
inline constexpr uint64_t kMaxMoment = ~uint64_t{0} >> 1;  // moments are below 2^63 ns
inline constexpr uint32_t kMaxCallPairs = 128;             // at most 128 × 15 bytes: fits kMaxRecordBytes

// Driver calls of one thread as CUPTI saw them. Each has one moment (GPU clock, ns) between its start and its end. That
// call is inside [start, end] of one recorded launch. Any moment within the call is valid, so the recorder chooses one
// that takes few bytes.
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

// Runtime calls (cudaLaunchKernel …) of one thread, for runtime calls in which CUPTI reports no driver call. Each
// call has two pairs, with the same correlation id. Their times are a span that encloses the call, and at least one
// recorded launch in it. The span starts at most 2^unit ns before the call. It may end later than the call, but not
// after the next span of the list starts. The first start and the last end of a list are those of the calls. A span is
// no time of a call: it identifies the launch.
struct RuntimeCalls {
  static constexpr uint32_t kKind = 28;
  static constexpr std::string_view kName = "runtime_calls";
  uint32_t tid = 0;  // system thread id
  CallPairs calls;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("tid", s.tid);
    v.spans("calls", s.calls);
  }
};

// `what` of a graph node: its CUgraphNodeType, and whether the call gave new parameters to an existing node.
inline constexpr uint32_t kNodeTypes = 0xff;
inline constexpr uint32_t kNodeChanged = 0x100;

// A node of a graph, as made by the call that this thread left at `time`: a launch under capture, a cuGraphAdd… or a
// …SetParams. The record of that call follows. It has the function, the arguments and the start.
struct GraphNode {
  static constexpr uint32_t kKind = 18;
  static constexpr std::string_view kName = "graph_node";
  uint64_t time = 0;
  uint32_t what = 0;
  // CUPTI's number: graph << 32 | index. If the call changed one executable graph, it is the number of that graph.
  uint64_t node = 0;
  ConfigId config{};  // only of a kernel that was added or changed; the record of a captured launch has its own
  StackId stack{};    // of the call, whose own record may have none
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("what", s.what);
    v.optional_node("node", s.node);
    v.optional("config", s.config);
    v.optional("stack", s.stack);
  }
};

// How a graph was created, or where its contents come from.
enum class GraphOrigin : uint32_t {
  Empty = 0,         // created by a call or at the start of a capture
  Clone = 1,         // cuGraphClone of `source`
  Child = 2,         // graph inside the child graph node `node`, a copy of `source`
  Body = 3,          // body of the conditional node `node`, empty
  Instantiated = 4,  // an executable graph, instantiated from `source`
  Updated = 5        // an executable graph, updated with the parameters of `source`
};

// The origin of a graph. Graphs have CUPTI's numbers. A copy of a graph keeps the index of every node.
struct GraphMade {
  static constexpr uint32_t kKind = 19;
  static constexpr std::string_view kName = "graph_made";
  uint64_t time = 0;  // time at which the thread left the call, as in GraphNode
  GraphOrigin origin{};
  uint32_t graph = 0;
  uint32_t source = 0;  // 0: not known, or none
  uint64_t node = 0;
  uint32_t renumbered = 0;  // 1: the nodes of the copy have other indices
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("origin", s.origin);
    v.value("graph", s.graph);
    v.value("source", s.source);
    v.optional_node("node", s.node);
    v.optional("renumbered", s.renumbered);
  }
};

// The GPU's view of one launch of a whole graph (PROF_GRAPHS=whole). The nodes of that launch have no records.
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

// An event of managed memory: migrated pages or page faults (PROF_UNIFIED=on). The program did not submit it, so it has
// no launch and no stream.
struct UnifiedMemory {
  static constexpr uint32_t kKind = 27;
  static constexpr std::string_view kName = "unified_memory";
  uint64_t start = 0, duration = 0;  // GPU clock, ns; the duration is 0 if the event is a moment
  uint32_t what = 0;                 // CUpti_ActivityUnifiedMemoryCounterKind
  uint64_t value = 0;                // migrations: bytes; GPU faults: number of faults; CPU faults: 1
  uint64_t address = 0;              // CPU faults: of the page; otherwise: of the first page
  uint32_t source = 0;               // 1 + device; 0: the CPU, or not applicable
  uint32_t destination = 0;          // the same as for `source`
  uint32_t flags = 0;                // flags of CUPTI: kind of access, cause of the migration
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

// What values of hardware counters are measured for.
enum class CounterScope : uint32_t {
  Launch = 0,  // the launch of a kernel or graph that the thread left at `moment`
  Range = 1    // the NVTX range that the thread pushed at `moment`
};

// Values of hardware counters (PROF_COUNTERS). They may come after the record of their launch or range, and from
// another thread.
struct CounterValues {
  static constexpr uint32_t kKind = 31;
  static constexpr std::string_view kName = "counter_values";
  uint64_t moment = 0;  // ticks: `end` of the record of the launch, or `time` of the record of the push
  uint32_t tid = 0;     // system thread id of the thread that launched or pushed
  CounterSetId set{};
  std::string_view values;  // one little-endian double for each metric, in the order of the set
  CounterScope scope{};
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("moment", s.moment);
    v.value("tid", s.tid);
    v.value("set", s.set);
    v.text("values", s.values);
    v.optional("scope", s.scope);
  }
};

// Hardware samples of one GPU (PROF_SAMPLING). They include everything that the GPU did during that time, whichever
// process launched it.
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

// `flags` of PC samples. Ambiguous: a module was unloaded before its samples were read, so some of them may have the
// function of a module that was loaded into its place. BufferFull: the hardware's buffer was full, and samples of the
// batch are missing.
inline constexpr uint32_t kPcAmbiguous = 1, kPcBufferFull = 2;

// One reading of PC samples of one context (PROF_PC_SAMPLING). The PcSamples that follow on this thread with the same
// time and context are its samples by instruction. The period applies to all samples since the last batch of the
// context.
struct PcBatch {
  static constexpr uint32_t kKind = 75;
  static constexpr std::string_view kName = "pc_batch";
  uint64_t time = 0;  // ticks
  ContextId context{};
  uint32_t period = 0;    // a sample each 2^period cycles of a multiprocessor
  uint64_t total = 0;     // samples, with those that were dropped and those without an instruction
  uint64_t dropped = 0;   // samples that the hardware dropped
  uint64_t non_user = 0;  // samples of kernels that are not the program's; they have no instruction
  uint32_t flags = 0;     // kPc…
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("context", s.context);
    v.value("period", s.period);
    v.value("total", s.total);
    v.optional("dropped", s.dropped);
    v.optional("non_user", s.non_user);
    v.optional("flags", s.flags);
  }
};

// PC samples of one function in one batch. Entry i is places[i] and samples[i]. Several records of a batch may have the
// same function.
struct PcSamples {
  static constexpr uint32_t kKind = 76;
  static constexpr std::string_view kName = "pc_samples";
  static constexpr uint32_t kReasonBits = 6;
  uint64_t time = 0;  // ticks; that of the batch
  ContextId context{};
  CubinId cubin{};
  StringId function{};  // mangled
  uint32_t period = 0;  // that of the batch
  Numbers places;       // ascending: place()
  Numbers samples;
  uint32_t flags = 0;  // kPcAmbiguous
  static constexpr uint64_t place(uint64_t offset, uint32_t reason) { return offset << kReasonBits | reason; }
  static constexpr uint64_t offset_of(uint64_t place) { return place >> kReasonBits; }  // of the instruction, in bytes
  static constexpr uint32_t reason_of(uint64_t place) { return place & ((1u << kReasonBits) - 1); }  // StallReasonsDef
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.time("time", s.time);
    v.value("context", s.context);
    v.value("cubin", s.cubin);
    v.value("function", s.function);
    v.value("period", s.period);
    v.numbers("places", s.places);
    v.numbers("samples", s.samples);
    v.optional("flags", s.flags);
  }
};

}  // namespace prof::format
