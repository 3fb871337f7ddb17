// Writes a profile of nvprof: CUPTI's activities, one table each, as `nvprof --export-profile` does. Times are ns since
// 1970.
//
// torch.autograd.profiler.load_nvprof finds the kernels of a range through rows of RUNTIME. It requires that each call
// with a kernel is cudaLaunchKernel (callback id 211) and has one kernel. So each kernel that a call launched gets such
// a row with the times of the call. The first has the call's id, the others have ids of their own. The call itself is
// in DRIVER, or in RUNTIME with an id that no kernel has. cudaLaunchKernel with one kernel is one row.
#include "analyzer/model/names.h"
#include "analyzer/output/sqlite/databases.h"
#include "analyzer/output/sqlite/export_ids.h"
#include "analyzer/output/sqlite/nvprof_schema.h"

#include <fmt/format.h>

#include <cstring>
#include <unordered_map>

namespace prof::analyzer {

namespace {

constexpr uint32_t kLaunchKernel = 211;  // callback id of cudaLaunchKernel
// CUPTI's flags of a marker, and its kind of object for a thread.
constexpr int kMarkerMark = 1, kMarkerStart = 2, kMarkerEnd = 4, kThreadObject = 2;

// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel"
std::string_view without_version(std::string_view name) {
  const size_t at = name.rfind("_v");
  const bool is_version = at != std::string_view::npos && name.size() - at >= 6 &&
                          name.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return is_version ? name.substr(0, at) : name;
}

// Callback ids by the names of functions, with and without the toolkit's version.
class CallbackIds {
 public:
  struct Id {
    bool of_runtime = false;
    uint32_t number = 0;  // 0: CUPTI has no number for the function, or it is not in the list
  };
  CallbackIds() {
    enum { kRuntime, kDriver };
    const auto put = [&](int kind, uint32_t number, std::string_view name) {
      ids_.try_emplace(name, Id{kind == kRuntime, number});
      if (kind != kRuntime) return;
      const auto [found, added] = ids_.try_emplace(without_version(name), Id{true, number});
      if (!added) newest_[found->first] = Id{true, number};
    };
#define PROF_CALLBACK(kind, id, name) put(k##kind, id, name);
#include "analyzer/input/sqlite/cupti_callbacks.def"
#undef PROF_CALLBACK
  }
  Id of(std::string_view name) const {
    if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
    // libcudart exports the newer of two forms as NAME_v2; CUPTI names both by the version of the toolkit.
    if (name.ends_with("_v2")) {
      const auto found = newest_.find(name.substr(0, name.size() - 3));
      if (found != newest_.end()) return found->second;
    }
    return {name.starts_with("cuda") || name.starts_with("__cuda"), 0};
  }

 private:
  std::unordered_map<std::string_view, Id> ids_, newest_;
};

class NvprofExport {
 public:
  NvprofExport(const Trace& trace, DatabaseFile& file)
      : trace_(trace),
        correlation_(trace, CorrelationIds::Unique::InFile, {}),
        names_(trace),
        strings_(file, "StringTable", nvprof::kStringColumns),
        runtime_(file, "CUPTI_ACTIVITY_KIND_RUNTIME", nvprof::kCallColumns),
        driver_(file, "CUPTI_ACTIVITY_KIND_DRIVER", nvprof::kCallColumns),
        markers_(file, "CUPTI_ACTIVITY_KIND_MARKER", nvprof::kMarkerColumns),
        file_(file) {}

  std::vector<std::string> run() {
    strings_.open();  // readers expect these tables
    runtime_.open();
    markers_.open();
    (void)text("");
    calls();
    operations();
    for (const Range& range : trace_.ranges) add(range);
    for (const Range& mark : trace_.marks) add(mark);
    devices();
    return left_out();
  }

 private:
  int64_t time(int64_t ns) const { return ns + static_cast<int64_t>(trace_.start_realtime_ns); }

  int64_t text(std::string_view value) {
    const auto [found, added] = ids_of_texts_.try_emplace(std::string(value), ids_of_texts_.size() + 1);
    if (added) strings_.add(found->second, value);
    return static_cast<int64_t>(found->second);
  }
  int64_t text(StringId value) {
    if (of_string_.empty()) of_string_.resize(trace_.strings.size());
    int64_t& known = of_string_[static_cast<uint32_t>(value)];
    if (known == 0) known = text(trace_.text(value));
    return known;
  }

  void add_call(SqlTable<nvprof::kCallColumns.size()>& table, uint64_t& rows, uint32_t callback, const HostEvent& event,
                std::optional<uint64_t> id) {
    const Thread& thread = trace_.thread(event.thread);
    table.add(++rows, callback, time(event.begin_ns), time(event.end_ns), trace_.processes[index(thread.process)].pid,
              thread.tid, id, event.result());
  }

  void calls() {
    const CallbackIds callbacks;
    std::vector<CallbackIds::Id> of_api(trace_.apis.size());
    for (size_t api = 0; api < of_api.size(); ++api) of_api[api] = callbacks.of(trace_.text(trace_.apis[api]));
    kernels_of_.resize(trace_.host.size());
    for (const GpuOperation& operation : trace_.operations) {
      if (operation.linked() && operation.has_kernel() && kernels_of_[operation.launch] < kSeveral)
        ++kernels_of_[operation.launch];
    }
    has_row_.resize(trace_.host.size());
    for (uint32_t row = 0; row < trace_.host.size(); ++row) {
      const HostEvent& event = trace_.host[row];
      const CallbackIds::Id callback = of_api[event.api()];
      const std::optional<uint64_t> id = correlation_.of_call(row);
      if (callback.number == 0) ++unnamed_;
      if (!callback.of_runtime) {
        add_call(driver_, driver_rows_, callback.number, event, id);
      } else if (kernels_of_[row] == 0) {
        add_call(runtime_, runtime_rows_, callback.number, event, id);
      } else if (kernels_of_[row] == 1 && trace_.api_name(event).find("LaunchKernel") != std::string_view::npos &&
                 callback.number == kLaunchKernel) {
        add_call(runtime_, runtime_rows_, callback.number, event, id);
        has_row_[row] = true;
      } else {
        add_call(runtime_, runtime_rows_, callback.number, event,
                 correlation_.fresh(trace_.thread(event.thread).process));
      }
    }
  }

  // The id of a kernel, with a row of cudaLaunchKernel that has it.
  std::optional<uint64_t> launched(const GpuOperation& operation) {
    const std::optional<uint64_t> id = correlation_.of_operation(operation);
    if (!operation.linked() || (has_row_[operation.launch] && kernels_of_[operation.launch] == 1)) return id;
    const HostEvent& event = trace_.host[operation.launch];
    const bool first = !has_row_[operation.launch];
    has_row_[operation.launch] = true;
    const std::optional<uint64_t> own =
        first ? id : std::optional(correlation_.fresh(trace_.thread(event.thread).process));
    add_call(runtime_, runtime_rows_, kLaunchKernel, event, own);
    ++added_;
    return own;
  }

  void operations() {
    SqlTable<nvprof::kKernelColumns.size()> kernels(file_, "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
                                                    nvprof::kKernelColumns);
    kernels.open();
    SqlTable<nvprof::kCopyColumns.size()> copies(file_, "CUPTI_ACTIVITY_KIND_MEMCPY", nvprof::kCopyColumns);
    SqlTable<nvprof::kPeerColumns.size()> peers(file_, "CUPTI_ACTIVITY_KIND_MEMCPY2", nvprof::kPeerColumns);
    SqlTable<nvprof::kFillColumns.size()> fills(file_, "CUPTI_ACTIVITY_KIND_MEMSET", nvprof::kFillColumns);
    std::vector<int64_t> texts(trace_.kernels.size());
    uint64_t kernel_rows = 0, copy_rows = 0, peer_rows = 0, fill_rows = 0;
    for (const GpuOperation& operation : trace_.operations) {
      const Stream& stream = trace_.stream(operation.stream());
      const uint32_t device = trace_.device(stream.device).ordinal;
      const int64_t start = time(operation.start_ns), end = time(operation.end_ns);
      if (operation.has_kernel()) {
        const Kernel& kernel = trace_.kernels[operation.detail];
        const KernelId named_by = names_.named_by(operation);
        int64_t& name = texts[index(named_by)];
        if (name == 0) name = text(names_.name(named_by, NameForm::Mangled));
        kernels.add(++kernel_rows, std::nullopt, std::nullopt, kernel.registers, start, end, end, device,
                    stream.context, stream.number, kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0],
                    kernel.block[1], kernel.block[2], kernel.static_shared_bytes, kernel.dynamic_shared_bytes,
                    kernel.local_bytes, std::nullopt, launched(operation), std::nullopt, name, kernel.launch_type);
        continue;
      }
      const std::optional<uint64_t> id = correlation_.of_operation(operation);
      if (operation.kind() == GpuKind::Fill) {
        fills.add(++fill_rows, std::nullopt, uint64_t{operation.bytes}, start, end, device, stream.context,
                  stream.number, id, std::nullopt, operation.memory_kind());
        continue;
      }
      const auto put = [&](auto& table, uint64_t& rows, const auto&... cells) {
        table.add(++rows, operation.copy_kind(), operation.source_memory(), operation.destination_memory(),
                  std::nullopt, uint64_t{operation.bytes}, start, end, device, stream.context, stream.number, id,
                  cells...);
      };
      if (operation.peer_source != 0 && operation.peer_destination != 0) {
        put(peers, peer_rows, uint64_t{operation.peer_source} - 1, std::nullopt,
            uint64_t{operation.peer_destination} - 1, std::nullopt);
      } else {
        put(copies, copy_rows, std::nullopt);
      }
    }
  }

  // A range is two rows with one id, of which only the first has a name.
  void add(const Range& range) {
    if (range.kind == RangeKind::Python || range.kind == RangeKind::Overhead) {
      ++(range.kind == RangeKind::Python ? python_ : overheads_);
      return;
    }
    const Label& label = trace_.labels[index(range.label)];
    const int64_t domain = label.domain == StringId{} ? 0 : text(label.domain);
    const auto put = [&](int flags, int64_t time_ns, ThreadId id_of_thread, int64_t name) {
      const Thread& thread = trace_.thread(id_of_thread);
      const uint32_t words[2] = {trace_.processes[index(thread.process)].pid, thread.tid};
      char object[12] = {};
      std::memcpy(object, words, sizeof words);
      markers_.add(++marker_rows_, flags, time(time_ns), marker_, kThreadObject,
                   SqlBytes{std::string_view(object, sizeof object)}, name, domain);
    };
    ++marker_;
    if (range.style == RangeStyle::Mark) {
      put(kMarkerMark, range.begin_ns, range.thread, text(label.text));
      return;
    }
    put(kMarkerStart, range.begin_ns, range.thread, text(label.text));
    if (range.unfinished) return;
    const auto other = range.other_thread ? trace_.ended_by.find(static_cast<uint32_t>(&range - trace_.ranges.begin()))
                                          : trace_.ended_by.end();
    put(kMarkerEnd, range.end_ns, other == trace_.ended_by.end() ? range.thread : other->second, 0);
  }

  void devices() {
    SqlTable<nvprof::kDeviceColumns.size()> devices(file_, "CUPTI_ACTIVITY_KIND_DEVICE", nvprof::kDeviceColumns);
    std::vector<uint32_t> seen;
    for (const Device& device : trace_.devices) {
      if (std::find(seen.begin(), seen.end(), device.ordinal) != seen.end()) continue;
      seen.push_back(device.ordinal);
      const auto property = [&](std::string_view name, uint64_t unit = 1) -> std::optional<uint64_t> {
        for (const auto& [key, value] : device.properties) {
          if (key == name) return value / unit;
        }
        return std::nullopt;
      };
      constexpr uint64_t kKilo = 1000;  // CUPTI has kHz and kB/s
      devices.add(uint64_t{seen.size()}, property("memoryBandwidthBytesPerSecond", kKilo), property("totalGlobalMem"),
                  property("warpSize"), property("numSms"), property("regsPerBlock"), property("sharedMemPerBlock"),
                  property("maxThreadsPerBlock"), property("clockRateHz", kKilo), property("computeMajor"),
                  property("computeMinor"), device.ordinal, text(std::string_view(device.name)));
    }
  }

  std::vector<std::string> left_out() const {
    std::vector<std::string> lines;
    const auto count = [&](uint64_t number, std::string_view what) {
      if (number != 0) lines.push_back(fmt::format("{} {}", number, what));
    };
    count(added_,
          "rows of cudaLaunchKernel were added for kernels of other calls, because readers find kernels by them");
    count(unnamed_, "calls have no callback id: their names are not in the profile");
    count(python_, "Python functions have no table in a profile of nvprof");
    count(overheads_, "ranges of profiler overhead are not exported");
    count(trace_.syncs.size(), "synchronisation records are not exported");
    count(trace_.unified.size(), "events of unified memory are not exported");
    count(trace_.memory.size(), "allocations of a framework have no table in a profile of nvprof");
    count(trace_.counter_samples.size(), "NVTX samples are not exported");
    return lines;
  }

  static constexpr uint8_t kSeveral = 2;
  const Trace& trace_;
  CorrelationIds correlation_;
  const KernelNames names_;
  SqlTable<nvprof::kStringColumns.size()> strings_;
  SqlTable<nvprof::kCallColumns.size()> runtime_, driver_;
  SqlTable<nvprof::kMarkerColumns.size()> markers_;
  DatabaseFile& file_;
  std::unordered_map<std::string, uint64_t> ids_of_texts_;
  std::vector<int64_t> of_string_;
  std::vector<uint8_t> kernels_of_;  // of each call, at most kSeveral
  std::vector<bool> has_row_;        // of each call: a kernel has the id of its row of cudaLaunchKernel
  uint64_t runtime_rows_ = 0, driver_rows_ = 0, marker_rows_ = 0;
  int64_t marker_ = 0;
  uint64_t added_ = 0, unnamed_ = 0, python_ = 0, overheads_ = 0;
};

}  // namespace

std::vector<std::string> write_nvprof_database(const Trace& trace, DatabaseFile& file) {
  return NvprofExport(trace, file).run();
}

}  // namespace prof::analyzer
