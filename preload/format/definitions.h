// Contents behind the ids of events.h, each written once, in blocks of kind Definitions (ThreadDef: in the thread's first
// event block). The same contents may be defined twice under two ids when two threads meet; readers join by contents.
#pragma once

#include "preload/format/ids.h"
#include "preload/format/numbers.h"

#include <cstdint>
#include <string_view>

namespace prof::format {

// A string, in parts of at most kMaxTextBytes; parts of one id follow each other in one thread's definition blocks.
struct StringPart {
  static constexpr uint32_t kKind = 32;
  static constexpr std::string_view kName = "string";
  StringId id{};
  uint64_t total_bytes = 0;
  uint64_t offset = 0;
  std::string_view text;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("total_bytes", s.total_bytes), v.value("offset", s.offset), v.text("text", s.text);
  }
};

struct ThreadDef {
  static constexpr uint32_t kKind = 33;
  static constexpr std::string_view kName = "thread";
  ThreadOrdinal thread{};
  uint32_t tid = 0;
  uint64_t first_tick = 0;
  std::string_view name;  // as the kernel knew it at the first record
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("thread", s.thread), v.value("tid", s.tid), v.value("first_tick", s.first_tick), v.text("name", s.name);
  }
};

// Facts about the run: "command_line", "executable", "host", "cupti_path", "cupti_version", "driver_version", "libprof" …
struct MetaDef {
  static constexpr uint32_t kKind = 34;
  static constexpr std::string_view kName = "meta";
  std::string_view key, value;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.text("key", s.key), v.text("value", s.value);
  }
};

struct ApiDef {
  static constexpr uint32_t kKind = 35;
  static constexpr std::string_view kName = "api";
  ApiId id{};
  std::string_view name;  // as exported: cuMemAlloc_v2, cudaMalloc
  uint32_t level = 0;     // 0: of the driver; 1: of the CUDA run time, whose calls stand around those of the driver
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.text("name", s.name), v.optional("level", s.level);
  }
};

struct ModuleDef {
  static constexpr uint32_t kKind = 36;
  static constexpr std::string_view kName = "module";
  ModuleId id{};
  uint64_t handle = 0;
  uint64_t generation = 0;  // unloads seen in the process when it was first met: (handle, generation) is unique
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("handle", s.handle), v.value("generation", s.generation);
  }
};

struct FunctionDef {
  static constexpr uint32_t kKind = 37;
  static constexpr std::string_view kName = "function";
  FunctionId id{};
  StringId name{};  // mangled; 0: the driver would not tell
  ModuleId module{};
  uint64_t handle = 0;
  uint64_t generation = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("name", s.name), v.value("module", s.module), v.value("handle", s.handle);
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
    v.value("id", s.id), v.value("api", s.api), v.value("function", s.function);
    v.value("grid_x", s.grid[0]), v.value("grid_y", s.grid[1]), v.value("grid_z", s.grid[2]);
    v.value("block_x", s.block[0]), v.value("block_y", s.block[1]), v.value("block_z", s.block[2]);
    v.value("shared_bytes", s.shared_bytes), v.value("attributes", s.attributes);
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
    v.value("ordinal", s.ordinal), v.text("name", s.name), v.text("uuid", s.uuid);
  }
};

// One number about a device under Kineto's name for it: totalGlobalMem, numSms, computeMajor …
struct DeviceProperty {
  static constexpr uint32_t kKind = 40;
  static constexpr std::string_view kName = "device_property";
  uint32_t ordinal = 0;
  std::string_view key;
  uint64_t value = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("ordinal", s.ordinal), v.text("key", s.key), v.value("value", s.value);
  }
};

struct ContextDef {
  static constexpr uint32_t kKind = 41;
  static constexpr std::string_view kName = "context";
  ContextId id{};
  uint64_t handle = 0;
  uint32_t device = 0;
  uint32_t gpu_context = 0;  // CUPTI's context id, the one in GpuStreamDef; 0: not known
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("handle", s.handle), v.value("device", s.device);
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
    v.value("id", s.id), v.value("context", s.context), v.value("handle", s.handle), v.value("type", s.type);
    v.value("gpu_stream", s.gpu_stream), v.value("flags", s.flags), v.signed_value("priority", s.priority);
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
  uint32_t place = 0;     // ordinal of the device, number of the NUMA node
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("handle", s.handle), v.value("origin", s.origin), v.value("location", s.location);
    v.value("place", s.place);
  }
};

// An executable graph: how many GPU operations one launch of it adds.
struct GraphDef {
  static constexpr uint32_t kKind = 43;
  static constexpr std::string_view kName = "graph";
  GraphId id{};
  uint64_t handle = 0;
  uint32_t gpu_graph = 0;  // CUPTI's graph exec id; 0: not known
  uint64_t kernels = 0, copies = 0, fills = 0, host_nodes = 0, other_nodes = 0;
  uint64_t flags = 0;  // CUgraphInstantiate_flags: 4, a kernel may launch it
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("handle", s.handle), v.value("gpu_graph", s.gpu_graph), v.value("kernels", s.kernels);
    v.value("copies", s.copies), v.value("fills", s.fills), v.value("host_nodes", s.host_nodes);
    v.value("other_nodes", s.other_nodes), v.value("flags", s.flags);
  }
};

struct GpuStreamDef {
  static constexpr uint32_t kKind = 44;
  static constexpr std::string_view kName = "gpu_stream";
  GpuStreamId id{};
  uint32_t device = 0, context = 0, stream = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("device", s.device), v.value("context", s.context), v.value("stream", s.stream);
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
    v.value("id", s.id), v.value("name", s.name);
    v.value("grid_x", s.grid[0]), v.value("grid_y", s.grid[1]), v.value("grid_z", s.grid[2]);
    v.value("block_x", s.block[0]), v.value("block_y", s.block[1]), v.value("block_z", s.block[2]);
    v.value("registers", s.registers), v.value("static_shared_bytes", s.static_shared_bytes);
    v.value("dynamic_shared_bytes", s.dynamic_shared_bytes), v.value("local_bytes", s.local_bytes);
    v.value("launch_type", s.launch_type);
  }
};

struct NvtxDomainDef {
  static constexpr uint32_t kKind = 46;
  static constexpr std::string_view kName = "nvtx_domain";
  DomainId id{};
  StringId name{};
  template <class S, class V> static constexpr void visit(S& s, V&& v) { v.value("id", s.id), v.value("name", s.name); }
};

struct NvtxLabelDef {
  static constexpr uint32_t kKind = 47;
  static constexpr std::string_view kName = "nvtx_label";
  LabelId id{};
  DomainId domain{};
  StringId text{};
  uint32_t category = 0;
  uint32_t has_color = 0;
  uint32_t color = 0;  // ARGB
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("domain", s.domain), v.value("text", s.text), v.value("category", s.category);
    v.value("has_color", s.has_color), v.value("color", s.color);
  }
};

// CUPTI time of a tick: base_ns + ((tick − base_tick) × multiplier >> shift), 128-bit, arithmetic shift. The preload's
// timestamp callback computes exactly this, so the reader can go back without error.
struct GpuClock {
  static constexpr uint32_t kKind = 48;
  static constexpr std::string_view kName = "gpu_clock";
  uint64_t base_tick = 0, base_ns = 0, multiplier = 0, shift = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("base_tick", s.base_tick), v.value("base_ns", s.base_ns), v.value("multiplier", s.multiplier);
    v.value("shift", s.shift);
  }
};

// A launch-like driver function that the program asked for and that no row of cuda_api.def covers.
struct UnhookedApi {
  static constexpr uint32_t kKind = 49;
  static constexpr std::string_view kName = "unhooked_api";
  std::string_view name;
  template <class S, class V> static constexpr void visit(S& s, V&& v) { v.text("name", s.name); }
};

// A call stack, innermost frame first. The two halves belong together: the frame of Python that a native frame runs is
// found offline, where the interpreter's evaluation loops are in `native` and the entry bits in `python` (stacks.h of the model).
inline constexpr uint32_t kMaxStackFrames = 128;    // of each half: both and the rest fit kMaxRecordBytes
inline constexpr uint32_t kStackNativeCut = 1;      // flags: there were more native frames, towards main()
inline constexpr uint32_t kStackPythonCut = 2;      // there were more Python frames
inline constexpr uint32_t kStackFramePointers = 4;  // found by frame pointers: functions without one are missing
inline constexpr uint32_t kStackBroken = 8;         // ended at code that says nothing about its caller
inline constexpr uint32_t kStackNoNative = 16;      // native frames were asked for and could not be taken
inline constexpr uint32_t kStackNoPython = 32;      // the same for Python
inline constexpr uint64_t kPythonEntry = 1;  // in `python`, beside the id << 1: the frame an evaluation loop began with

struct StackDef {
  static constexpr uint32_t kKind = 50;
  static constexpr std::string_view kName = "stack";
  StackId id{};
  uint64_t generation = 0;  // of the images (ImageDef) by which its addresses are to be read
  Numbers native;           // return addresses in the process; the first is that of the recorded call
  Numbers python;           // PythonFrameId << 1 | kPythonEntry
  uint32_t flags = 0;       // kStack…
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("generation", s.generation), v.numbers("native", s.native);
    v.numbers("python", s.python), v.optional("flags", s.flags);
  }
};

// A place in Python code: a code object and the line it was at.
struct PythonFrameDef {
  static constexpr uint32_t kKind = 51;
  static constexpr std::string_view kName = "python_frame";
  PythonFrameId id{};
  StringId file{};
  StringId function{};      // qualified where the interpreter has that (3.11 and newer)
  uint32_t line = 0;        // 0: not known
  uint32_t first_line = 0;  // of the function
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("file", s.file), v.value("function", s.function), v.value("line", s.line);
    v.value("first_line", s.first_line);
  }
};

// An ELF file mapped into the process: the program or a shared library. An address of a stack of generation g belongs to the
// image with begin <= address - 1 < end, generation <= g, and no ImageGone of a generation <= g. Memory without a file
// (made at run time, the vdso) has no image.
struct ImageDef {
  static constexpr uint32_t kKind = 52;
  static constexpr std::string_view kName = "image";
  ImageId id{};
  uint64_t generation = 0;  // dlcloses that took code away before it was first met
  uint64_t base = 0;        // address in the process minus address in the file ("load bias")
  uint64_t begin = 0;       // of its executable segments, first to last, in the process
  uint64_t end = 0;
  StringId path{};
  std::string_view build_id;  // hex digits; empty: it has none
  uint64_t file_bytes = 0;    // size and time of change of the file at `path` when it was met; 0: not there
  uint64_t file_time = 0;     // seconds since 1970
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("generation", s.generation), v.value("base", s.base), v.value("begin", s.begin);
    v.value("end", s.end), v.value("path", s.path), v.text("build_id", s.build_id);
    v.value("file_bytes", s.file_bytes), v.value("file_time", s.file_time);
  }
};

// From this generation on the image is not there any more.
struct ImageGone {
  static constexpr uint32_t kKind = 53;
  static constexpr std::string_view kName = "image_gone";
  ImageId id{};
  uint64_t generation = 0;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("generation", s.generation);
  }
};

// How the bytes of extended NVTX payloads are laid out, or (type kSchemaEnum) what the numbers of an enumeration mean.
inline constexpr uint32_t kSchemaStatic = 1, kSchemaDynamic = 2, kSchemaUnion = 3, kSchemaUnionInside = 4;  // NVTX's
inline constexpr uint32_t kSchemaEnum = 16;                                                                 // ours
struct NvtxSchemaDef {
  static constexpr uint32_t kKind = 56;
  static constexpr std::string_view kName = "nvtx_schema";
  SchemaId id{};
  DomainId domain{};
  uint64_t number = 0;  // as the program knows it
  uint32_t type = 0;
  uint32_t flags = 0;
  uint64_t bytes = 0;       // of a payload, or of a number of the enumeration; 0: it follows from the entries
  uint64_t pack_align = 0;  // 0: natural alignment
  uint32_t entries = 0;     // records of kind nvtx_schema_entry that follow
  std::string_view name;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("domain", s.domain), v.value("number", s.number), v.value("type", s.type);
    v.value("flags", s.flags), v.value("bytes", s.bytes), v.value("pack_align", s.pack_align);
    v.value("entries", s.entries), v.text("name", s.name);
  }
};

struct NvtxSchemaEntry {
  static constexpr uint32_t kKind = 57;
  static constexpr std::string_view kName = "nvtx_schema_entry";
  SchemaId schema{};
  uint32_t index = 0;
  uint64_t flags = 0;   // NVTX_PAYLOAD_ENTRY_FLAG_…; enumerations: 1 is a set of bits
  uint64_t type = 0;    // predefined type; 0: `nested`
  SchemaId nested{};    // 0: unknown
  uint64_t detail = 0;  // length of an array, index of the entry that has it, selector; enumerations: the number
  uint64_t offset = 0;  // 0: behind the entry before, aligned
  std::string_view name;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("schema", s.schema), v.value("index", s.index), v.value("flags", s.flags), v.value("type", s.type);
    v.value("detail", s.detail), v.value("offset", s.offset), v.text("name", s.name), v.optional("nested", s.nested);
  }
};

// A counter or group of counters of the program's.
struct NvtxCounterDef {
  static constexpr uint32_t kKind = 58;
  static constexpr std::string_view kName = "nvtx_counter";
  CounterId id{};
  DomainId domain{};
  SchemaId schema{};  // of a group's samples; 0: `type`, one number
  uint64_t type = 0;
  uint64_t flags = 0;  // NVTX_COUNTER_FLAG_…
  std::string_view name, unit;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("domain", s.domain), v.value("schema", s.schema), v.value("type", s.type);
    v.value("flags", s.flags), v.text("name", s.name), v.text("unit", s.unit);
  }
};

// The name of a category of NVTX events.
struct NvtxCategoryDef {
  static constexpr uint32_t kKind = 59;
  static constexpr std::string_view kName = "nvtx_category";
  DomainId domain{};
  uint32_t category = 0;
  std::string_view name;
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("domain", s.domain), v.value("category", s.category), v.text("name", s.name);
  }
};

// What an address of an image is called. Never written while recording: `prof symbolize --embed` adds these, so that a log can
// be read where the program's files are not. Records of one address follow each other, the innermost function first; the
// one that is not inlined is the last.
struct SymbolDef {
  static constexpr uint32_t kKind = 60;
  static constexpr std::string_view kName = "symbol";
  ImageId image{};       // or any other of the same file
  uint64_t address = 0;  // of the file: a stack's address − the image's base
  StringId function{};   // mangled, where it has such a name
  StringId file{};
  uint32_t line = 0;     // 0: not known
  uint32_t inlined = 0;  // 1: into the function of the next record
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("image", s.image), v.value("address", s.address), v.value("function", s.function);
    v.optional("file", s.file), v.optional("line", s.line), v.optional("inlined", s.inlined);
  }
};

// Hardware counters that are measured together on the GPU of one context.
struct CounterSetDef {
  static constexpr uint32_t kKind = 62;
  static constexpr std::string_view kName = "counter_set";
  CounterSetId id{};
  ContextId context{};
  StringId metrics{};     // CUPTI's names, one a line, in the order of the values
  uint32_t passes = 0;    // how often the work is run to measure all of them
  uint32_t replayed = 0;  // 1: CUPTI runs each kernel `passes` times; 0: once, between two marks on the GPU
  std::string_view chip;  // as CUPTI names it: "GH100"
  template <class S, class V> static constexpr void visit(S& s, V&& v) {
    v.value("id", s.id), v.value("context", s.context), v.value("metrics", s.metrics), v.value("passes", s.passes);
    v.value("replayed", s.replayed), v.text("chip", s.chip);
  }
};

}  // namespace prof::format
