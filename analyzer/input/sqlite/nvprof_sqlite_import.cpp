// Imports profiles of nvprof (`nvprof --export-profile`), which are SQLite as well: CUPTI's activities, one table each,
// names in StringTable. Times are ns since 1970. A range is two rows of MARKER with one id, of which only the first has
// a name.
#include "analyzer/input/importer.h"
#include "analyzer/input/sqlite/activity_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace prof::analyzer {

namespace {

enum CallKind : uint32_t { kRuntime = 0, kDriver = 1 };

// Empty for calls that are not in the list.
std::string_view callback_name(CallKind kind, uint32_t id) {
  switch (uint64_t{kind} << 32 | id) {
#define PROF_CALLBACK(kind, id, name) \
  case uint64_t{k##kind} << 32 | id:  \
    return name;
#include "analyzer/input/sqlite/cupti_callbacks.def"
#undef PROF_CALLBACK
    default: return {};
  }
}

class NvprofImport {
 public:
  NvprofImport(const FileHead& head, Trace& trace, const ImportOptions& options)
      : file_(head.path), rows_(trace), options_(options) {}

  void run() {
    using Step = void (NvprofImport::*)();
    constexpr Step kSteps[] = {&NvprofImport::strings, &NvprofImport::calls,  &NvprofImport::markers,
                               &NvprofImport::kernels, &NvprofImport::copies, &NvprofImport::fills};
    double done = 0;
    for (const Step step : kSteps) {
      (this->*step)();
      if (options_.progress) options_.progress(++done / std::size(kSteps));
    }
    SqliteRows version(file_, "Version", {"version"});
    if (version.next()) rows_.fact("nvprof", std::string(version.text(0)));
    constexpr std::string_view kReadTables[] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
                                                "CUPTI_ACTIVITY_KIND_DRIVER",
                                                "CUPTI_ACTIVITY_KIND_MARKER",
                                                "CUPTI_ACTIVITY_KIND_KERNEL",
                                                "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
                                                "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                "CUPTI_ACTIVITY_KIND_MEMCPY2",
                                                "CUPTI_ACTIVITY_KIND_MEMSET"};
    constexpr std::string_view kOtherActivities[] = {"CUPTI_ACTIVITY_KIND_*"};
    rows_.note_unread(file_, kReadTables, kOtherActivities);
    const ImportMark mark = rows_.mark();
    Trace& trace = rows_.trace();
    if (calls_of_unknown_name_ != 0) rows_.fact("calls named by number", std::to_string(calls_of_unknown_name_));
    rows_.finish(file_.path(), 0);
    name_devices(trace, mark);
  }

 private:
  std::string_view name(int64_t id) const {
    const auto found = strings_.find(id);
    return found == strings_.end() ? std::string_view() : std::string_view(found->second);
  }

  void strings() {
    SqliteRows in(file_, "StringTable", {"_id_", "value"});
    while (in.next()) {
      if (const std::optional<int64_t> id = in.integer(0)) strings_.emplace(*id, in.text(1));
    }
    rows_.note_problems(in);
  }

  void calls() {
    read_calls("CUPTI_ACTIVITY_KIND_RUNTIME", kRuntime);
    read_calls("CUPTI_ACTIVITY_KIND_DRIVER", kDriver);
  }
  void read_calls(const char* table, CallKind kind) {
    struct Api {
      uint32_t index;
      HostKind kind;
    };
    std::unordered_map<uint32_t, Api> known;  // by callback id
    SqliteRows in(file_, table, {"start", "end", "cbid", "processId", "threadId", "correlationId", "returnValue"});
    while (in.next()) {
      HostEvent event;
      if (!rows_.read_call(in, 0, 1, event)) continue;
      const uint32_t id = in.number(2);
      auto api = known.find(id);
      if (api == known.end()) {
        const std::string_view listed = callback_name(kind, id);
        const std::string text = !listed.empty()
                                     ? std::string(listed)
                                     : fmt::format("{} cbid {}", kind == kRuntime ? "runtime" : "driver", id);
        calls_of_unknown_name_ += listed.empty() ? 1 : 0;
        api = known.emplace(id, Api{rows_.api(text), call_kind(text)}).first;
      }
      const uint32_t pid = in.number(3);
      // nvprof writes the thread, which is no system id, as a signed number.
      event.thread = rows_.thread(rows_.process(pid, pid), static_cast<uint32_t>(in.integer_or(4, 0)));
      event.correlation = in.number(5);
      event.word = HostEvent::pack(api->second.index, api->second.kind, event.flags(),
                                   static_cast<uint32_t>(in.integer_or(6, 0)));
      rows_.add(event);
    }
    rows_.note_problems(in);
  }

#define PROF_NVPROF_GPU_COLUMNS "start", "end", "deviceId", "contextId", "streamId", "correlationId"
  static constexpr size_t kOwnColumns = 6;
  bool read_operation(SqliteRows& in, GpuKind kind, GpuOperation& operation) {
    if (!rows_.read_times(in, 0, 1, kind, operation)) return false;
    operation.correlation = in.number(5);
    const StreamId stream =
        rows_.stream(rows_.process_of(operation.correlation), in.number(2), in.number(3), in.number(4));
    operation.set_stream(index(stream));
    return true;
  }
  static uint32_t small(SqliteRows& in, size_t column, uint32_t most) {
    const uint32_t value = in.number(column);
    return value <= most ? value : 0;
  }

  void kernels() {
    for (const char* const table : {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "CUPTI_ACTIVITY_KIND_KERNEL"}) {
      SqliteRows in(file_, table,
                    {PROF_NVPROF_GPU_COLUMNS, "name", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
                     "registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread"});
      while (in.next()) {
        GpuOperation operation;
        if (!read_operation(in, GpuKind::Kernel, operation)) continue;
        Kernel kernel;
        kernel.from_gpu = true;
        kernel.name = rows_.text(name(in.integer_or(kOwnColumns, 0)));
        ActivityRows::read_shape(in, kOwnColumns + 1, kernel);
        operation.detail = index(rows_.kernel(kernel));
        rows_.add(operation);
      }
      rows_.note_problems(in);
    }
  }

  void copies() {
    for (const char* const table : {"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMCPY2"}) {
      SqliteRows in(file_, table,
                    {PROF_NVPROF_GPU_COLUMNS, "copyKind", "bytes", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId"});
      while (in.next()) {
        GpuOperation operation;
        if (!read_operation(in, GpuKind::Copy, operation)) continue;
        constexpr uint32_t kPeer = 10, kLastMemory = 7;
        const uint32_t kind = small(in, kOwnColumns, kPeer);
        operation.set_bytes(ActivityRows::bytes(in, kOwnColumns + 1));
        operation.detail = GpuOperation::copy_detail(kind, small(in, kOwnColumns + 2, kLastMemory),
                                                     small(in, kOwnColumns + 3, kLastMemory));
        if (kind == kPeer) ActivityRows::read_peers(in, kOwnColumns + 4, operation);
        rows_.add(operation);
      }
      rows_.note_problems(in);
    }
  }

  void fills() {
    SqliteRows in(file_, "CUPTI_ACTIVITY_KIND_MEMSET", {PROF_NVPROF_GPU_COLUMNS, "bytes", "memoryKind"});
    while (in.next()) {
      GpuOperation operation;
      if (!read_operation(in, GpuKind::Fill, operation)) continue;
      operation.set_bytes(ActivityRows::bytes(in, kOwnColumns));
      operation.detail = small(in, kOwnColumns + 1, 7);
      rows_.add(operation);
    }
    rows_.note_problems(in);
  }
#undef PROF_NVPROF_GPU_COLUMNS

  // CUPTI's object id of a process and thread: two little-endian words, process and thread.
  ThreadId thread_of(SqliteRows& in, size_t column) {
    uint32_t words[2] = {};
    const std::string_view id = in.text(column);
    if (!id.empty()) std::memcpy(words, id.data(), std::min(id.size(), sizeof words));
    return rows_.thread(rows_.process(words[0], words[0]), words[1]);
  }

  struct OpenRange {
    Range range;
    ThreadId thread;
  };

  void markers() {
    constexpr uint32_t kInstantaneous = 1;
    std::unordered_map<int64_t, OpenRange> open;  // by marker id
    SqliteRows in(file_, "CUPTI_ACTIVITY_KIND_MARKER", {"timestamp", "id", "flags", "objectId", "name", "domain"});
    while (in.next()) {
      const std::optional<int64_t> time = in.wanted(0);
      if (!rows_.good_span(in, time, time, ActivityRows::Reversed::Keep)) continue;
      const int64_t id = in.integer_or(1, 0), text = in.integer_or(4, 0);
      const ThreadId thread = thread_of(in, 3);
      if (text == 0) {
        const auto begin = open.find(id);
        if (begin == open.end()) {
          in.set_aside("the end of a range whose begin is not in the file");
          continue;
        }
        Range range = begin->second.range;
        if (begin->second.thread != thread) range.style = RangeStyle::StartEnd;
        open.erase(begin);
        if (*time < range.begin_ns) {
          in.set_aside("it ends before it begins");
        } else {
          rows_.add(range, time);
        }
        continue;
      }
      Range range;
      range.begin_ns = *time;
      range.thread = thread;
      Label label;
      label.text = rows_.text(name(text));
      label.domain = rows_.text(name(in.integer_or(5, 0)));
      range.label = rows_.label(label);
      if ((in.number(2) & kInstantaneous) != 0) {
        range.style = RangeStyle::Mark;
        rows_.add(range, time);
      } else if (!open.try_emplace(id, OpenRange{range, thread}).second) {
        in.set_aside("a second begin with the number of a range that is still open");
      }
    }
    std::vector<OpenRange> left;
    for (const auto& [id, range] : open) left.push_back(range);
    std::sort(left.begin(), left.end(),
              [](const OpenRange& a, const OpenRange& b) { return a.range.begin_ns < b.range.begin_ns; });
    for (const OpenRange& each : left) rows_.add(each.range, std::nullopt);
    rows_.note_problems(in);
  }

  void name_devices(Trace& trace, const ImportMark& mark) {
    SqliteRows in(file_, "CUPTI_ACTIVITY_KIND_DEVICE",
                  {"id", "name", "numMultiprocessors", "globalMemorySize", "computeCapabilityMajor",
                   "computeCapabilityMinor", "maxThreadsPerBlock", "numThreadsPerWarp", "maxSharedMemoryPerBlock",
                   "maxRegistersPerBlock", "coreClockRate", "globalMemoryBandwidth"});
    constexpr std::string_view kNames[] = {
        "numSms",   "totalGlobalMem",    "computeMajor", "computeMinor", "maxThreadsPerBlock",
        "warpSize", "sharedMemPerBlock", "regsPerBlock"};
    while (in.next()) {
      const uint32_t ordinal = in.number(0);
      const std::string device_name(name(in.integer_or(1, 0)));
      std::vector<std::pair<std::string, uint64_t>> properties;
      for (size_t i = 0; i < std::size(kNames); ++i) {
        if (const std::optional<int64_t> value = in.integer(2 + i); value && *value >= 0)
          properties.emplace_back(kNames[i], static_cast<uint64_t>(*value));
      }
      // CUPTI has kHz and kB/s.
      constexpr uint64_t kKilo = 1000;
      if (const uint32_t clock = in.number(10)) properties.emplace_back("clockRateHz", clock * kKilo);
      if (const uint32_t memory = in.number(11))
        properties.emplace_back("memoryBandwidthBytesPerSecond", memory * kKilo);
      for (uint32_t d = mark.devices; d < trace.devices.size(); ++d) {
        Device& device = trace.devices[d];
        if (device.ordinal != ordinal) continue;
        device.name = device_name;
        device.properties = properties;
      }
    }
  }

  SqliteFile file_;
  ActivityRows rows_;
  const ImportOptions& options_;
  std::unordered_map<int64_t, std::string> strings_;
  uint64_t calls_of_unknown_name_ = 0;
};

}  // namespace

bool sniff_nvprof_sqlite(const FileHead& head) {
  return !head.compressed && sqlite_has(head.path, head.bytes, {"StringTable"}, {"CUPTI_ACTIVITY_KIND_"});
}

void import_nvprof_sqlite(const FileHead& head, Trace& trace, const ImportOptions& options) {
  NvprofImport import(head, trace, options);
  import.run();
}

}  // namespace prof::analyzer
