// What does an id of events.h represent? Each definition is written once, in blocks of kind Definitions (ThreadDef: in
// the thread's first event block). If two threads define the same contents at the same time, they may have two ids;
// readers join them by contents. This file has the run, its threads, and what driver calls name. gpu_definitions.h,
// nvtx_definitions.h and stack_definitions.h have the others. The recorder writes them and the reader reads them.
#pragma once

#include "preload/format/ids.h"

#include <cstdint>
#include <string_view>

namespace prof::format {

// A string, in parts of at most kMaxTextBytes. The parts of one id are in order in the definition blocks of one thread.
struct StringPart {
  static constexpr uint32_t kKind = 32;
  static constexpr std::string_view kName = "string";
  StringId id{};
  uint64_t total_bytes = 0;
  uint64_t offset = 0;
  std::string_view text;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("total_bytes", s.total_bytes);
    v.value("offset", s.offset);
    v.text("text", s.text);
  }
};

struct ThreadDef {
  static constexpr uint32_t kKind = 33;
  static constexpr std::string_view kName = "thread";
  ThreadOrdinal thread{};
  uint32_t tid = 0;
  uint64_t first_tick = 0;
  std::string_view name;  // the kernel's name of the thread at its first record
  // Calls before that which passed through while another thread started the recorder, and the time since the first.
  uint64_t calls_lost = 0, lost_ns = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("thread", s.thread);
    v.value("tid", s.tid);
    v.value("first_tick", s.first_tick);
    v.text("name", s.name);
    v.optional("calls_lost", s.calls_lost);
    v.optional("lost_ns", s.lost_ns);
  }
};

// Facts about the run: "command_line", "executable", "host", "cupti_path", "cupti_version", "driver_version", "libprof"
// … "cuda_runtime_version" is the version of a shared libcudart. "cuda_toolkit_at_least" is the newest version for
// which cuGetProcAddress was called; it is written again when it grows.
struct MetaDef {
  static constexpr uint32_t kKind = 34;
  static constexpr std::string_view kName = "meta";
  std::string_view key, value;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.text("key", s.key);
    v.text("value", s.value);
  }
};

struct ApiDef {
  static constexpr uint32_t kKind = 35;
  static constexpr std::string_view kName = "api";
  ApiId id{};
  std::string_view name;  // as exported: cuMemAlloc_v2, cudaMalloc
  uint32_t level = 0;     // 0: driver; 1: CUDA runtime, whose calls contain driver calls
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.text("name", s.name);
    v.optional("level", s.level);
  }
};

struct ModuleDef {
  static constexpr uint32_t kKind = 36;
  static constexpr std::string_view kName = "module";
  ModuleId id{};
  uint64_t handle = 0;
  uint64_t generation = 0;  // unloads in the process before its first use; (handle, generation) is unique
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("handle", s.handle);
    v.value("generation", s.generation);
  }
};

struct FunctionDef {
  static constexpr uint32_t kKind = 37;
  static constexpr std::string_view kName = "function";
  FunctionId id{};
  StringId name{};  // mangled; 0: the driver did not report it
  ModuleId module{};
  uint64_t handle = 0;
  uint64_t generation = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("name", s.name);
    v.value("module", s.module);
    v.value("handle", s.handle);
    v.value("generation", s.generation);
  }
};

struct ConfigDef {
  static constexpr uint32_t kKind = 38;
  static constexpr std::string_view kName = "config";
  ConfigId id{};
  ApiId api{};
  FunctionId function{};
  uint32_t grid[3] = {};
  uint32_t block[3] = {};
  uint32_t shared_bytes = 0;  // dynamic
  uint32_t attributes = 0;    // bit 0 cooperative, bit 1 programmatic dependent launch
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("api", s.api);
    v.value("function", s.function);
    v.value("grid_x", s.grid[0]);
    v.value("grid_y", s.grid[1]);
    v.value("grid_z", s.grid[2]);
    v.value("block_x", s.block[0]);
    v.value("block_y", s.block[1]);
    v.value("block_z", s.block[2]);
    v.value("shared_bytes", s.shared_bytes);
    v.value("attributes", s.attributes);
  }
};
inline constexpr uint32_t kConfigCooperative = 1;
inline constexpr uint32_t kConfigProgrammatic = 2;

struct DeviceDef {
  static constexpr uint32_t kKind = 39;
  static constexpr std::string_view kName = "device";
  uint32_t ordinal = 0;
  std::string_view name;
  std::string_view uuid;  // 32 hex digits
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("ordinal", s.ordinal);
    v.text("name", s.name);
    v.text("uuid", s.uuid);
  }
};

// One property of a device. The key is Kineto's name: totalGlobalMem, numSms, computeMajor …
struct DeviceProperty {
  static constexpr uint32_t kKind = 40;
  static constexpr std::string_view kName = "device_property";
  uint32_t ordinal = 0;
  std::string_view key;
  uint64_t value = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("ordinal", s.ordinal);
    v.text("key", s.key);
    v.value("value", s.value);
  }
};

struct ContextDef {
  static constexpr uint32_t kKind = 41;
  static constexpr std::string_view kName = "context";
  ContextId id{};
  uint64_t handle = 0;
  uint32_t device = 0;
  uint32_t gpu_context = 0;  // CUPTI's context id, the same as in GpuStreamDef; 0: not known
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("handle", s.handle);
    v.value("device", s.device);
    v.value("gpu_context", s.gpu_context);
  }
};

enum class StreamType : uint32_t { Legacy = 0, PerThread = 1, Created = 2 };

struct StreamDef {
  static constexpr uint32_t kKind = 42;
  static constexpr std::string_view kName = "stream";
  StreamId id{};
  ContextId context{};
  uint64_t handle = 0;
  StreamType type{};
  uint32_t gpu_stream = 0;  // CUPTI's stream id in that context plus 1; 0: not known
  uint32_t flags = 0;       // CUstream_flags
  int64_t priority = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("context", s.context);
    v.value("handle", s.handle);
    v.value("type", s.type);
    v.value("gpu_stream", s.gpu_stream);
    v.value("flags", s.flags);
    v.signed_value("priority", s.priority);
  }
};

// A memory pool. A device's default pool may be defined twice.
enum class PoolOrigin : uint32_t { Unknown = 0, Default = 1, Created = 2, Imported = 3 };

struct MemoryPoolDef {
  static constexpr uint32_t kKind = 61;
  static constexpr std::string_view kName = "memory_pool";
  PoolId id{};
  uint64_t handle = 0;
  PoolOrigin origin{};
  uint32_t location = 0;  // CUmemLocationType of its memory; 0: not known
  uint32_t place = 0;     // ordinal of the device, or number of the NUMA node
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("handle", s.handle);
    v.value("origin", s.origin);
    v.value("location", s.location);
    v.value("place", s.place);
  }
};

// An executable graph, with the number of GPU operations that one launch of it adds.
struct GraphDef {
  static constexpr uint32_t kKind = 43;
  static constexpr std::string_view kName = "graph";
  GraphId id{};
  uint64_t handle = 0;
  uint32_t gpu_graph = 0;  // CUPTI's graph exec id; 0: not known
  uint64_t kernels = 0, copies = 0, fills = 0, host_nodes = 0, other_nodes = 0;
  uint64_t flags = 0;  // CUgraphInstantiate_flags; 4: a kernel may launch it
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id);
    v.value("handle", s.handle);
    v.value("gpu_graph", s.gpu_graph);
    v.value("kernels", s.kernels);
    v.value("copies", s.copies);
    v.value("fills", s.fills);
    v.value("host_nodes", s.host_nodes);
    v.value("other_nodes", s.other_nodes);
    v.value("flags", s.flags);
  }
};

// A launch-like driver function that the program requested and that no row of cuda_api.def covers.
struct UnhookedApi {
  static constexpr uint32_t kKind = 49;
  static constexpr std::string_view kName = "unhooked_api";
  std::string_view name;
  template <class S, class V> static constexpr void visit(S& s, V&& v) { v.text("name", s.name); }
};

}  // namespace prof::format
