// The model every table and picture is made from: who (processes, threads, devices, streams), what the host did (calls,
// launches, NVTX ranges) and what the GPU did. Filled by builder.cpp from our logs and by other importers; nothing after
// them knows a file format.
//
// All times are signed nanoseconds since `start_realtime_ns`, the first record of all inputs, on one clock. Rows are plain
// structs of at most 48 bytes in Columns; ids are indices into the table of their kind and never shared between
// processes. Host events and nested ranges are grouped by thread and sorted by begin (an enclosing one first), start/end
// ranges follow those of their process; GPU operations are grouped by stream and sorted by start.
//
// A *range* is any named stretch of a host thread's time that is no CUDA call: an NVTX range of ours or of nsys and nvprof, an
// operator or annotation of torch.profiler, a Python function. Logs have only NVTX ranges; everything asked about operators
// is asked about all of them.
#pragma once

#include "analyzer/model/column.h"
#include "analyzer/model/counters.h"
#include "analyzer/model/coverage.h"
#include "analyzer/model/stacks.h"
#include "analyzer/model/strings.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prof::analyzer {

enum class ProcessId : uint32_t {};
enum class ThreadId : uint32_t {};
enum class DeviceId : uint32_t {};      // one device as one process sees it
enum class StreamId : uint32_t {};      // one (process, device, context, stream)
enum class HostStreamId : uint32_t {};  // one stream handle as the host used it; 0 is "none"
enum class KernelId : uint32_t {};      // name and launch shape of kernels; 0 is "not known"
enum class GraphId : uint32_t {};       // executable graph; 0 is "not known"
enum class LabelId : uint32_t {};       // domain, text, colour and category of a range or mark
enum class PathId : uint32_t {};        // a chain of open ranges; 0 is "in no range"

template <class Id> constexpr uint32_t index(Id id) { return static_cast<uint32_t>(id); }
inline constexpr uint32_t kNone = UINT32_MAX;

// Rows [first, last) of a table.
struct Rows {
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t size() const { return last - first; }
};

enum class HostKind : uint32_t { KernelLaunch = 0, MemoryLaunch = 1, GraphLaunch = 2, Call = 3, Allocation = 4 };

// Flags of a host event.
inline constexpr uint32_t kHostCaptured = 1;     // recorded into a graph: no GPU work of its own
inline constexpr uint32_t kHostNoGpuTimes = 2;   // GPU activity was not collected then
inline constexpr uint32_t kHostNested = 4;       // made inside another recorded call
inline constexpr uint32_t kHostHasGpu = 8;       // at least one GPU operation belongs to it
inline constexpr uint32_t kHostUnfinished = 16;  // the thread was still inside it at the end of the log

// One call the host made. 48 bytes.
struct HostEvent {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint64_t subject =
      0;  // KernelLaunch: KernelId; GraphLaunch: GraphId; MemoryLaunch: bytes; Allocation: allocated(); Call: handle
  ThreadId thread{};
  HostStreamId stream{};
  uint32_t live_depth = 0;   // launches: outstanding on the stream as the program knew it; Allocation: see memory_key.h
  uint32_t stack = 0;        // StackId
  uint32_t correlation = 0;  // 0: not known
  uint32_t word = 0;         // api (StringId of `apis`, 14 bits) | kind (3) | flags (5) | result (10)

  static constexpr uint32_t kApiBits = 14, kKindShift = 14, kFlagShift = 17, kResultShift = 22;
  static constexpr uint32_t pack(uint32_t api, HostKind kind, uint32_t flags, uint32_t result) {
    return (api & ((1u << kApiBits) - 1)) | static_cast<uint32_t>(kind) << kKindShift | (flags & 31) << kFlagShift |
           (result > 1023 ? 1023 : result) << kResultShift;
  }
  uint32_t api() const { return word & ((1u << kApiBits) - 1); }
  HostKind kind() const { return static_cast<HostKind>(word >> kKindShift & 7); }
  uint32_t flags() const { return word >> kFlagShift & 31; }
  uint32_t result() const { return word >> kResultShift; }
  bool has(uint32_t flag) const { return (flags() & flag) != 0; }
  bool is_launch() const { return kind() <= HostKind::GraphLaunch; }
  // Allocation: pool (row of Trace::memory_pools, 16 bits; more are not told apart from none) | bytes (48)
  static constexpr uint64_t kMostBytes = (uint64_t{1} << 48) - 1;
  static constexpr uint64_t allocated(uint64_t bytes, uint32_t pool) {
    return uint64_t{pool > UINT16_MAX ? 0 : pool} << 48 | (bytes > kMostBytes ? kMostBytes : bytes);
  }
  // MemoryLaunch, Allocation
  uint64_t bytes() const { return kind() == HostKind::Allocation ? subject & kMostBytes : subject; }
  uint32_t pool() const { return kind() == HostKind::Allocation ? static_cast<uint32_t>(subject >> 48) : 0; }
  int64_t duration_ns() const { return end_ns > begin_ns ? end_ns - begin_ns : 0; }  // reversed times are no time
};
static_assert(sizeof(HostEvent) == 48);

// Graph: one launch of a CUDA graph, timed as a whole; its operations are not in the input then.
enum class GpuKind : uint32_t { Kernel = 0, Copy = 1, Fill = 2, Graph = 3 };

// One kernel, copy, memset or whole graph on a GPU. 48 bytes.
struct GpuOperation {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint64_t bytes : 48 = 0;       // copies and memsets
  uint64_t peer_source : 8 = 0;  // peer copies: 1 + device
  uint64_t peer_destination : 8 = 0;
  uint64_t graph_node = 0;  // graph id << 32 | node; 0: launched outside graphs
  uint32_t launch = kNone;  // row of Trace::host
  uint32_t correlation = 0;
  uint32_t detail = 0;  // kernel, graph: KernelId; copy: kind | source kind << 8 | destination kind << 16 (CUPTI's
                        // numbers); memset: memory kind
  uint32_t stream_index : 29 = 0;
  uint32_t kind_bits : 3 = 0;

  StreamId stream() const { return StreamId{stream_index}; }
  GpuKind kind() const { return static_cast<GpuKind>(kind_bits); }
  // `detail` is a KernelId. A whole graph counts where kernels count: what it is made of cannot be told apart.
  bool has_kernel() const { return kind() == GpuKind::Kernel || kind() == GpuKind::Graph; }
  bool linked() const { return launch != kNone; }
  int64_t duration_ns() const { return end_ns > start_ns ? end_ns - start_ns : 0; }  // reversed: counted in Coverage
};
static_assert(sizeof(GpuOperation) == 48);

// What a log itself calls a native frame. Of one frame's rows the innermost function is first.
struct KnownSymbol {
  FrameId frame{};
  StringId function{};  // mangled, where it has such a name
  StringId file{};
  uint32_t line = 0;
  bool inlined = false;  // into the function of the next row
};

// A pool that stream-ordered allocations came from. Only logs have them.
struct MemoryPool {
  ProcessId process{};
  uint64_t handle = 0;
  uint32_t origin = 0;    // format::PoolOrigin
  uint32_t location = 0;  // CUmemLocationType; 0: not known
  uint32_t place = 0;     // device's ordinal, NUMA node
  uint32_t number = 0;    // 1, 2 … of those of its process that are no device's default pool
};

// A node of a graph, as a call captured, added or changed it. Only logs have them.
struct GraphNode {
  uint64_t node = 0;      // graph << 32 | index, as in GpuOperation; upper half 0: not known
  int64_t time_ns = 0;    // end of the call
  uint32_t call = kNone;  // row of Trace::host; kNone: its record is lost
  uint32_t kernel = 0;    // KernelId: what a kernel node launches
  ThreadId thread{};      // that made the call
  uint32_t stack = 0;     // StackId of the call, whose own row may have none
  uint32_t type = 0;      // CUgraphNodeType
  bool changed = false;   // it was there already and got new parameters
};
static_assert(sizeof(GraphNode) <= 48);

// A graph that was created, copied, instantiated or updated; graphs by their numbers. Only logs have them.
struct GraphMade {
  int64_t time_ns = 0;
  uint64_t node = 0;      // child graphs and bodies: the node they are in
  uint32_t call = kNone;  // row of Trace::host
  ThreadId thread{};
  uint32_t origin = 0;  // format::GraphOrigin
  uint32_t graph = 0;
  uint32_t from = 0;        // 0: none, or not known
  bool renumbered = false;  // indices of its nodes are not those of `from`
};
static_assert(sizeof(GraphMade) <= 48);

// What a call told a stream to do with a word of memory. Only logs have them.
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

// Something that happened to managed memory; only logs recorded with PROF_UNIFIED=on have them. Values are CUPTI's.
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
  uint64_t value = 0;  // moved: bytes; faults: how many
  uint64_t address = 0;
  ProcessId process{};
  UnifiedWhat what{};
  uint32_t source = 0, destination = 0;  // 1 + ordinal; 0: the CPU
  uint32_t flags = 0;                    // CUPTI's: cause of the migration, kind of access
  bool moves() const { return moves_memory(what); }
};

enum class RangeStyle : uint8_t { PushPop = 0, StartEnd = 1, Mark = 2 };

// Who made a range. Annotation: torch.profiler's record_function and ProfilerStep; Overhead: the profiler's own work.
enum class RangeKind : uint8_t { Nvtx = 0, Operator = 1, Annotation = 2, Python = 3, Overhead = 4 };

// One range or mark. 48 bytes. Push/pop style means nested in time on its thread, whoever made it.
struct Range {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  // marks: begin
  uint64_t payload =
      0;  // NVTX: the payload, or its row of Trace::payloads; other kinds: row of Trace::details, 0 if there is none
  ThreadId thread{};  // where it was opened
  LabelId label{};
  PathId path{};  // push/pop: all open ranges of the thread but Python's, this one last
  uint32_t parent =
      kNone;  // push/pop: row of Trace::ranges; NVTX: the enclosing range of the same domain, else of the thread
  uint16_t level = 0;        // push/pop: how many such ranges enclose it
  uint16_t children = 0;     // push/pop: directly inside it, at most 65535
  uint8_t payload_type = 0;  // NVTX's nvtxPayloadType_t; kExtendedPayload: `payload` is a row
  RangeStyle style{};
  bool unfinished : 1 = false;    // never closed: ends with the last record of its process
  bool crosses : 1 = false;       // push/pop: closed while a range opened after it (of another domain) was still open
  bool other_thread : 1 = false;  // start/end: Trace::ended_by says which thread closed it
  bool ended_again : 1 = false;   // start/end: closed once more after its end
  bool deferred : 1 = false;      // submitted after the fact, with time stamps of the program's own
  RangeKind kind{};
};
static_assert(sizeof(Range) == 48);

// What a trace of torch.profiler knows of an operator beyond its name and time. 48 bytes. Texts are JSON as in the trace.
struct OperatorDetail {
  uint64_t external_id = 0;
  int64_t sequence = -1;        // autograd's sequence number: equal for a forward operator and its backward; -1: none
  uint64_t flops = 0;           // as the trace has it; 0: not in the trace
  uint32_t forward_thread = 0;  // of a backward operator: PyTorch's own number of the forward thread; 0: none
  StringId dims{}, types{}, concrete{};  // "Input Dims", "Input type", "Concrete Inputs"
  StringId stack{};                      // "Call stack"
  StringId other{};                      // Triton's arguments (kernel_file, num_warps …), as members of a JSON object
};
static_assert(sizeof(OperatorDetail) == 48);

// An allocation (bytes > 0) or release (< 0) that a framework reported: torch.profiler's "[memory]". 48 bytes.
struct MemoryEvent {
  int64_t time_ns = 0;
  int64_t bytes = 0;
  uint64_t address = 0;
  uint64_t allocated = 0;  // of the allocator, afterwards; 0: not known
  uint64_t reserved = 0;
  ThreadId thread{};
  uint32_t device = kNone;  // ordinal; kNone: host memory
};
static_assert(sizeof(MemoryEvent) == 48);

// What a synchronisation waited for, as CUPTI reported it (Kineto's cuda_sync, nsys's SYNCHRONIZATION). 48 bytes.
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
  uint32_t record_correlation = 0;  // the call that recorded the event; 0: not known
  uint32_t event_id = 0;
  uint32_t process = kNone;  // row of Trace::processes, for synchronisations without a stream
  SyncKind kind{};
};
static_assert(sizeof(SyncEvent) == 48);

// A range projected on a stream by the tool that wrote the trace (Kineto's gpu_user_annotation): never counted as GPU work.
struct GpuAnnotation {
  int64_t start_ns = 0, end_ns = 0;
  StreamId stream{};
  LabelId label{};
};

inline constexpr uint8_t kExtendedPayload = 9;

// One named value of an extended NVTX payload; its text is JSON (a number, an array, a quoted string).
struct PayloadValue {
  StringId name{};
  StringId json{};
};

// What a program called something of its own. Names of threads, devices and streams are in their rows too.
struct GivenName {
  ProcessId process{};
  int64_t time_ns = 0;
  uint32_t what = 0;    // format::NamedKind
  uint64_t object = 0;  // tid, ordinal, handle
  uint32_t type = 0;    // Other: NVTX's identifierType
  bool gone = false;    // the name was taken back
  StringId domain{}, name{};
};

// A counter that a program samples through NVTX; groups have one for each of their numbers.
struct ProgramCounter {
  ProcessId process{};
  StringId domain{}, name{}, unit{};
  uint64_t without_value = 0;  // samples that said only why there is no number
};
struct CounterSample {
  int64_t time_ns = 0;
  double value = 0;
  uint32_t counter = 0;  // of Trace::program_counters
};

struct Label {
  StringId domain{};  // empty: NVTX's default domain
  StringId text{};
  uint32_t category = 0;
  bool has_color = false;
  uint32_t color = 0;        // ARGB
  StringId category_name{};  // empty: the program gave it none
};

// One node of the tree of range chains: its own label below its parent's.
struct PathNode {
  PathId parent{};
  LabelId label{};
};

// From `time_ns` on the thread is in `path`. A thread's changes are sorted by time. Only logs have them: where a trace has
// begin and end of each range, paths follow from the ranges.
struct PathChange {
  int64_t time_ns = 0;
  PathId path{};
};

// What is launched: from the GPU's record (registers known) or from the launch call (function name and shape).
struct Kernel {
  StringId name{};  // mangled, as recorded; empty: not known
  uint32_t grid[3] = {};
  uint32_t block[3] = {};
  uint32_t registers = 0;
  uint32_t static_shared_bytes = 0;
  uint32_t dynamic_shared_bytes = 0;
  uint32_t local_bytes = 0;
  uint32_t launch_type = 0;
  bool from_gpu = false;
};

struct Graph {
  ProcessId process{};
  uint64_t handle = 0;
  uint32_t number = 0;  // as GPU records have it
  uint64_t kernels = 0, copies = 0, fills = 0, host_nodes = 0, other_nodes = 0;
  bool device_launch = false;  // a kernel may launch it
};

struct HostStream {
  ProcessId process{};
  uint64_t handle = 0;
  uint64_t context_handle = 0;
  uint32_t device = kNone;  // ordinal; kNone: not known
  uint32_t type = 0;        // format::StreamType
  uint32_t flags = 0;
  int64_t priority = 0;
  uint32_t stream = kNone;     // the GPU stream behind it, row of Trace::streams, where known
  bool whole_context = false;  // no stream at all: stands for the context of calls that name no stream
  StringId name{};             // that the program gave it
};

struct Stream {
  DeviceId device{};
  uint32_t context = 0;
  uint32_t number = 0;
  uint32_t green_context = kNone;  // kNone: none, or not known
  int64_t priority = 0;
  bool priority_known = false;
  Rows operations;
  StringId name{};  // that the program gave it
};

struct Device {
  ProcessId process{};
  uint32_t ordinal = 0;
  std::string name;
  std::string uuid;
  std::vector<std::pair<std::string, uint64_t>> properties;  // Kineto's names
  uint32_t physical = 0;  // equal for the same GPU seen by several processes of one host
  StringId given_name{};  // by the program
};

struct Thread {
  ProcessId process{};
  uint32_t tid = 0;
  std::string name;
  Rows host;
  Rows ranges;  // its push/pop ranges in order of opening
  Rows path_changes;
  Rows marks;  // in Trace::marks
};

struct CounterValue {
  std::string name;
  uint64_t value = 0;
  uint8_t severity = 0;  // format::Severity
};

struct Process {
  uint32_t pid = 0;
  std::string host;
  std::string executable;
  std::string command_line;
  std::string source;                                      // the file it was read from
  std::string_view format = "prof log";                    // name of the importer that read it
  std::vector<std::pair<std::string, std::string>> facts;  // everything the recorder said about the run
  std::vector<CounterValue> counters;                      // only those that are not 0
  std::vector<std::string> damage;                         // what of the file could not be read
  bool finished = true;                                    // the recording was closed in order
  bool copied = false;                                     // and went on: this is a copy of its log
  bool ring = false;                                       // its blocks were used again: complete from horizon_ns on
  int64_t horizon_ns = 0;
  uint64_t gpu_pending = 0;
  uint64_t nvtx_pops_without_push = 0;
  uint64_t nvtx_ends_without_start = 0;  // of ranges that nobody started, as far as the log knows
  uint64_t nvtx_ended_again = 0;         // ends of ranges that had ended
  uint64_t nvtx_payloads_unread = 0;     // extended payloads, or entries of them, whose layout the log does not tell
  uint64_t nvtx_sync_unmatched = 0;      // releases and results of acquiring without their beginning
  Rows start_end_ranges;                 // in Trace::ranges, sorted by begin
  int64_t last_ns = 0;                   // its last record
  int64_t zero_realtime_ns = 0;          // other tools' traces: when the trace's own time 0 was
  Coverage coverage;

  // Only our recorder knows the depth of a queue while the program runs.
  bool has_live_depth() const { return format == "prof log"; }

  std::string fact(std::string_view key) const {
    for (const auto& [name, value] : facts) {
      if (name == key) return value;
    }
    return {};
  }
};

struct Trace {
  uint64_t start_realtime_ns = 0;   // of the first record: time 0 of the model
  uint64_t start_monotonic_ns = 0;  // the same moment on the first input's host
  int64_t last_ns = 0;              // end of the last event

  StringTable strings;
  std::vector<StringId> apis{StringId{}};  // names of calls: HostEvent::api() is an index into it; 0: not known
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Device> devices;
  std::vector<Stream> streams;
  std::vector<HostStream> host_streams{HostStream{}};
  std::vector<MemoryPool> memory_pools{MemoryPool{}};  // row 0: none, or not known
  std::vector<Kernel> kernels{Kernel{}};
  std::vector<Graph> graphs{Graph{}};
  std::vector<Label> labels{Label{}};
  std::vector<PathNode> paths{PathNode{}};
  StackTable stacks;
  std::vector<Rows> payloads{Rows{}};  // rows of payload_values; 0: none
  std::vector<PayloadValue> payload_values;
  std::unordered_map<uint32_t, ThreadId>
      ended_by;                        // row of `ranges` -> who closed it, where Range::other_thread says so
  std::vector<GivenName> given_names;  // in the order in which they were given
  std::vector<ProgramCounter> program_counters;
  std::vector<CounterSample> counter_samples;  // by counter, then by time

  Column<HostEvent> host;
  // By row of `host`, where a log has calls of the CUDA run time (empty otherwise): the driver function inside, as an index
  // of `apis`; 0: there was none, or the row is the driver's call itself.
  Column<uint16_t> inner_apis;
  Column<GpuOperation> operations;
  Column<Range> ranges;  // push/pop and start/end ranges
  Column<Range> marks;
  Column<PathChange> path_changes;
  std::vector<GraphNode> graph_nodes;       // by time in each process
  std::vector<GraphMade> graphs_made;       // likewise
  std::vector<StreamMemoryOp> memory_ops;   // likewise
  std::vector<UnifiedMemoryEvent> unified;  // by start in each process
  CounterTable counters;                    // values of hardware counters

  // Only from traces of other tools.
  Column<OperatorDetail> details;  // row 0: none; empty if no range has details
  Column<MemoryEvent> memory;      // by time
  Column<SyncEvent> syncs;         // by begin
  Column<GpuAnnotation> gpu_annotations;

  // Only from logs that were made self-contained.
  std::vector<KnownSymbol> symbols;

  const Thread& thread(ThreadId id) const { return threads[index(id)]; }
  const Process& process_of(const HostEvent& event) const { return processes[index(thread(event.thread).process)]; }
  const Stream& stream(StreamId id) const { return streams[index(id)]; }
  const Device& device(DeviceId id) const { return devices[index(id)]; }
  ProcessId process_of(StreamId id) const { return device(stream(id).device).process; }
  std::string_view text(StringId id) const { return strings[id]; }
  std::string_view api_name(const HostEvent& event) const { return strings[apis[event.api()]]; }
  // "cuLaunchKernel" of a row cudaLaunchKernel; empty where there is nothing inside.
  std::string_view inner_api_name(uint32_t host_row) const {
    return host_row < inner_apis.size() ? strings[apis[inner_apis[host_row]]] : std::string_view{};
  }
  std::string_view range_name(const Range& range) const { return strings[labels[index(range.label)].text]; }
  // The values of an extended payload; empty: it has none, or a plain one.
  Rows payload_of(const Range& range) const {
    const bool extended = range.kind == RangeKind::Nvtx && range.payload_type == kExtendedPayload;
    return extended && range.payload < payloads.size() ? payloads[range.payload] : Rows{};
  }
  // Null: NVTX, or nothing known.
  const OperatorDetail* detail(const Range& range) const {
    return range.kind == RangeKind::Nvtx || range.payload == 0 ? nullptr : &details[range.payload];
  }
};

// The chain of ranges a thread is in at a moment: "train/step/forward"; ranges of named domains as "domain:text".
std::string path_text(const Trace& trace, PathId path);

// Which ranges a thread is in, at growing times (starts again when time goes back). O(1) a step, amortised.
class RangeCursor {
 public:
  RangeCursor(const Trace& trace, ThreadId thread);
  // Row of the innermost open push/pop range that contains the moment, kNone if there is none. Python's ranges only if
  // asked for.
  uint32_t at(int64_t time_ns, bool with_python = false);

 private:
  const Trace& trace_;
  Rows rows_;
  uint32_t next_ = 0;
  int64_t last_ns_ = 0;
  std::vector<uint32_t> open_;
};

// Looks up the path of a thread at growing times (falls back to a search when time goes back).
class PathCursor {
 public:
  PathCursor(const Trace& trace, ThreadId thread);
  PathId at(int64_t time_ns);

 private:
  const Trace& trace_;
  RangeCursor ranges_;
  const PathChange* first_;
  const PathChange* last_;
  const PathChange* next_;
};

}  // namespace prof::analyzer
