// Imports SQLite exports of Nsight Systems (`nsys export --type sqlite`) of any schema version: missing tables and
// columns are no error. Times are ns since the start of the session. globalTid is (host and VM) << 48 | pid << 24 |
// tid. Correlation ids are unique only within a process.
#include "analyzer/input/importer.h"
#include "analyzer/input/sqlite/activity_rows.h"
#include "analyzer/input/sqlite/nsys_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace prof::analyzer {

namespace {

class NsysImport {
 public:
  NsysImport(const FileHead& head, Trace& trace, const ImportOptions& options)
      : file_(head.path), names_(file_), rows_(trace), options_(options) {}

  void run() {
    using Step = void (NsysImport::*)();
    constexpr Step kSteps[] = {&NsysImport::calls, &NsysImport::ranges, &NsysImport::kernels, &NsysImport::copies,
                               &NsysImport::fills, &NsysImport::graphs, &NsysImport::syncs,   &NsysImport::overheads};
    double done = 0;
    for (const Step step : kSteps) {
      (this->*step)();
      if (options_.progress) options_.progress(++done / std::size(kSteps));
    }
    describe_nsys_session(file_, names_, rows_);
    rows_.finish(file_.path(), nsys_session_start(file_));
    name_nsys_devices(file_, rows_.mark(), rows_.trace());
  }

 private:
  ProcessId process(int64_t global_id) { return nsys_process(rows_, global_id); }
  ThreadId thread(int64_t global_id) { return nsys_thread(rows_, global_id); }

  void calls() {
    struct Api {
      uint32_t index;
      HostKind kind;
    };
    std::unordered_map<int64_t, Api> known;  // by nameId
    SqliteRows in(file_, "CUPTI_ACTIVITY_KIND_RUNTIME",
                  {"start", "end", "globalTid", "correlationId", "nameId", "returnValue"});
    while (in.next()) {
      HostEvent event;
      if (!rows_.read_call(in, 0, 1, event)) continue;
      const int64_t name = in.integer_or(4, -1);
      auto api = known.find(name);
      if (api == known.end()) {
        const std::string_view text = names_[name];
        api = known.emplace(name, Api{text.empty() ? 0 : rows_.api(text), call_kind(text)}).first;
      }
      event.thread = thread(in.integer_or(2, 0));
      event.correlation = in.number(3);
      event.word = HostEvent::pack(api->second.index, api->second.kind, event.flags(),
                                   static_cast<uint32_t>(in.integer_or(5, 0)));
      rows_.add(event);
    }
    rows_.note_problems(in);
  }

  // Exports of old versions do not have the process of a GPU operation.
  ProcessId process_of_row(SqliteRows& in, size_t column, uint32_t correlation) {
    if (const std::optional<int64_t> global = in.integer(column)) return process(*global);
    return rows_.process_of(correlation);
  }

  // The columns of every table of GPU operations, in this order; false: the row is skipped.
#define PROF_NSYS_GPU_COLUMNS \
  "start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId", "globalPid", "graphNodeId"
  static constexpr size_t kOwnColumns = 9;
  bool read_operation(SqliteRows& in, GpuKind kind, GpuOperation& operation) {
    if (!rows_.read_times(in, 0, 1, kind, operation)) return false;
    operation.correlation = in.number(6);
    const ProcessId process = process_of_row(in, 7, operation.correlation);
    const uint32_t green = in.number(4, kNone);
    const StreamId stream = rows_.stream(process, in.number(2), in.number(3), in.number(5), green == 0 ? kNone : green);
    operation.set_stream(index(stream));
    operation.graph_node = static_cast<uint64_t>(in.integer_or(8, 0));
    return true;
  }
  // nsys counts memory kinds from pageable = 0 and ends with 7 = unknown; CUPTI counts from unknown = 0, pageable = 1.
  static uint32_t memory_kind(SqliteRows& in, size_t column) {
    const uint32_t kind = in.number(column, kNone);
    return kind < 7 ? kind + 1 : 0;
  }

  // The text of a demangled name, by its row of StringIds. A name that is still mangled has none.
  StringId demangled_text(int64_t id) {
    const auto [found, added] = demangled_.try_emplace(id, StringId{});
    if (!added) return found->second;
    const std::string_view text = names_[id];
    if (!text.empty() && !text.starts_with("_Z")) found->second = rows_.text(text);
    return found->second;
  }

  void kernels() {
    SqliteRows in(file_, "CUPTI_ACTIVITY_KIND_KERNEL",
                  {PROF_NSYS_GPU_COLUMNS, "mangledName", "demangledName", "shortName", "graphId", "launchType", "gridX",
                   "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory",
                   "dynamicSharedMemory", "localMemoryPerThread"});
    while (in.next()) {
      GpuOperation operation;
      if (!read_operation(in, GpuKind::Kernel, operation)) continue;
      Kernel kernel;
      kernel.from_gpu = true;
      for (size_t i = 0; i < 3 && index_of(kernel.name) == 0; ++i) {
        const std::string_view name = names_[in.integer_or(kOwnColumns + i, -1)];
        if (!name.empty()) kernel.name = rows_.text(name);
      }
      kernel.demangled = demangled_text(in.integer_or(kOwnColumns + 1, -1));
      const uint32_t graph = in.number(kOwnColumns + 3);
      if (operation.graph_node != 0 && graph_of(operation.graph_node) == 0)
        operation.graph_node = graph_node_id(graph, index_in_graph(operation.graph_node));
      const uint32_t type = in.number(kOwnColumns + 4);
      kernel.launch_type = type == 0 ? 0 : type - 1;  // nsys: 1 is regular; CUPTI: 0
      ActivityRows::read_shape(in, kOwnColumns + 5, kernel);
      operation.detail = index(rows_.kernel(kernel));
      rows_.add(operation);
    }
    rows_.note_problems(in);
  }
  static uint32_t index_of(StringId id) { return static_cast<uint32_t>(id); }

  void copies() {
    SqliteRows in(file_, "CUPTI_ACTIVITY_KIND_MEMCPY",
                  {PROF_NSYS_GPU_COLUMNS, "copyKind", "bytes", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId"});
    while (in.next()) {
      GpuOperation operation;
      if (!read_operation(in, GpuKind::Copy, operation)) continue;
      constexpr uint32_t kPeer = 10, kLast = 13;
      const uint32_t kind = in.number(kOwnColumns);
      operation.set_bytes(ActivityRows::bytes(in, kOwnColumns + 1));
      operation.detail = GpuOperation::copy_detail(kind <= kLast ? kind : 0, memory_kind(in, kOwnColumns + 2),
                                                   memory_kind(in, kOwnColumns + 3));
      if (kind == kPeer) ActivityRows::read_peers(in, kOwnColumns + 4, operation);
      rows_.add(operation);
    }
    rows_.note_problems(in);
  }

  void fills() {
    SqliteRows in(file_, "CUPTI_ACTIVITY_KIND_MEMSET", {PROF_NSYS_GPU_COLUMNS, "bytes", "memKind"});
    while (in.next()) {
      GpuOperation operation;
      if (!read_operation(in, GpuKind::Fill, operation)) continue;
      operation.set_bytes(ActivityRows::bytes(in, kOwnColumns));
      operation.detail = memory_kind(in, kOwnColumns + 1);
      rows_.add(operation);
    }
    rows_.note_problems(in);
  }

  // With --cuda-graph-trace=graph a launch of a graph is one row.
  void graphs() {
    SqliteRows in(file_, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {PROF_NSYS_GPU_COLUMNS, "graphId", "graphExecId"});
    uint64_t launches = 0;
    while (in.next()) {
      GpuOperation operation;
      if (!read_operation(in, GpuKind::Graph, operation)) continue;
      const uint32_t graph = in.number(kOwnColumns), executable = in.number(kOwnColumns + 1, graph);
      operation.graph_node = graph_node_id(executable, 0);
      Kernel kernel;
      kernel.from_gpu = true;
      kernel.name = rows_.text(fmt::format("[CUDA graph {}]", graph));
      operation.detail = index(rows_.kernel(kernel));
      rows_.add(operation);
      ++launches;
    }
    rows_.note_problems(in);
    if (launches != 0)
      rows_.fact("graphs", fmt::format("{} launches recorded as a whole: their kernels are not in the file", launches));
  }
#undef PROF_NSYS_GPU_COLUMNS

  // The stream on which an event was recorded, and the call that recorded it.
  struct Recorded {
    uint32_t stream = kNone;
    uint32_t correlation = 0;
  };
  using EventKey = std::pair<uint32_t, uint32_t>;  // process, eventSyncId

  std::map<EventKey, Recorded> recorded_events() {
    std::map<EventKey, Recorded> recorded;
    SqliteRows in(file_, "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                  {"deviceId", "contextId", "greenContextId", "streamId", "correlationId", "globalPid", "eventSyncId"});
    while (in.next()) {
      const uint32_t correlation = in.number(4), id = in.number(6, kNoNumber), number = in.number(3, kNoNumber);
      const ProcessId process = process_of_row(in, 5, correlation);
      if (id == kNoNumber || number == kNoNumber) continue;
      const uint32_t green = in.number(2, kNone);
      const StreamId stream =
          rows_.stream_of_context(process, in.number(0), in.number(1), number, green == 0 ? kNone : green);
      recorded[{index(process), id}] = {index(stream), correlation};
    }
    rows_.note_problems(in);
    return recorded;
  }

  void syncs() {
    const std::map<EventKey, Recorded> recorded = recorded_events();
    SqliteRows in(file_, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                  {"start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId", "globalPid",
                   "syncType", "eventId", "eventSyncId"});
    while (in.next()) {
      const std::optional<int64_t> begin = in.wanted(0), end = in.integer(1);
      if (!rows_.good_span(in, begin, end, ActivityRows::Reversed::SetAside)) continue;
      SyncEvent sync;
      sync.begin_ns = *begin;
      sync.end_ns = end.value_or(*begin);
      sync.correlation = in.number(6);
      const ProcessId process = process_of_row(in, 7, sync.correlation);
      const uint32_t kind = in.number(8), device = in.number(2, kNoNumber), number = in.number(5, kNoNumber);
      sync.kind = kind <= 4 ? static_cast<SyncKind>(kind) : SyncKind::Unknown;
      sync.process = index(process);
      const bool of_stream = sync.kind == SyncKind::Stream || sync.kind == SyncKind::StreamWaitEvent;
      if (of_stream && number != kNoNumber && device != kNoNumber) {
        const uint32_t green = in.number(4, kNone);
        sync.stream = index(rows_.stream_of_context(process, device, in.number(3), number, green == 0 ? kNone : green));
      }
      if (sync.kind == SyncKind::Event || sync.kind == SyncKind::StreamWaitEvent) {
        sync.event_id = in.number(9);
        const auto event = recorded.find({index(process), in.number(10, kNoNumber)});
        if (event != recorded.end()) {
          sync.waits_for = event->second.stream;
          sync.record_correlation = event->second.correlation;
        }
      }
      rows_.add(sync);
    }
    rows_.note_problems(in);
  }

  // Overhead of the profiler and of the driver inside the program.
  void overheads() {
    for (const char* const table : {"PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"}) {
      SqliteRows in(file_, table, {"start", "end", "globalTid", "nameId"});
      while (in.next()) {
        const std::optional<int64_t> begin = in.wanted(0), end = in.integer(1);
        if (!rows_.good_span(in, begin, end, ActivityRows::Reversed::SetAside)) continue;
        Range range;
        range.begin_ns = *begin;
        range.thread = thread(in.integer_or(2, 0));
        range.kind = RangeKind::Overhead;
        Label label;
        label.text = rows_.text(names_[in.integer_or(3, -1)]);
        range.label = rows_.label(label);
        rows_.add(range, end.value_or(*begin));
      }
      rows_.note_problems(in);
    }
  }

  void ranges() { read_nsys_ranges(file_, names_, rows_); }

  SqliteFile file_;
  NsysNames names_;
  ActivityRows rows_;
  std::unordered_map<int64_t, StringId> demangled_;
  const ImportOptions& options_;
};

}  // namespace

// Also accepts every other SQLite file: the import reports the error.
bool sniff_nsys_sqlite(const FileHead& head) { return is_sqlite(head.bytes); }

void import_nsys_sqlite(const FileHead& head, Trace& trace, const ImportOptions& options) {
  if (head.compressed)
    throw InputError(fmt::format("{}: a SQLite database packed with {}: unpack it first", head.path, head.compression));
  NsysImport import(head, trace, options);
  import.run();
}

}  // namespace prof::analyzer
