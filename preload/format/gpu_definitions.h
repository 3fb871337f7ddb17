// What do the ids of GPU records represent? These are definitions (see definitions.h) of what CUPTI reports: its clock,
// GPU streams, kernels and sets of hardware counters. The recorder writes them and the reader reads them.
#pragma once

#include "preload/format/ids.h"

#include <cstdint>
#include <string_view>

namespace prof::format {

struct GpuStreamDef {
  static constexpr uint32_t kKind = 44;
  static constexpr std::string_view kName = "gpu_stream";
  GpuStreamId id{};
  uint32_t device = 0, context = 0, stream = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("device", s.device);
    v.value("context", s.context);
    v.value("stream", s.stream);
  }
};

struct GpuKernelDef {
  static constexpr uint32_t kKind = 45;
  static constexpr std::string_view kName = "gpu_kernel";
  GpuKernelId id{};
  StringId name{};  // mangled
  uint32_t grid[3] = {};
  uint32_t block[3] = {};
  uint32_t registers = 0;  // per thread
  uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  uint32_t local_bytes = 0;  // per thread
  uint32_t launch_type = 0;  // CUpti_ActivityLaunchType
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("name", s.name);
    v.value("grid_x", s.grid[0]);
    v.value("grid_y", s.grid[1]);
    v.value("grid_z", s.grid[2]);
    v.value("block_x", s.block[0]);
    v.value("block_y", s.block[1]);
    v.value("block_z", s.block[2]);
    v.value("registers", s.registers);
    v.value("static_shared_bytes", s.static_shared_bytes);
    v.value("dynamic_shared_bytes", s.dynamic_shared_bytes);
    v.value("local_bytes", s.local_bytes);
    v.value("launch_type", s.launch_type);
  }
};

// CUPTI time of a tick: base_ns + ((tick − base_tick) × multiplier >> shift), 128-bit, arithmetic shift. The
// recorder's timestamp callback computes exactly this formula, so the reader can invert it without error.
struct GpuClock {
  static constexpr uint32_t kKind = 48;
  static constexpr std::string_view kName = "gpu_clock";
  uint64_t base_tick = 0, base_ns = 0, multiplier = 0, shift = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("base_tick", s.base_tick);
    v.value("base_ns", s.base_ns);
    v.value("multiplier", s.multiplier);
    v.value("shift", s.shift);
  }
};

// Hardware counters that are measured together on the GPU of one context.
struct CounterSetDef {
  static constexpr uint32_t kKind = 62;
  static constexpr std::string_view kName = "counter_set";
  CounterSetId id{};
  ContextId context{};
  StringId metrics{};     // CUPTI's names, one per line, in the order of the values
  uint32_t passes = 0;    // number of runs that measure all metrics
  uint32_t replayed = 0;  // 1: CUPTI runs each kernel `passes` times; 0: once, between two marks on the GPU
  std::string_view chip;  // as CUPTI names it: "GH100"
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("context", s.context);
    v.value("metrics", s.metrics);
    v.value("passes", s.passes);
    v.value("replayed", s.replayed);
    v.text("chip", s.chip);
  }
};

// Hardware counters that are sampled together on one GPU.
struct SampledSetDef {
  static constexpr uint32_t kKind = 65;
  static constexpr std::string_view kName = "sampled_set";
  SampledSetId id{};
  uint32_t device = 0;
  StringId metrics{};        // CUPTI's names, one per line, in the order of the values
  uint64_t interval_ns = 0;  // as requested; 0: in GPU clock cycles, so the time is not known in advance
  std::string_view chip;     // as CUPTI names it: "GH100"
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("device", s.device);
    v.value("metrics", s.metrics);
    v.value("interval_ns", s.interval_ns);
    v.text("chip", s.chip);
  }
};

// The machine code of modules with equal contents. PcSamples name it.
struct CubinDef {
  static constexpr uint32_t kKind = 73;
  static constexpr std::string_view kName = "cubin";
  CubinId id{};
  uint64_t crc = 0;  // as CUPTI has it: cuptiGetCubinCrc, or the callback of the program
  uint64_t bytes = 0;
  uint32_t kept = 0;  // 1: the file of the log's cubins has the contents when the recording ends in order
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("crc", s.crc);
    v.value("bytes", s.bytes);
    v.value("kept", s.kept);
  }
};

// The stall reasons of PC samples on the GPU of one context.
struct StallReasonsDef {
  static constexpr uint32_t kKind = 74;
  static constexpr std::string_view kName = "stall_reasons";
  ContextId context{};
  StringId names{};  // CUPTI's names, one per line; the first is reason 0. A number without a reason has an empty line
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("context", s.context);
    v.value("names", s.names);
  }
};

}  // namespace prof::format
