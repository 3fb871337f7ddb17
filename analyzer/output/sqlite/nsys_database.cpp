// Writes an SQLite export of Nsight Systems. Times are ns since the session's start: the model's zero, or the
// session of the export of nsys that was read.
#include "analyzer/base/json/json_text.h"
#include "analyzer/dependencies/call_syncs.h"
#include "analyzer/model/names.h"
#include "analyzer/output/sqlite/databases.h"
#include "analyzer/output/sqlite/export_ids.h"
#include "analyzer/output/sqlite/nsys_schema.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace prof::analyzer {

namespace {

// nsys's numbers of event types in NVTX_EVENTS.
enum EventType : int { kCategory = 33, kMark = 34, kPushPop = 59, kStartEnd = 60, kDomainCreate = 75 };
// CUPTI's "no such number" in synchronisations.
constexpr int64_t kNoCuptiNumber = UINT32_MAX;

// StringIds: each text once.
class NsysStrings {
 public:
  NsysStrings(const Trace& trace, DatabaseFile& file)
      : trace_(trace), table_(file, "StringIds", nsys::kStringColumns), of_string_(trace.strings.size()) {}

  int64_t operator[](StringId id) {
    uint32_t& known = of_string_[static_cast<uint32_t>(id)];
    if (known == 0) known = static_cast<uint32_t>((*this)[trace_.text(id)]);
    return known;
  }
  int64_t operator[](std::string_view text) {
    const auto [found, added] = ids_.try_emplace(std::string(text), static_cast<int64_t>(ids_.size()) + 1);
    if (added) table_.add(found->second, text);
    return found->second;
  }

 private:
  const Trace& trace_;
  SqlTable<nsys::kStringColumns.size()> table_;
  std::vector<uint32_t> of_string_;
  std::unordered_map<std::string, int64_t> ids_;
};

struct Sync {
  int64_t begin_ns = 0, end_ns = 0;
  ProcessId process{};
  SyncKind kind{};
  uint32_t call = kNone;     // row of Trace::host
  uint32_t correlation = 0;  // if there is no call
  uint32_t stream = kNone;   // row of Trace::streams
  const Device* device = nullptr;
  uint32_t context = 0;
  uint32_t event = 0;
  // The record of the event.
  uint32_t record_on = kNone;  // row of Trace::streams
  uint32_t record = kNone;     // row of Trace::host
  uint32_t record_correlation = 0;
};

// Of logs by their calls, of other tools' traces as recorded.
std::vector<Sync> synchronizations(const Trace& trace) {
  std::vector<Sync> syncs;
  const bool any_log =
      std::any_of(trace.processes.begin(), trace.processes.end(), [](const Process& p) { return p.is_prof_log(); });
  if (any_log) {
    const CallSyncs calls(trace);
    for (uint32_t row = 0; row < trace.host.size(); ++row) {
      const HostEvent& event = trace.host[row];
      if (!trace.process_of(event).is_prof_log()) continue;
      const std::optional<CallSync> of_call = calls.of(row);
      if (!of_call) continue;
      Sync sync;
      sync.begin_ns = event.begin_ns;
      sync.end_ns = event.end_ns;
      sync.process = trace.thread(event.thread).process;
      sync.kind = of_call->kind;
      sync.call = row;
      sync.stream = of_call->stream;
      sync.device = &trace.device(of_call->device);
      sync.context = of_call->context;
      sync.event = of_call->event;
      sync.record_on = of_call->record_on;
      sync.record = of_call->record;
      syncs.push_back(sync);
    }
  }
  for (const SyncEvent& event : trace.syncs) {
    Sync sync;
    sync.begin_ns = event.begin_ns;
    sync.end_ns = event.end_ns;
    sync.kind = event.kind;
    sync.call = event.call;
    sync.correlation = event.correlation;
    sync.stream = event.stream;
    sync.event = event.event_id;
    sync.record_on = event.waits_for;
    sync.record_correlation = event.record_correlation;
    const uint32_t place = event.stream != kNone ? event.stream : event.waits_for;
    if (place != kNone) {
      sync.device = &trace.device(trace.streams[place].device);
      sync.context = trace.streams[place].context;
    }
    if (event.process == kNone && place == kNone) continue;
    sync.process = event.process != kNone ? ProcessId{event.process} : trace.process_of(StreamId{place});
    syncs.push_back(sync);
  }
  return syncs;
}

std::vector<uint32_t> calls_of(const std::vector<Sync>& syncs) {
  std::vector<uint32_t> calls;
  for (const Sync& sync : syncs) {
    if (sync.call != kNone) calls.push_back(sync.call);
    if (sync.record != kNone) calls.push_back(sync.record);
  }
  return calls;
}

// CLOCK_REALTIME of the session's time 0. An export of nsys keeps its own.
int64_t session_start(const Trace& trace) {
  std::set<int64_t> zeros;
  for (const Process& process : trace.processes) {
    const bool own = process.format == "nsys-sqlite" && process.zero_realtime_ns > 0;
    zeros.insert(own ? process.zero_realtime_ns : static_cast<int64_t>(trace.start_realtime_ns));
  }
  return zeros.size() == 1 ? *zeros.begin() : static_cast<int64_t>(trace.start_realtime_ns);
}

std::string utc_text(int64_t realtime_ns) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(realtime_ns / 1'000'000'000)));
}

// The last part of a qualified name: "at::native::reduce_kernel" -> "reduce_kernel".
std::string_view base_name(std::string_view name) {
  const size_t at = name.rfind("::");
  return at == std::string_view::npos || at + 2 == name.size() ? name : name.substr(at + 2);
}

// nsys counts memory kinds from pageable = 0 and ends with 7 = unknown; the model (CUPTI) from unknown = 0.
int64_t nsys_memory_kind(uint32_t kind) { return kind == 0 || kind > 7 ? 7 : kind - 1; }

std::optional<int64_t> green_context(const Stream& stream) {
  return stream.green_context == kNone ? std::nullopt : std::optional<int64_t>(stream.green_context);
}

class NsysExport {
 public:
  NsysExport(const Trace& trace, DatabaseFile& file)
      : trace_(trace),
        file_(file),
        start_ns_(session_start(trace)),
        moved_ns_(static_cast<int64_t>(trace.start_realtime_ns) - start_ns_),
        strings_(trace, file),
        ids_(trace),
        syncs_(synchronizations(trace)),
        correlation_(trace, CorrelationIds::Unique::InProcess, calls_of(syncs_)),
        names_(trace),
        ranges_(file, "NVTX_EVENTS", nsys::kRangeColumns) {}

  std::vector<std::string> run() {
    (void)strings_[std::string_view()];  // the table must exist
    enums();
    session();
    machines();
    processes();
    gpus();
    streams();
    calls();
    operations();
    synchronizations_and_events();
    for (uint32_t row = 0; row < trace_.ranges.size(); ++row) range(trace_.ranges[row], row);
    for (const Range& mark : trace_.marks) range(mark, kNone);
    diagnostics();
    return left_out();
  }

 private:
  int64_t time(int64_t ns) const { return ns + moved_ns_; }

  void enums() {
    SqlTable<nsys::kEnumColumns.size()>* table = nullptr;
    std::map<std::string_view, SqlTable<nsys::kEnumColumns.size()>> tables;
#define PROF_NSYS_ENUM(of, id, name, label)                                                                           \
  table = &tables.try_emplace(std::string_view(#of), file_, std::string_view(#of), nsys::kEnumColumns).first->second; \
  table->add(id, std::string_view(name), std::string_view(label));
#include "analyzer/output/sqlite/nsys_enums.def"
#undef PROF_NSYS_ENUM
  }

  void session() {
    SqlTable<2> exported(file_, "META_DATA_EXPORT", nsys::kPairColumns);
    const auto put = [&](std::string_view name, std::string_view value) { exported.add(name, value); };
    put("EXPORT_PRODUCT_NAME", "libprof (prof export)");
    put("EXPORT_PRODUCT_VERSION", PROF_VERSION);
    put("EXPORT_SCHEMA_VERSION", "3.25.0");
    put("EXPORT_SCHEMA_VERSION_MAJOR", "3");
    put("EXPORT_SCHEMA_VERSION_MINOR", "25");
    put("EXPORT_SCHEMA_VERSION_MICRO", "0");
    SqlTable<2> captured(file_, "META_DATA_CAPTURE", nsys::kPairColumns);
    for (const Process& process : trace_.processes) {
      if (!process.command_line.empty())
        captured.add(std::string_view("COMMAND_LINE"), std::string_view(process.command_line));
    }
    captured.add(std::string_view("CAPTURE_EVENT_TYPE"), std::string_view("Cuda"));
    captured.add(std::string_view("CAPTURE_EVENT_TYPE"), std::string_view("NvtxEvents"));
    SqlTable<4> start(file_, "TARGET_INFO_SESSION_START_TIME", nsys::kSessionColumns);
    const std::string utc = utc_text(start_ns_);
    // The model has the clock of the first record.
    const auto clock = static_cast<int64_t>(trace_.start_monotonic_ns) - moved_ns_;
    start.add(start_ns_, std::string_view(utc), std::nullopt, clock >= 0 ? std::optional(clock) : std::nullopt);
  }

  void machines() {
    SqlTable<4> details(file_, "ANALYSIS_DETAILS", nsys::kDetailColumns);
    SqlTable<5> environment(file_, "TARGET_INFO_SYSTEM_ENV", nsys::kEnvironmentColumns);
    constexpr std::string_view kDevice = "Local (CLI)";
    constexpr int kHostname = 619;  // as nsys numbers it
    std::set<int64_t> seen;
    for (uint32_t p = 0; p < trace_.processes.size(); ++p) {
      const int64_t vid = ids_.machine(ProcessId{p}) << 48;
      if (!seen.insert(vid).second) continue;
      const int64_t last = std::max<int64_t>(trace_.last_ns, 0);
      details.add(vid, last, time(0), time(last));
      const std::string_view host = trace_.processes[p].host;
      if (!host.empty()) environment.add(vid, kDevice, std::string_view("Hostname"), kHostname, host);
    }
  }

  void processes() {
    SqlTable<3> processes(file_, "PROCESSES", nsys::kProcessColumns);
    for (uint32_t p = 0; p < trace_.processes.size(); ++p) {
      const ProcessId id{p};
      processes.add(ids_.process(id), ids_.pid(id), std::string_view(trace_.processes[p].executable));
    }
    SqlTable<3> threads(file_, "ThreadNames", nsys::kThreadColumns);
    for (uint32_t t = 0; t < trace_.threads.size(); ++t) {
      const Thread& thread = trace_.threads[t];
      threads.add(strings_[std::string_view(thread.name)], thread.priority, ids_.thread(ThreadId{t}));
    }
  }

  void gpus() {
    SqlTable<nsys::kGpuColumns.size()> gpus(file_, "TARGET_INFO_GPU", nsys::kGpuColumns);
    SqlTable<nsys::kCudaDeviceColumns.size()> devices(file_, "TARGET_INFO_CUDA_DEVICE", nsys::kCudaDeviceColumns);
    std::map<uint32_t, int64_t> numbers;  // Device::physical -> id
    for (const Device& device : trace_.devices) {
      const auto property = [&](std::string_view name) -> std::optional<int64_t> {
        for (const auto& [key, value] : device.properties) {
          if (key == name) return static_cast<int64_t>(value);
        }
        return std::nullopt;
      };
      const auto value_of = [&](std::string_view name) -> std::optional<int64_t> {
        const std::optional<int64_t> known = property(name);
        if (known || name != "memoryBandwidthBytesPerSecond") return known;
        const std::optional<int64_t> clock = property("memoryClockRateHz"), bits = property("memoryBusWidthBits");
        if (!clock || !bits) return std::nullopt;
        return 2 * *clock * (*bits / 8);  // two transfers a clock
      };
      const auto [found, added] = numbers.try_emplace(device.physical, static_cast<int64_t>(numbers.size()));
      if (added) {
        std::optional<int64_t> warps = property("maxThreadsPerMultiprocessor");
        const std::optional<int64_t> lanes = property("warpSize");
        warps = warps && lanes && *lanes > 0 ? std::optional(*warps / *lanes) : std::nullopt;
        gpus.add(found->second, std::string_view(device.name), std::string_view(device.uuid), device.ordinal, warps,
                 std::nullopt, std::nullopt
#define PROF_NSYS_GPU(column, name) , value_of(name)
#include "analyzer/input/sqlite/nsys_gpu_columns.def"
#undef PROF_NSYS_GPU
        );
      }
      devices.add(found->second, device.ordinal, ids_.pid(device.process), std::string_view(device.uuid),
                  property("numSms"));
    }
  }

  void streams() {
    SqlTable<nsys::kStreamColumns.size()> streams(file_, "TARGET_INFO_CUDA_STREAM", nsys::kStreamColumns);
    SqlTable<nsys::kContextColumns.size()> contexts(file_, "TARGET_INFO_CUDA_CONTEXT_INFO", nsys::kContextColumns);
    std::set<std::pair<int64_t, uint32_t>> seen;
    for (const Stream& stream : trace_.streams) {
      if (index(stream.device) >= trace_.devices.size()) continue;  // a log without GPU activity
      const Device& device = trace_.device(stream.device);
      const int64_t machine = ids_.machine(device.process), hardware = machine >> 8, vm = machine & 0xff;
      const uint32_t pid = ids_.pid(device.process);
      if (stream.priority_known)
        streams.add(stream.number, hardware, vm, pid, stream.context, int64_t{stream.priority}, 0);
      if (seen.emplace(ids_.process(device.process), stream.context).second)
        contexts.add(std::nullopt, hardware, vm, pid, device.ordinal, stream.context, std::nullopt,
                     stream.green_context == kNone ? 0 : 1);
    }
  }

  void calls() {
    SqlTable<nsys::kCallColumns.size()> calls(file_, "CUPTI_ACTIVITY_KIND_RUNTIME", nsys::kCallColumns);
    std::vector<bool> of_runtime(trace_.apis.size());
    for (size_t api = 0; api < trace_.apis.size(); ++api) {
      const std::string_view name = trace_.text(trace_.apis[api]);
      of_runtime[api] = name.starts_with("cuda") || name.starts_with("__cuda") || name.starts_with("hip");
    }
    for (uint32_t row = 0; row < trace_.host.size(); ++row) {
      const HostEvent& event = trace_.host[row];
      calls.add(time(event.begin_ns), time(event.end_ns), of_runtime[event.api()] ? 0 : 1, ids_.thread(event.thread),
                correlation_.of_call(row), strings_[trace_.apis[event.api()]], event.result(), std::nullopt);
    }
  }

  struct KernelText {
    int64_t demangled = 0, base = 0, mangled = 0;
  };
  const KernelText& text_of(KernelId id) {
    if (kernel_texts_.empty()) kernel_texts_.resize(trace_.kernels.size());
    KernelText& text = kernel_texts_[index(id)];
    if (text.mangled != 0) return text;
    const Kernel& kernel = trace_.kernels[index(id)];
    const std::string_view given = trace_.text(kernel.demangled);
    const std::string full(given.empty() ? names_.name(id, NameForm::Full) : given);
    text.demangled = strings_[std::string_view(full)];
    text.base = strings_[base_name(short_function_name(full))];
    text.mangled = strings_[names_.name(id, NameForm::Mangled)];
    return text;
  }

  void operations() {
    SqlTable<nsys::kKernelColumns.size()> kernels(file_, "CUPTI_ACTIVITY_KIND_KERNEL", nsys::kKernelColumns);
    SqlTable<nsys::kCopyColumns.size()> copies(file_, "CUPTI_ACTIVITY_KIND_MEMCPY", nsys::kCopyColumns);
    SqlTable<nsys::kFillColumns.size()> fills(file_, "CUPTI_ACTIVITY_KIND_MEMSET", nsys::kFillColumns);
    SqlTable<nsys::kGraphColumns.size()> graphs(file_, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", nsys::kGraphColumns);
    for (const GpuOperation& operation : trace_.operations) {
      const Stream& stream = trace_.stream(operation.stream());
      const Device& device = trace_.device(stream.device);
      const auto add = [&](auto& table, const auto&... cells) {
        table.add(time(operation.start_ns), time(operation.end_ns), device.ordinal, stream.context,
                  green_context(stream), stream.number, correlation_.of_operation(operation),
                  ids_.process(device.process), cells...);
      };
      const std::optional<uint64_t> node =
          operation.graph_node == 0 ? std::nullopt : std::optional<uint64_t>(operation.graph_node);
      switch (operation.kind()) {
        case GpuKind::Kernel: {
          const Kernel& kernel = trace_.kernels[operation.detail];
          const KernelText& text = text_of(names_.named_by(operation));
          const std::optional<uint64_t> graph =
              operation.graph_node == 0 ? std::nullopt : std::optional<uint64_t>(graph_of(operation.graph_node));
          add(kernels, text.demangled, text.base, text.mangled, kernel.launch_type + 1, std::nullopt, kernel.registers,
              kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0], kernel.block[1], kernel.block[2],
              kernel.static_shared_bytes, kernel.dynamic_shared_bytes, kernel.local_bytes, std::nullopt, std::nullopt,
              std::nullopt, node, graph, std::nullopt, std::nullopt, std::nullopt);
          break;
        }
        case GpuKind::Copy: {
          const auto peer = [](uint64_t one_more) {
            return one_more == 0 ? std::nullopt : std::optional<uint64_t>(one_more - 1);
          };
          add(copies, uint64_t{operation.bytes}, operation.copy_kind(), std::nullopt,
              nsys_memory_kind(operation.source_memory()), nsys_memory_kind(operation.destination_memory()),
              peer(operation.peer_source), std::nullopt, peer(operation.peer_destination), std::nullopt, std::nullopt,
              node, std::nullopt, std::nullopt);
          break;
        }
        case GpuKind::Fill:
          add(fills, std::nullopt, uint64_t{operation.bytes}, node, nsys_memory_kind(operation.memory_kind()));
          break;
        case GpuKind::Graph: add(graphs, number_of_graph(operation), graph_of(operation.graph_node)); break;
      }
    }
  }

  // The number in the name "[CUDA graph 7]"; else that of the executable graph.
  uint32_t number_of_graph(const GpuOperation& operation) const {
    constexpr std::string_view kBegin = "[CUDA graph ";
    const std::string_view name = names_.name(operation, NameForm::Mangled);
    if (!name.starts_with(kBegin)) return graph_of(operation.graph_node);
    return static_cast<uint32_t>(std::strtoul(std::string(name.substr(kBegin.size())).c_str(), nullptr, 10));
  }

  void synchronizations_and_events() {
    SqlTable<nsys::kSyncColumns.size()> table(file_, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", nsys::kSyncColumns);
    SqlTable<nsys::kEventColumns.size()> events(file_, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", nsys::kEventColumns);
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, int64_t> records;
    for (const Sync& sync : syncs_) {
      const Stream* const stream = sync.stream == kNone ? nullptr : &trace_.streams[sync.stream];
      const std::optional<uint64_t> id =
          sync.call != kNone ? correlation_.of_call(sync.call) : correlation_.moved(sync.process, sync.correlation);
      const bool of_event = sync.kind == SyncKind::Event || sync.kind == SyncKind::StreamWaitEvent;
      int64_t record_number = 0;
      if (of_event && sync.record_on != kNone) {
        const auto [found, added] =
            records.try_emplace({index(sync.process), sync.record, sync.record_correlation, sync.record_on},
                                static_cast<int64_t>(records.size()) + 1);
        record_number = found->second;
        const Stream& on = trace_.streams[sync.record_on];
        const std::optional<uint64_t> record = sync.record != kNone
                                                   ? correlation_.of_call(sync.record)
                                                   : correlation_.moved(sync.process, sync.record_correlation);
        if (added)
          events.add(std::nullopt, trace_.device(on.device).ordinal, on.context, green_context(on), on.number, record,
                     ids_.process(sync.process), sync.event, record_number);
      }
      const std::optional<int64_t> green = stream == nullptr ? std::nullopt : green_context(*stream);
      table.add(time(sync.begin_ns), time(sync.end_ns),
                sync.device == nullptr ? kNoCuptiNumber : int64_t{sync.device->ordinal},
                sync.device == nullptr ? kNoCuptiNumber : int64_t{sync.context}, green,
                stream == nullptr ? kNoCuptiNumber : int64_t{stream->number}, id, ids_.process(sync.process),
                std::nullopt, static_cast<int>(sync.kind), of_event ? int64_t{sync.event} : kNoCuptiNumber,
                record_number);
    }
  }

  // Domains are created where they are first used in their process. 0 is NVTX's default domain.
  int64_t domain_of(ThreadId thread, StringId domain, int64_t time_ns) {
    if (domain == StringId{}) return 0;
    const ProcessId process = trace_.thread(thread).process;
    const auto [found, added] = domains_.try_emplace({index(process), domain}, 0);
    if (!added) return found->second;
    found->second = ++last_domain_[index(process)];
    name_row(kDomainCreate, thread, domain, found->second, std::nullopt, time_ns);
    return found->second;
  }

  void name_row(EventType type, ThreadId thread, StringId text, int64_t domain, std::optional<uint32_t> category,
                int64_t time_ns) {
    ranges_.add(time(time_ns), std::nullopt, static_cast<int>(type), std::nullopt, category, std::nullopt,
                trace_.text(text), ids_.thread(thread), std::nullopt, std::nullopt, domain, std::nullopt, std::nullopt,
                std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  }

  // The values of an extended payload as one JSON object; empty: there is none.
  std::string json_of(const Range& range) const {
    std::string json;
    const Rows values = trace_.payload_of(range);
    for (uint32_t row = values.first; row < values.last; ++row) {
      const PayloadValue& value = trace_.payload_values[row];
      json += fmt::format("{}{}: {}", json.empty() ? "{" : ", ", json_string(trace_.text(value.name)),
                          trace_.text(value.json));
    }
    return json.empty() ? json : json + "}";
  }

  void range(const Range& range, uint32_t row) {
    if (range.kind == RangeKind::Python) {
      ++python_;
      return;
    }
    if (range.kind == RangeKind::Overhead) {
      if (!overheads_) overheads_.emplace(file_, "PROFILER_OVERHEAD", nsys::kOverheadColumns);
      constexpr int kUnknown = 1;
      overheads_->add(time(range.begin_ns), time(range.end_ns), ids_.thread(range.thread),
                      strings_[trace_.labels[index(range.label)].text], kUnknown);
      return;
    }
    const Label& label = trace_.labels[index(range.label)];
    const int64_t domain = domain_of(range.thread, label.domain, range.begin_ns);
    if (label.category_name != StringId{} &&
        categories_.emplace(index(trace_.thread(range.thread).process), domain, label.category).second)
      name_row(kCategory, range.thread, label.category_name, domain, label.category, range.begin_ns);
    const EventType type = range.style == RangeStyle::Mark       ? kMark
                           : range.style == RangeStyle::StartEnd ? kStartEnd
                                                                 : kPushPop;
    std::optional<int64_t> end, closed_by;
    if (type != kMark && !range.unfinished) end = time(range.end_ns);
    if (range.other_thread) {
      const auto found = trace_.ended_by.find(row);
      if (found != trace_.ended_by.end()) closed_by = ids_.thread(found->second);
    }
    const auto payload = [&](uint8_t type_of, auto value) {
      const bool has = range.kind == RangeKind::Nvtx && range.payload_type == type_of;
      return has ? std::optional(value) : std::nullopt;
    };
    const auto low = static_cast<uint32_t>(range.payload);
    const std::string json = json_of(range);
    ranges_.add(time(range.begin_ns), end, static_cast<int>(type), std::nullopt,
                label.category == 0 ? std::nullopt : std::optional(label.category),
                label.has_color ? std::optional(label.color) : std::nullopt, std::nullopt, ids_.thread(range.thread),
                closed_by, strings_[label.text], domain, payload(1, range.payload),
                payload(2, static_cast<int64_t>(range.payload)), payload(3, std::bit_cast<double>(range.payload)),
                payload(4, low), payload(5, static_cast<int>(low)), payload(6, double{std::bit_cast<float>(low)}),
                std::nullopt, json.empty() ? std::nullopt : std::optional(std::string_view(json)), std::nullopt);
  }

  // What the recording lost and what is damaged, of each process.
  void diagnostics() {
    SqlTable<nsys::kDiagnosticColumns.size()> table(file_, "DIAGNOSTIC_EVENT", nsys::kDiagnosticColumns);
    constexpr int kTarget = 1, kAnalysis = 3, kInfo = 1, kWarning = 2;
    for (uint32_t p = 0; p < trace_.processes.size(); ++p) {
      const Process& process = trace_.processes[p];
      const int64_t pid = ids_.process(ProcessId{p});
      const auto put = [&](int severity, std::string_view text) {
        table.add(time(std::max<int64_t>(process.last_ns, 0)), kTarget, kAnalysis, severity, text, pid);
      };
      put(kInfo, coverage_line(process));
      for (const std::string& text : process.damage) put(kWarning, text);
      for (const std::string& text : process.partial) put(kWarning, text);
    }
  }

  std::vector<std::string> left_out() const {
    std::vector<std::string> lines;
    const auto count = [&](uint64_t number, std::string_view what) {
      if (number != 0) lines.push_back(fmt::format("{} {}", number, what));
    };
    count(python_, "Python functions have no table in an nsys export");
    count(trace_.unified.size(), "events of unified memory are not exported");
    count(trace_.memory.size(), "allocations of a framework have no table in an nsys export");
    count(trace_.counter_samples.size(), "NVTX samples are not exported");
    count(ids_.renumbered(), "processes and threads have numbers above 24 bits: they have other numbers in the export");
    return lines;
  }

  const Trace& trace_;
  DatabaseFile& file_;
  const int64_t start_ns_, moved_ns_;
  NsysStrings strings_;
  const NsysIds ids_;
  const std::vector<Sync> syncs_;
  const CorrelationIds correlation_;
  const KernelNames names_;
  std::vector<KernelText> kernel_texts_;
  SqlTable<nsys::kRangeColumns.size()> ranges_;
  std::optional<SqlTable<nsys::kOverheadColumns.size()>> overheads_;
  std::map<std::pair<uint32_t, StringId>, int64_t> domains_;  // process, name
  std::map<uint32_t, int64_t> last_domain_;                   // of each process
  std::set<std::tuple<uint32_t, int64_t, uint32_t>> categories_;
  uint64_t python_ = 0;
};

}  // namespace

std::vector<std::string> write_nsys_database(const Trace& trace, DatabaseFile& file) {
  return NsysExport(trace, file).run();
}

}  // namespace prof::analyzer
