// What did the GPU do, and what are its properties? Operations, kernels, graphs, streams, devices: tables of Trace
// (trace.h).
#pragma once

#include "analyzer/base/strings.h"
#include "analyzer/model/row_ids.h"
#include "preload/format/gpu_events.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace prof::analyzer {

// Graph: one launch of a CUDA graph, timed as a whole. Its operations are not in the input then.
enum class GpuKind : uint32_t { Kernel = 0, Copy = 1, Fill = 2, Graph = 3 };

// One kernel, copy, memset or whole graph on a GPU. 48 bytes.
struct GpuOperation {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint64_t bytes : 48 = 0;       // copies and memsets; kernels: row of Trace::details with the kernel's numbers
  uint64_t peer_source : 8 = 0;  // peer copies: 1 + device
  uint64_t peer_destination : 8 = 0;
  uint64_t graph_node = 0;  // graph_node_id(); 0: launched outside graphs
  uint32_t launch = kNone;  // row of Trace::host
  uint32_t correlation = 0;
  uint32_t detail = 0;  // kernel, graph: KernelId; copy: copy_detail(); memset: kind of memory (CUPTI's number)
  uint32_t stream_index : 29 = 0;
  uint32_t kind_bits : 3 = 0;

  static constexpr uint64_t kMostBytes = (uint64_t{1} << 48) - 1;
  static constexpr uint32_t kMostStreams = 1u << 29;

  StreamId stream() const { return StreamId{stream_index}; }
  GpuKind kind() const { return static_cast<GpuKind>(kind_bits); }
  void set_stream(uint32_t row) { stream_index = row & (kMostStreams - 1); }
  void set_kind(GpuKind kind) { kind_bits = static_cast<uint32_t>(kind) & 7; }
  void set_bytes(uint64_t count) { bytes = count & kMostBytes; }
  // 1 + ordinal of the device; 0: not a peer copy.
  void set_peers(uint32_t source, uint32_t destination) {
    peer_source = source & 0xff;
    peer_destination = destination & 0xff;
  }

  // Kernels and whole graphs.
  KernelId kernel() const { return KernelId{detail}; }
  // Copies: `detail` is kind of copy | kind of the source's memory << 8 | kind of the destination's << 16, CUPTI's
  // numbers, as in a log's format::CopyRun.
  static constexpr uint32_t copy_detail(uint32_t copy_kind, uint32_t source_memory, uint32_t destination_memory) {
    return format::CopyRun::kinds(copy_kind, source_memory, destination_memory);
  }
  static constexpr uint32_t copy_kind_of(uint32_t detail) { return detail & 0xff; }
  uint32_t copy_kind() const { return copy_kind_of(detail); }
  uint32_t source_memory() const { return detail >> 8 & 0xff; }
  uint32_t destination_memory() const { return detail >> 16 & 0xff; }
  bool touches_memory(uint32_t memory_kind) const {
    return source_memory() == memory_kind || destination_memory() == memory_kind;
  }
  // A migration of managed memory, without a call of the program. Other tools give it the number of a stream, but it is
  // in no stream's order. nsys has own kinds of copies for migrations (11 to 13).
  bool is_migration() const {
    constexpr uint32_t kManaged = 5;  // CUPTI's memory kind
    return kind() == GpuKind::Copy && !linked() &&
           (touches_memory(kManaged) || (copy_kind() >= 11 && copy_kind() <= 13));
  }
  // Memsets.
  uint32_t memory_kind() const { return detail; }
  // Whether `detail` is a KernelId. A whole graph counts as a kernel: its operations cannot be distinguished.
  bool has_kernel() const { return kind() == GpuKind::Kernel || kind() == GpuKind::Graph; }
  bool linked() const { return launch != kNone; }
  int64_t duration_ns() const { return end_ns > start_ns ? end_ns - start_ns : 0; }  // reversed: 0 (see Coverage)
  int64_t last_ns() const { return end_ns > start_ns ? end_ns : start_ns; }
};
static_assert(sizeof(GpuOperation) == 48);

// What a launch runs: from the GPU's record (registers known) or from the launch call (function name and shape).
struct Kernel {
  StringId name{};       // mangled, as recorded; empty: unknown
  StringId demangled{};  // as nsys demangled it; empty: not an export of nsys
  uint32_t grid[3] = {};
  uint32_t block[3] = {};
  uint32_t registers = 0;
  uint32_t static_shared_bytes = 0;
  uint32_t dynamic_shared_bytes = 0;
  uint32_t local_bytes = 0;
  uint32_t launch_type = 0;
  bool from_gpu = false;
};

// An executable graph.
struct Graph {
  ProcessId process{};
  uint64_t handle = 0;
  uint32_t number = 0;  // as in GPU records
  uint64_t kernels = 0, copies = 0, fills = 0, host_nodes = 0, other_nodes = 0;
  bool device_launch = false;  // a kernel may launch it
};

// A stream as the GPU ran it.
struct Stream {
  DeviceId device{};
  uint32_t context = 0;
  uint32_t number = 0;
  uint32_t green_context = kNone;  // kNone: none, or unknown
  int64_t priority = 0;
  bool priority_known = false;
  Rows operations;
  StringId name{};       // given by the program
  bool in_order = true;  // its operations run one after another; false: the input does not name the stream
};

// A GPU as one process saw it.
struct Device {
  ProcessId process{};
  uint32_t ordinal = 0;
  std::string name;
  std::string uuid;
  std::vector<std::pair<std::string, uint64_t>> properties;  // Kineto's names
  uint32_t physical = 0;  // equal for the same GPU seen by several processes of one host
  StringId given_name{};  // given by the program
};

// An event of managed memory. Only logs recorded with PROF_UNIFIED=on have them. Values are CUPTI's.
enum class UnifiedWhat : uint32_t {
  ToDevice = 1,
  ToHost = 2,
  CpuFault = 3,
  GpuFaults = 4,
  Thrashing = 5,
  Throttling = 6,
  RemoteMap = 7,
  BetweenDevices = 8
};

constexpr bool moves_memory(UnifiedWhat what) {
  return what == UnifiedWhat::ToDevice || what == UnifiedWhat::ToHost || what == UnifiedWhat::BetweenDevices;
}

struct UnifiedMemoryEvent {
  int64_t start_ns = 0, end_ns = 0;
  uint64_t value = 0;  // migrations: bytes; faults: number of faults
  uint64_t address = 0;
  ProcessId process{};
  UnifiedWhat what{};
  uint32_t source = 0, destination = 0;  // 1 + ordinal; 0: the CPU
  uint32_t flags = 0;                    // CUPTI's: cause of the migration, kind of access
  bool moves() const { return moves_memory(what); }
};

// A range that the tool that wrote the trace projected on a stream (Kineto's gpu_user_annotation). It never counts as
// GPU time.
struct GpuAnnotation {
  int64_t start_ns = 0, end_ns = 0;
  StreamId stream{};
  LabelId label{};
};

}  // namespace prof::analyzer
