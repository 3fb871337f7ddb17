#include "preload/hardware_counters/counter_host.h"

#include "preload/base/decimal.h"
#include "preload/driver/driver.h"
#include "preload/hardware_counters/counter_params.h"

namespace prof::preload {

#if PROF_RANGE_PROFILER

namespace {

// A function that this way of measuring needs and that CUPTI does not have. Null: CUPTI has all of them.
const char* missing_function(const Cupti& api, CounterHost::By by) {
  const CuptiNeed own = by == CounterHost::By::PmSampling ? CuptiNeed::PmSampling : CuptiNeed::RangeProfiler;
  const char* missing = nullptr;
  const auto check = [&](bool found, const char* name, CuptiNeed need) {
    if (!found && (need == CuptiNeed::Counters || need == own)) missing = name;
  };
#define PROF_CUPTI_FUNCTION(name, need) check(api.name != nullptr, #name, CuptiNeed::need);
#include "preload/capture/cupti/cupti_functions.def"
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

CUpti_Profiler_API api_kind(CounterHost::By by) {
#if PROF_PM_SAMPLING
  if (by == CounterHost::By::PmSampling) return CUPTI_PROFILER_PM_SAMPLING;
#endif
  return CUPTI_PROFILER_RANGE_PROFILING;
}

// Searches CUPTI's lists for a name: tens of thousands of names, once for each context.
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

bool CounterHost::refuse(const char* what, CUptiResult result, const char* name) {
  const char* text = nullptr;
  const bool named =
      api_->cuptiGetResultString != nullptr && api_->cuptiGetResultString(result, &text) == CUPTI_SUCCESS;
  join(reason_, sizeof reason_, {what, name, ": ", named && text != nullptr ? text : "an error", remedy(result)});
  return false;
}

bool CounterHost::refuse_in_words(std::string_view a, std::string_view b, std::string_view c) {
  join(reason_, sizeof reason_, {a, b, c});
  return false;
}

void CounterHost::explain_part(uint32_t device) {
  const size_t said = std::strlen(reason_);
  if (is_part_of_gpu(device))
    join(reason_ + said, sizeof reason_ - said,
         {" (the device is a part of a GPU by MIG; counters of a whole GPU need a whole one)"});
}

bool CounterHost::open(const Cupti& api, By by, CUcontext context, uint32_t device,
                       const option::WantedMetrics& wanted) {
  api_ = &api;
  by_ = by;
  if (const char* const missing = missing_function(api, by); missing != nullptr) {
    const bool samples = by == By::PmSampling;
    return refuse_in_words("this CUPTI has no ", missing,
                           samples ? ": PM sampling came with CUDA 12.6" : ": the range profiler came with CUDA 12.6");
  }
  static bool initialized = false;  // once a process; one thread at a time opens
  if (!initialized) {
    auto params = PROF_PARAMS(CUpti_Profiler_Initialize_Params);
    if (const CUptiResult result = api.cuptiProfilerInitialize(&params); result != CUPTI_SUCCESS)
      return refuse("cuptiProfilerInitialize", result);
    initialized = true;
  }
  if (!check_device(device) || !read_availability(context, device) || !make_object() || !choose(wanted)) return false;
  if (by == By::RangeProfiler) return add_metrics() && configure();
  return (try_metrics() == CUPTI_SUCCESS && configure() && passes_ == 1) || cut_to_one_pass();
}

bool CounterHost::choose(const option::WantedMetrics& wanted) {
  const HostLists lists{api_, object_};
  const MetricSets& sets = by_ == By::PmSampling ? kSampledSets : kLaunchSets;
  const char* const why = choose_metrics(wanted, sets, {kind_of, &lists}, metrics_);
  if (why == nullptr) return true;
  join(reason_, sizeof reason_,
       {metrics_.wrong, metrics_.wrong.empty() ? "" : " is ", why, " (", chip_,
        "); prof record --counters list:", chip_, " prints its metrics"});
  return false;
}

bool CounterHost::check_device(uint32_t device) {
  auto support = PROF_PARAMS(CUpti_Profiler_DeviceSupported_Params);
  support.cuDevice = static_cast<CUdevice>(device);
  support.api = api_kind(by_);
  if (const CUptiResult result = api_->cuptiProfilerDeviceSupported(&support); result != CUPTI_SUCCESS)
    return refuse("cuptiProfilerDeviceSupported", result);
  if (support.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
    const struct {
      CUpti_Profiler_Support_Level level;
      const char* why;
    } rows[] = {
        {support.architecture,
         by_ == By::PmSampling ? "its architecture has no PM sampling" : "its architecture has no range profiler"},
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

bool CounterHost::read_availability(CUcontext context, uint32_t device) {
#if PROF_PM_SAMPLING
  if (by_ == By::PmSampling) {
    auto params = PROF_PARAMS(CUpti_PmSampling_GetCounterAvailability_Params);
    params.deviceIndex = device;
    CUptiResult result = api_->cuptiPmSamplingGetCounterAvailability(&params);
    if (result != CUPTI_SUCCESS) return refuse("cuptiPmSamplingGetCounterAvailability", result);
    if (!availability_.make(params.counterAvailabilityImageSize)) return refuse("mmap", CUPTI_ERROR_OUT_OF_MEMORY);
    params.pCounterAvailabilityImage = availability_.at;
    result = api_->cuptiPmSamplingGetCounterAvailability(&params);
    return result == CUPTI_SUCCESS || refuse("cuptiPmSamplingGetCounterAvailability", result);
  }
#endif
  (void)device;
  auto params = PROF_PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
  params.ctx = context;
  CUptiResult result = api_->cuptiProfilerGetCounterAvailability(&params);
  if (result != CUPTI_SUCCESS) return refuse("cuptiProfilerGetCounterAvailability", result);
  if (!availability_.make(params.counterAvailabilityImageSize)) return refuse("mmap", CUPTI_ERROR_OUT_OF_MEMORY);
  params.pCounterAvailabilityImage = availability_.at;
  result = api_->cuptiProfilerGetCounterAvailability(&params);
  return result == CUPTI_SUCCESS || refuse("cuptiProfilerGetCounterAvailability", result);
}

bool CounterHost::make_object() {
  destroy_object();
  auto params = PROF_PARAMS(CUpti_Profiler_Host_Initialize_Params);
  params.profilerType = by_ == By::PmSampling ? CUPTI_PROFILER_TYPE_PM_SAMPLING : CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip_;
  params.pCounterAvailabilityImage = availability_.at;
  const CUptiResult result = api_->cuptiProfilerHostInitialize(&params);
  object_ = params.pHostObject;
  return result == CUPTI_SUCCESS || refuse("cuptiProfilerHostInitialize for ", result, chip_);
}

void CounterHost::destroy_object() {
  if (object_ == nullptr) return;
  auto params = PROF_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
  params.pHostObject = object_;
  api_->cuptiProfilerHostDeinitialize(&params);
  object_ = nullptr;
}

CUptiResult CounterHost::try_metrics() {
  auto params = PROF_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
  params.pHostObject = object_;
  params.ppMetricNames = metrics_.names;
  params.numMetrics = metrics_.count;
  return api_->cuptiProfilerHostConfigAddMetrics(&params);
}

bool CounterHost::refuse_suffix(const char* metric) {
  join(reason_, sizeof reason_,
       {metric, " has a suffix that is none (", chip_, "); prof record --counters list:", chip_, " prints them"});
  return false;
}

// Adds all metrics at once. If CUPTI refuses, it adds them one by one to find the wrong one. The names were looked up,
// so the metric does not have the suffix. A host object that refused once fails for any metric (measured, CUPTI 13.0),
// so each metric is tried with a new one.
bool CounterHost::add_metrics() {
  const CUptiResult result = try_metrics();
  if (result == CUPTI_SUCCESS) return true;
  const CounterMetrics all = metrics_;
  metrics_.count = 1;
  for (uint32_t i = 0; i < all.count; ++i) {
    metrics_.names[0] = all.names[i];
    if (!make_object()) return false;
    if (try_metrics() == CUPTI_ERROR_INVALID_PARAMETER) return refuse_suffix(all.names[i]);
  }
  return refuse("cuptiProfilerHostConfigAddMetrics", result);
}

bool CounterHost::configure() {
  auto size = PROF_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
  size.pHostObject = object_;
  CUptiResult result = api_->cuptiProfilerHostGetConfigImageSize(&size);
  if (result != CUPTI_SUCCESS) return refuse("cuptiProfilerHostGetConfigImageSize", result);
  if (!config_.make(size.configImageSize)) return refuse("mmap", CUPTI_ERROR_OUT_OF_MEMORY);
  auto image = PROF_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
  image.pHostObject = object_;
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

// Adds one metric at a time. A metric is removed if the GPU does not have it although its chip may (NVLink), or if it
// needs a second pass. If the user named that metric, opening fails instead.
bool CounterHost::cut_to_one_pass() {
  const CounterMetrics all = metrics_;
  metrics_.count = 0;
  for (uint32_t i = 0; i < all.count; ++i) {
    metrics_.names[metrics_.count++] = all.names[i];
    if (!make_object()) return false;
    const CUptiResult added = try_metrics();
    if (added == CUPTI_SUCCESS && !configure()) return false;
    if (added == CUPTI_SUCCESS && passes_ == 1) continue;
    if ((all.by_name >> i & 1) != 0) {
      if (added == CUPTI_ERROR_INVALID_PARAMETER) return refuse_suffix(all.names[i]);
      if (added != CUPTI_SUCCESS) return refuse("this GPU does not count ", added, all.names[i]);
      return refuse_in_words(
          all.names[i],
          " needs a pass of its own beside the metrics before it, and samples have one: ", "choose fewer or others");
    }
    --metrics_.count;
  }
  if (metrics_.count == 0) return refuse_in_words("this GPU counts none of these metrics");
  if (!make_object()) return false;
  const CUptiResult added = try_metrics();
  return added == CUPTI_SUCCESS ? configure() : refuse("cuptiProfilerHostConfigAddMetrics", added);
}

bool CounterHost::evaluate(const OwnPages& image, size_t index, double* values) {
  auto params = PROF_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  params.pHostObject = object_;
  params.pCounterDataImage = image.at;
  params.counterDataImageSize = image.bytes;
  params.rangeIndex = index;
  params.ppMetricNames = metrics_.names;
  params.numMetrics = metrics_.count;
  params.pMetricValues = values;
  const CUptiResult result = api_->cuptiProfilerHostEvaluateToGpuValues(&params);
  return result == CUPTI_SUCCESS || refuse("cuptiProfilerHostEvaluateToGpuValues", result);
}

void CounterHost::finish() {
  destroy_object();
  abandon();
}

#else  // built with headers older than CUDA 12.6

bool CounterHost::open(const Cupti&, By, CUcontext, uint32_t, const option::WantedMetrics&) {
  return refuse_in_words("libprof.so was built with CUPTI's headers of CUDA 12.5 or older");
}
bool CounterHost::refuse(const char*, CUptiResult, const char*) { return false; }
bool CounterHost::refuse_in_words(std::string_view a, std::string_view b, std::string_view c) {
  join(reason_, sizeof reason_, {a, b, c});
  return false;
}
void CounterHost::explain_part(uint32_t) {}
bool CounterHost::evaluate(const OwnPages&, size_t, double*) { return false; }
void CounterHost::finish() { abandon(); }

#endif

void CounterHost::abandon() {
  object_ = nullptr;
  availability_.drop();
  config_.drop();
}

}  // namespace prof::preload
