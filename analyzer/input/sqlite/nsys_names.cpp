#include "analyzer/input/sqlite/nsys_names.h"

#include "analyzer/base/input_error.h"
#include "analyzer/model/physical_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace prof::analyzer {

namespace {

// Tables that this importer reads, and tables that only describe others.
constexpr std::string_view kRead[] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
                                      "CUPTI_ACTIVITY_KIND_KERNEL",
                                      "CUPTI_ACTIVITY_KIND_MEMCPY",
                                      "CUPTI_ACTIVITY_KIND_MEMSET",
                                      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                      "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                      "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                                      "CUPTI_ACTIVITY_KIND_OVERHEAD",
                                      "PROFILER_OVERHEAD",
                                      "NVTX_EVENTS",
                                      "DIAGNOSTIC_EVENT"};

// Tables with events of other subjects than CUDA work and NVTX ranges.
constexpr std::string_view kOfOtherSubjects[] = {
    "OSRT_*",       "CUDNN_*",     "CUBLAS_*",     "CUSPARSE_*",    "CUFFT_*",      "CUDA_UM_*", "CUDA_GPU_*",
    "CUDA_GRAPH_*", "COMPOSITE_*", "SAMPLING_*",   "SCHED_*",       "PERF_EVENT_*", "GPU_*",     "GENERIC_*",
    "NIC_*",        "IB_*",        "NET_*",        "NETWORK_*",     "NVVIDEO_*",    "NVMEDIA_*", "OPENGL_*",
    "KHR_DEBUG_*",  "VULKAN_*",    "DX11_*",       "DX12_*",        "D3D*",         "WDDM_*",    "ETW_*",
    "FTRACE_*",     "MPI_*",       "UCX_*",        "NVSHMEM_*",     "OPENMP_*",     "OPENACC_*", "QNX_*",
    "SLI_*",        "SYSCALL*",    "FECS_*",       "HYPERVISOR_*",  "MEMORY_*",     "PYTHON_*",  "STUTTER_*",
    "DIAGNOSTIC_*", "CPU_*",       "CPU_CYCLES_*", "UNCORE_PMU_*",  "SOC_*",        "STORAGE_*", "TARGET_INFO_*",
    "ENUM_*",       "META_DATA_*", "ANALYSIS_*",   "EVENT_SOURCE*", "XHV_*"};

// Columns of TARGET_INFO_GPU and Kineto's names for them.
struct GpuProperty {
  std::string_view column, name;
};
constexpr auto kGpuProperties = std::to_array<GpuProperty>({
#define PROF_NSYS_GPU(column, name) {column, name},
#include "analyzer/input/sqlite/nsys_gpu_columns.def"
#undef PROF_NSYS_GPU
});

struct Gpu {
  std::string name, uuid;
  std::vector<std::pair<std::string, uint64_t>> properties;
};

std::map<int64_t, Gpu> read_gpus(const SqliteFile& file) {
  std::map<int64_t, Gpu> gpus;
  constexpr size_t kFirstColumn = 4;
  SqliteRows in(file, "TARGET_INFO_GPU",
                {"id", "name", "uuid", "maxWarpsPerSm"
#define PROF_NSYS_GPU(column, name) , column
#include "analyzer/input/sqlite/nsys_gpu_columns.def"
#undef PROF_NSYS_GPU
                });
  while (in.next()) {
    Gpu gpu;
    gpu.name = in.text(1);
    gpu.uuid = in.text(2);
    const int64_t warps = in.integer_or(3, 0);
    for (size_t i = 0; i < kGpuProperties.size(); ++i) {
      const std::optional<int64_t> value = in.integer(kFirstColumn + i);
      if (!value || *value < 0) continue;
      const std::string name(kGpuProperties[i].name);
      gpu.properties.emplace_back(name, static_cast<uint64_t>(*value));
      if (name == "warpSize" && warps > 0 && warps <= UINT16_MAX && *value <= UINT16_MAX)
        gpu.properties.emplace_back("maxThreadsPerMultiprocessor", static_cast<uint64_t>(warps * *value));
    }
    gpus.emplace(in.integer_or(0, 0), std::move(gpu));
  }
  return gpus;
}

}  // namespace

NsysNames::NsysNames(const SqliteFile& file) {
  const std::vector<std::string> tables = file.tables();
  const bool known = std::any_of(tables.begin(), tables.end(), [](const std::string& table) {
    return table.starts_with("CUPTI_ACTIVITY_KIND_") || table.starts_with("TARGET_INFO_") ||
           table.starts_with("NVTX_EVENTS") || table.starts_with("PROFILER_OVERHEAD");
  });
  if (!known || !file.has_table(file.versioned("StringIds"))) {
    std::string some;
    for (size_t i = 0; i < tables.size() && i < 8; ++i) some += (i == 0 ? "" : ", ") + tables[i];
    throw InputError(fmt::format(
        "{}: a SQLite database, but neither an export of Nsight Systems nor a profile of nvprof: {}", file.path(),
        tables.empty() ? "it has no tables"
                       : fmt::format("its tables are {}{}", some, tables.size() > 8 ? ", …" : "")));
  }
  SqliteRows in(file, "StringIds", {"id", "value"});
  while (in.next()) {
    const std::optional<int64_t> id = in.integer(0);
    if (id) texts_.emplace(*id, in.text(1));
  }
  problems_ = in.problems();
}

void describe_nsys_session(const SqliteFile& file, const NsysNames& names, ActivityRows& rows) {
  Trace& trace = rows.trace();
  SqliteRows processes(file, "PROCESSES", {"globalPid", "pid", "name"});
  std::unordered_map<uint64_t, std::string> executables;
  while (processes.next()) {
    const uint64_t process = static_cast<uint64_t>(processes.integer_or(0, 0)) >> kNsysTidBits;
    const std::string name(processes.text(2));
    executables[process] = name;
    executables.try_emplace(process & kNsysIdMask, name);
  }
  rows.for_each_process([&](uint64_t key, ProcessId id) {
    auto found = executables.find(key);
    if (found == executables.end()) found = executables.find(key & kNsysIdMask);
    if (found != executables.end()) trace.processes[index(id)].executable = found->second;
  });
  struct NamedThread {
    std::string_view name;
    std::optional<int32_t> priority;
  };
  std::unordered_map<uint64_t, NamedThread> named_threads;
  SqliteRows threads(file, "ThreadNames", {"globalTid", "nameId", "priority"});
  while (threads.next()) {
    NamedThread& thread =
        named_threads[static_cast<uint64_t>(threads.integer_or(0, 0)) & ((uint64_t{1} << 2 * kNsysTidBits) - 1)];
    thread.name = names[threads.integer_or(1, -1)];
    const std::optional<int64_t> priority = threads.integer(2);
    const bool fits = priority && *priority >= std::numeric_limits<int32_t>::min() &&
                      *priority <= std::numeric_limits<int32_t>::max();
    thread.priority = fits ? std::optional(static_cast<int32_t>(*priority)) : std::nullopt;
  }
  for (uint32_t t = rows.mark().threads; t < trace.threads.size(); ++t) {
    Thread& thread = trace.threads[t];
    const auto found =
        named_threads.find(uint64_t{trace.processes[index(thread.process)].pid} << kNsysTidBits | thread.tid);
    if (found == named_threads.end()) continue;
    thread.name = found->second.name;
    thread.priority = found->second.priority;
  }
  SqliteRows environment(file, "TARGET_INFO_SYSTEM_ENV", {"name", "value", "globalVid"});
  while (environment.next()) {
    const std::string_view name = environment.text(0);
    if (name == "Hostname") {
      const std::string host(environment.text(1));
      const std::optional<int64_t> vid = environment.integer(2);
      rows.for_each_process([&](uint64_t key, ProcessId id) {
        std::string& of_process = trace.processes[index(id)].host;
        const bool same = vid && static_cast<uint64_t>(*vid) >> kNsysTidBits == (key & ~uint64_t{kNsysIdMask});
        if (same || of_process.empty()) of_process = host;
      });
    } else if (name == "NvDriverVersion" || name == "CudaDriverVersion" || name == "OsDescription") {
      rows.fact(std::string(name), std::string(environment.text(1)));
    }
  }
  SqliteRows exported(file, "META_DATA_EXPORT", {"name", "value"});
  while (exported.next()) {
    const std::string_view name = exported.text(0);
    if (name == "EXPORT_PRODUCT_NAME" || name == "EXPORT_PRODUCT_VERSION" || name == "EXPORT_SCHEMA_VERSION")
      rows.fact(std::string(name), std::string(exported.text(1)));
  }
  rows.note_unread(file, kRead, kOfOtherSubjects);
  for (const std::string& problem : names.problems()) rows.note_problem(problem);
  for (const SqliteRows* each : {&processes, &threads, &environment, &exported}) rows.note_problems(*each);
}

std::optional<int64_t> nsys_session_start(const SqliteFile& file) {
  constexpr int64_t kLatest = int64_t{1} << 62;  // the year 2116
  SqliteRows in(file, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"});
  const std::optional<int64_t> start = in.next() ? in.integer(0) : std::nullopt;
  return start && *start >= 0 && *start < kLatest ? start : std::nullopt;
}

void name_nsys_devices(const SqliteFile& file, const ImportMark& mark, Trace& trace) {
  const std::map<int64_t, Gpu> gpus = read_gpus(file);
  std::map<std::pair<uint32_t, uint32_t>, int64_t> gpu_of;  // pid, ordinal
  SqliteRows cuda(file, "TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId"});
  while (cuda.next()) {
    if (const std::optional<int64_t> gpu = cuda.integer(2)) gpu_of[{cuda.number(0), cuda.number(1)}] = *gpu;
  }
  const auto gpu_of_device = [&](uint32_t d) -> std::optional<int64_t> {
    const Device& device = trace.devices[d];
    const auto known = gpu_of.find({trace.processes[index(device.process)].pid, device.ordinal});
    return known != gpu_of.end() ? std::optional(known->second) : std::nullopt;
  };
  join_physical_gpus(trace, mark.devices, gpu_of_device);
  for (uint32_t d = mark.devices; d < trace.devices.size(); ++d) {
    Device& device = trace.devices[d];
    const auto gpu = gpus.find(gpu_of_device(d).value_or(device.ordinal));
    if (gpu == gpus.end()) continue;
    device.name = gpu->second.name;
    device.uuid = gpu->second.uuid;
    device.properties = gpu->second.properties;
  }
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, int64_t> priorities;  // pid, context, stream
  SqliteRows streams(file, "TARGET_INFO_CUDA_STREAM", {"processId", "contextId", "streamId", "priority"});
  while (streams.next()) {
    // nsys writes the int as an unsigned number: 4294967291 is -5.
    if (const std::optional<int64_t> priority = streams.integer(3))
      priorities[{streams.number(0), streams.number(1), streams.number(2)}] = static_cast<int32_t>(*priority);
  }
  for (uint32_t s = mark.streams; s < trace.streams.size(); ++s) {
    Stream& stream = trace.streams[s];
    const auto known = priorities.find(
        {trace.processes[index(trace.device(stream.device).process)].pid, stream.context, stream.number});
    if (known == priorities.end()) continue;
    stream.priority = known->second;
    stream.priority_known = true;
  }
  for (uint32_t h = mark.host_streams; h < trace.host_streams.size(); ++h) {
    HostStream& stream = trace.host_streams[h];
    if (stream.stream != kNone) stream.priority = trace.streams[stream.stream].priority;
  }
}

}  // namespace prof::analyzer
