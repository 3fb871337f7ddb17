// What stands before the first range of a CounterSession: may this GPU be measured, with which metrics, in how many passes?
#include "preload/capture/counter_params.h"
#include "preload/capture/counter_session.h"
#include "preload/capture/decimal.h"
#include "preload/intercept/driver.h"

namespace prof::preload {

#if PROF_RANGE_PROFILER

namespace {

const char* missing_function(const Cupti& api) {
  const char* missing = nullptr;
#define PROF_CUPTI_FUNCTION(name, need)                                 \
  if constexpr (std::string_view(#name).starts_with("cuptiRange") ||    \
                std::string_view(#name).starts_with("cuptiProfiler") || \
                std::string_view(#name) == "cuptiDeviceGetChipName") {  \
    if (api.name == nullptr) missing = #name;                           \
  }
#include "preload/capture/cupti_functions.def"
#undef PROF_CUPTI_FUNCTION
  return missing;
}

const char* remedy(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return ": run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0 "
             "(https://developer.nvidia.com/ERR_NVGPUCTRPERM)";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_HARDWARE_BUSY: return ": another tool measures on this GPU; end it";
    default: return "";
  }
}

bool is_part_of_gpu(uint32_t device) {
  char name[256] = "";
  return g_driver.cuDeviceGetName != nullptr &&
         g_driver.cuDeviceGetName(name, sizeof name, static_cast<CUdevice>(device)) == CUDA_SUCCESS &&
         std::strstr(name, " MIG ") != nullptr;
}

// What CUPTI knows of a name, asked of its lists: tens of thousands of names, once a context.
struct HostLists {
  const Cupti* api;
  CUpti_Profiler_Host_Object* host;
};
bool is_listed(const HostLists& lists, CUpti_MetricType type, std::string_view name) {
  auto params = PROF_PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params);
  params.pHostObject = lists.host;
  params.metricType = type;
  if (lists.api->cuptiProfilerHostGetBaseMetrics(&params) != CUPTI_SUCCESS) return false;
  for (size_t i = 0; i < params.numMetrics; ++i) {
    if (name == params.ppMetricNames[i]) return true;
  }
  return false;
}
MetricKind kind_of(const void* chip, std::string_view name) {
  const auto& lists = *static_cast<const HostLists*>(chip);
  if (is_listed(lists, CUPTI_METRIC_TYPE_COUNTER, name)) return MetricKind::Counter;
  const bool other =
      is_listed(lists, CUPTI_METRIC_TYPE_RATIO, name) || is_listed(lists, CUPTI_METRIC_TYPE_THROUGHPUT, name);
  return other ? MetricKind::Other : MetricKind::Unknown;
}

}  // namespace

bool CounterSession::refuse(const char* what, CUptiResult result, const char* name) {
  const char* text = nullptr;
  const bool named =
      api_->cuptiGetResultString != nullptr && api_->cuptiGetResultString(result, &text) == CUPTI_SUCCESS;
  join(reason_, sizeof reason_, {what, name, ": ", named && text != nullptr ? text : "an error", remedy(result)});
  return false;
}

bool CounterSession::open(const Cupti& api, CUcontext context, uint32_t device, std::string_view wanted) {
  api_ = &api;
  context_ = context;
  if (const char* const missing = missing_function(api); missing != nullptr) {
    join(reason_, sizeof reason_, {"this CUPTI has no ", missing, ": the range profiler came with CUDA 12.6"});
    return false;
  }
  static bool initialized = false;  // once a process; sessions are opened by one thread at a time
  if (!initialized) {
    auto params = PROF_PARAMS(CUpti_Profiler_Initialize_Params);
    if (const CUptiResult result = api.cuptiProfilerInitialize(&params); result != CUPTI_SUCCESS)
      return refuse("cuptiProfilerInitialize", result);
    initialized = true;
  }
  if (check_device(device) && open_host(context)) {
    const HostLists lists{api_, host_};
    if (const char* const why = choose_metrics(wanted, {kind_of, &lists}, metrics_); why != nullptr) {
      join(reason_, sizeof reason_,
           {metrics_.wrong, metrics_.wrong.empty() ? "" : " is ", why, " (", chip_,
            "); prof record --counters list:", chip_, " prints its metrics"});
    } else if (add_metrics() && make_config() && open_profiler()) {
      return true;
    }
  }
  const size_t said = std::strlen(reason_);
  if (is_part_of_gpu(device))
    join(reason_ + said, sizeof reason_ - said,
         {" (the device is a part of a GPU by MIG; counters of a whole GPU need a whole one)"});
  close();
  return false;
}

bool CounterSession::check_device(uint32_t device) {
  auto support = PROF_PARAMS(CUpti_Profiler_DeviceSupported_Params);
  support.cuDevice = static_cast<CUdevice>(device);
  support.api = CUPTI_PROFILER_RANGE_PROFILING;
  if (const CUptiResult result = api_->cuptiProfilerDeviceSupported(&support); result != CUPTI_SUCCESS)
    return refuse("cuptiProfilerDeviceSupported", result);
  if (support.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
    const struct {
      CUpti_Profiler_Support_Level level;
      const char* why;
    } rows[] = {
        {support.architecture, "its architecture has no range profiler"},
        {support.sli, "it is linked by SLI; turn that off"},
        {support.vGpu,
         "it is a vGPU that may not be profiled; the host allows it by the vGPU's parameter enable_profiling"},
        {support.confidentialCompute, "confidential computing is on; turn it off, or on in developer mode"},
        {support.cmp, "it is made for mining"},
        {support.wsl, "WSL does not allow it; allow it for all users in NVIDIA's control panel, under Developer"},
    };
    const char* why = "CUPTI does not say why";
    for (const auto& row : rows) {
      if (row.level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED || row.level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
        why = row.why;
    }
    join(reason_, sizeof reason_, {"GPU ", Decimal(device).text(), " cannot be profiled: ", why});
    return false;
  }
  auto chip = PROF_PARAMS(CUpti_Device_GetChipName_Params);
  chip.deviceIndex = device;
  const CUptiResult result = api_->cuptiDeviceGetChipName(&chip);
  if (result != CUPTI_SUCCESS || chip.pChipName == nullptr) return refuse("cuptiDeviceGetChipName", result);
  join(chip_, sizeof chip_, {chip.pChipName});
  return true;
}

bool CounterSession::open_host(CUcontext context) {
  auto available = PROF_PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
  available.ctx = context;
  CUptiResult result = api_->cuptiProfilerGetCounterAvailability(&available);
  if (result != CUPTI_SUCCESS) return refuse("cuptiProfilerGetCounterAvailability", result);
  if (!availability_.make(available.counterAvailabilityImageSize)) return refuse("mmap", CUPTI_ERROR_OUT_OF_MEMORY);
  available.pCounterAvailabilityImage = availability_.at;
  result = api_->cuptiProfilerGetCounterAvailability(&available);
  if (result != CUPTI_SUCCESS) return refuse("cuptiProfilerGetCounterAvailability", result);
  return make_host();
}

bool CounterSession::make_host() {
  auto params = PROF_PARAMS(CUpti_Profiler_Host_Initialize_Params);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip_;
  params.pCounterAvailabilityImage = availability_.at;
  const CUptiResult result = api_->cuptiProfilerHostInitialize(&params);
  host_ = params.pHostObject;
  return result == CUPTI_SUCCESS || refuse("cuptiProfilerHostInitialize for ", result, chip_);
}

// All at once. Where CUPTI refuses, one by one, to tell which: names were looked up, so it is a suffix that the metric does not have. A host
// object that refused once fails for any metric (measured, CUPTI 13.0), so each is asked about with one of its own.
bool CounterSession::add_metrics() {
  auto params = PROF_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
  params.pHostObject = host_;
  params.ppMetricNames = metrics_.names;
  params.numMetrics = metrics_.count;
  const CUptiResult result = api_->cuptiProfilerHostConfigAddMetrics(&params);
  if (result == CUPTI_SUCCESS) return true;
  for (uint32_t i = 0; i < metrics_.count; ++i) {
    close_host();
    if (!make_host()) return false;
    params.pHostObject = host_;
    params.ppMetricNames = &metrics_.names[i];
    params.numMetrics = 1;
    if (api_->cuptiProfilerHostConfigAddMetrics(&params) != CUPTI_ERROR_INVALID_PARAMETER) continue;
    join(reason_, sizeof reason_,
         {metrics_.names[i], " has a suffix that is none (", chip_, "); prof record --counters list:", chip_,
          " prints them"});
    return false;
  }
  return refuse("cuptiProfilerHostConfigAddMetrics", result);
}

bool CounterSession::make_config() {
  auto size = PROF_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
  size.pHostObject = host_;
  CUptiResult result = api_->cuptiProfilerHostGetConfigImageSize(&size);
  if (result != CUPTI_SUCCESS) return refuse("cuptiProfilerHostGetConfigImageSize", result);
  if (!config_.make(size.configImageSize)) return refuse("mmap", CUPTI_ERROR_OUT_OF_MEMORY);
  auto image = PROF_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
  image.pHostObject = host_;
  image.configImageSize = size.configImageSize;
  image.pConfigImage = config_.at;
  result = api_->cuptiProfilerHostGetConfigImage(&image);
  if (result != CUPTI_SUCCESS) return refuse("cuptiProfilerHostGetConfigImage", result);
  auto passes = PROF_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params);
  passes.configImageSize = size.configImageSize;
  passes.pConfigImage = config_.at;
  result = api_->cuptiProfilerHostGetNumOfPasses(&passes);
  passes_ = passes.numOfPasses;
  if (result == CUPTI_SUCCESS && passes_ == 0) result = CUPTI_ERROR_UNKNOWN;
  return result == CUPTI_SUCCESS || refuse("cuptiProfilerHostGetNumOfPasses", result);
}

#else  // built with headers older than CUDA 12.6

bool CounterSession::open(const Cupti&, CUcontext, uint32_t, std::string_view) {
  join(reason_, sizeof reason_, {"libprof.so was built with CUPTI's headers of CUDA 12.5 or older"});
  return false;
}

#endif

}  // namespace prof::preload
