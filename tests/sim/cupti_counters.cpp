// The range profiler of the simulated CUPTI: values that follow from a kernel's time and its threads, passes that follow from the number of
// metrics. A range holds the kernels of the calls between its begin and its end on the context, by their correlation ids.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "cupti_counters.h"

namespace sim {
namespace {

constexpr size_t kMetricsPerPass = 4;
constexpr const char* kCounters[] = {"gpu__time_duration",
                                     "dram__bytes_read",
                                     "dram__bytes_write",
                                     "lts__t_bytes",
                                     "sm__cycles_active",
                                     "sm__pipe_tensor_cycles_active_realtime",
                                     "gpc__cycles_elapsed",
                                     "nvlrx__bytes",
                                     "sm__ops_path_tensor_src_bf16_dst_fp32",
                                     "sm__ops_path_tensor_src_fp16",
                                     "sm__ops_path_tensor_src_fp64",
                                     "sm__ops_path_tensor_src_fp8",
                                     "sm__ops_path_tensor_src_int8",
                                     "sm__ops_path_tensor_src_tf32_dst_fp32",
                                     "sm__sass_thread_inst_executed_op_fadd_pred_on",
                                     "sm__sass_thread_inst_executed_op_fmul_pred_on",
                                     "sm__sass_thread_inst_executed_op_ffma_pred_on",
                                     "sm__sass_thread_inst_executed_op_dadd_pred_on",
                                     "sm__sass_thread_inst_executed_op_dmul_pred_on",
                                     "sm__sass_thread_inst_executed_op_dfma_pred_on",
                                     "sm__sass_thread_inst_executed_op_hadd_pred_on",
                                     "sm__sass_thread_inst_executed_op_hmul_pred_on",
                                     "sm__sass_thread_inst_executed_op_hfma_pred_on"};
constexpr const char* kChips[] = {"GA100", "GH100"};
constexpr const char* kRatios[] = {"l1tex__t_sector_hit_rate"};
constexpr const char* kThroughputs[] = {"sm__throughput", "dram__throughput"};

// What a range of the counter data image holds. The image is a number of ranges and then these.
struct Ranged {
  char name[16];
  double nanoseconds, threads;
};
struct Image {
  uint64_t count;
  Ranged ranges[1];
};

struct Range {
  std::string name;
  uint32_t first = 0, end = 0;  // correlation ids of the calls inside; end 0: open
  double nanoseconds = 0, threads = 0;
};

struct Profiler {
  uint32_t context_id = 0;
  bool automatic = false, started = false, open = false;
  size_t most = 0, named = 0;
  Image* image = nullptr;
  std::vector<Range> ranges;
};

std::mutex g_mutex;
std::vector<Profiler*> g_profilers;
std::atomic<uint64_t> g_decoded{0};

bool is_one_of(const char* const* names, size_t count, std::string_view name) {
  return std::any_of(names, names + count, [&](const char* one) { return name == one; });
}

bool is_metric(std::string_view name) {
  const std::string_view base = name.substr(0, name.find('.'));
  const std::string_view suffix = name.substr(base.size());
  constexpr const char* kSuffixes[] = {".sum", ".avg", ".avg.pct_of_peak_sustained_elapsed", ".avg.per_second"};
  if (is_one_of(kCounters, std::size(kCounters), base)) return is_one_of(kSuffixes, std::size(kSuffixes), suffix);
  if (is_one_of(kRatios, std::size(kRatios), base)) return suffix == ".ratio" || suffix == ".pct";
  return is_one_of(kThroughputs, std::size(kThroughputs), base) && suffix.starts_with(".avg.pct_of_peak_sustained_");
}

double value_of(std::string_view metric, const Ranged& range) {
  const std::string_view base = metric.substr(0, metric.find('.'));
  if (!is_one_of(kCounters, std::size(kCounters), base)) return 0.5;
  if (base == "gpu__time_duration") return range.nanoseconds;
  if (base == "dram__bytes_read") return range.threads * 8;
  if (base == "dram__bytes_write") return range.threads * 4;
  if (base == "lts__t_bytes") return range.threads * 12;
  return range.threads * static_cast<double>(base.size());
}

Profiler* profiler_of(CUpti_RangeProfiler_Object* object) { return reinterpret_cast<Profiler*>(object); }

void close_range(Profiler& profiler) {
  profiler.ranges.back().end = state().driver.load()->next_correlation();
  profiler.open = false;
}

void open_range(Profiler& profiler, const std::string& name) {
  profiler.ranges.push_back({name, state().driver.load()->next_correlation()});
  profiler.open = true;
}

const Image* image_of(const uint8_t* bytes) { return reinterpret_cast<const Image*>(bytes); }

}  // namespace

CUptiResult enter_counter_call(const char* name) {
  static std::map<std::string, uint64_t, std::less<>>* const calls = new std::map<std::string, uint64_t, std::less<>>;
  if (script().cupti.counters_absent) {
    constexpr char text[] = "simulated CUPTI: the range profiler was called\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(96);
  }
  while (script().cupti.counters_hang == name) pause();
  std::lock_guard<std::mutex> lock(g_mutex);
  const uint64_t call = ++(*calls)[name];
  const auto faults = script().faults.find(name);
  if (faults == script().faults.end()) return CUPTI_SUCCESS;
  for (const Fault& fault : faults->second) {
    if (call >= fault.first && call <= fault.last) return static_cast<CUptiResult>(fault.result);
  }
  return CUPTI_SUCCESS;
}

void counters_see(const OperationRecord& record) {
  samples_see(record);
  if (record.kind != OperationKind::Kernel) return;
  std::lock_guard<std::mutex> lock(g_mutex);
  for (Profiler* const profiler : g_profilers) {
    if (profiler->context_id != record.context_id) continue;
    for (Range& range : profiler->ranges) {
      if (record.correlation < range.first || (range.end != 0 && record.correlation >= range.end)) continue;
      range.nanoseconds += static_cast<double>(record.end - record.start);
      range.threads +=
          1.0 * record.grid.x * record.grid.y * record.grid.z * record.block.x * record.block.y * record.block.z;
    }
  }
}

}  // namespace sim

using namespace sim;

extern "C" {

SIM_COUNTER_CALL(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params) {
  if (!attach()) return CUPTI_ERROR_UNKNOWN;
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiProfilerDeviceSupported, CUpti_Profiler_DeviceSupported_Params) {
  const std::string& no = script().cupti.counters_unsupported;
  const auto level = [&](const char* field) {
    return no == field ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  };
  p->isSupported = no.empty() ? CUPTI_PROFILER_CONFIGURATION_SUPPORTED : CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
  p->architecture = level("architecture");
  p->sli = level("sli");
  p->vGpu = level("vGpu");
  p->confidentialCompute = level("confidentialCompute");
  p->cmp = level("cmp");
  p->wsl = level("wsl");
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params) {
  p->pChipName = "GH100";
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params) {
  p->counterAvailabilityImageSize = 64;
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params) {
  const auto chip = std::find(std::begin(kChips), std::end(kChips), std::string_view(p->pChipName));
  if (chip == std::end(kChips)) return CUPTI_ERROR_INVALID_CHIP_NAME;
  p->pHostObject = new CUpti_Profiler_Host_Object{*chip, p->profilerType == CUPTI_PROFILER_TYPE_PM_SAMPLING, {}, false};
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiProfilerHostGetSupportedChips, CUpti_Profiler_Host_GetSupportedChips_Params) {
  p->numChips = std::size(kChips), p->ppChipNames = kChips;
  return CUPTI_SUCCESS;
}

// As CUPTI of CUDA 12 for the GA100: only names with a suffix.
SIM_COUNTER_CALL(cuptiProfilerHostGetMetricProperties, CUpti_Profiler_Host_GetMetricProperties_Params) {
  const std::string_view name = p->pMetricName;
  const bool bare = name.find('.') == std::string_view::npos;
  if (p->pHostObject->chip == "GA100" ? !is_metric(name) : !bare) return CUPTI_ERROR_INVALID_METRIC_NAME;
  p->pDescription = name.starts_with("dram") ? "# of what the memory did" : "# of something";
  p->pHwUnit = "sim";
  p->pDimUnit = name.find("bytes") != std::string_view::npos ? "byte" : "";
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params) {
  delete p->pHostObject;
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiProfilerHostGetBaseMetrics, CUpti_Profiler_Host_GetBaseMetrics_Params) {
  const bool counter = p->metricType == CUPTI_METRIC_TYPE_COUNTER, ratio = p->metricType == CUPTI_METRIC_TYPE_RATIO;
  p->ppMetricNames = const_cast<const char**>(counter ? kCounters : ratio ? kRatios : kThroughputs);
  p->numMetrics = counter ? std::size(kCounters) : ratio ? std::size(kRatios) : std::size(kThroughputs);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params) {
  for (size_t i = 0; i < p->numMetrics; ++i) {
    const std::string_view name = p->ppMetricNames[i];
    const bool lacks = p->pHostObject->samples && name.starts_with("nvlrx");  // this GPU has no such link
    if (lacks || !is_metric(name)) p->pHostObject->broken = true;
    if (p->pHostObject->broken) return lacks ? CUPTI_ERROR_UNKNOWN : CUPTI_ERROR_INVALID_PARAMETER;
  }
  p->pHostObject->metrics.insert(p->pHostObject->metrics.end(), p->ppMetricNames, p->ppMetricNames + p->numMetrics);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params) {
  p->configImageSize = 2 * sizeof(uint64_t);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params) {
  const uint64_t count = p->pHostObject->metrics.size();
  const uint64_t per_pass = p->pHostObject->samples ? kSampledPerPass : kMetricsPerPass;
  memcpy(p->pConfigImage, &count, sizeof count);
  memcpy(p->pConfigImage + sizeof count, &per_pass, sizeof per_pass);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params) {
  uint64_t count = 0, per_pass = 1;
  memcpy(&count, p->pConfigImage, sizeof count);
  memcpy(&per_pass, p->pConfigImage + sizeof count, sizeof per_pass);
  p->numOfPasses = (count + per_pass - 1) / per_pass;
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params) {
  if (is_sample_image(p->pCounterDataImage)) return evaluate_sample(p);
  const Image* const image = image_of(p->pCounterDataImage);
  if (p->rangeIndex >= image->count) return CUPTI_ERROR_INVALID_PARAMETER;
  for (size_t i = 0; i < p->numMetrics; ++i)
    p->pMetricValues[i] = value_of(p->ppMetricNames[i], image->ranges[p->rangeIndex]);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params) {
  if (!attach()) return CUPTI_ERROR_NOT_INITIALIZED;
  const uint32_t id = state().driver.load()->context_id(p->ctx);
  std::lock_guard<std::mutex> lock(g_mutex);
  for (const Profiler* const one : g_profilers) {
    if (one->context_id == id) return CUPTI_ERROR_INVALID_OPERATION;
  }
  Profiler* const made = new Profiler;
  made->context_id = id;
  g_profilers.push_back(made);
  p->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(made);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable_Params) {
  Profiler* const profiler = profiler_of(p->pRangeProfilerObject);
  std::lock_guard<std::mutex> lock(g_mutex);
  if (profiler->started) return CUPTI_ERROR_INVALID_OPERATION;
  std::erase(g_profilers, profiler);
  delete profiler;
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params) {
  p->counterDataSize = sizeof(Image) + p->maxNumOfRanges * sizeof(Ranged);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiRangeProfilerCounterDataImageInitialize, CUpti_RangeProfiler_CounterDataImage_Initialize_Params) {
  memset(p->pCounterData, 0, p->counterDataSize);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig_Params) {
  Profiler* const profiler = profiler_of(p->pRangeProfilerObject);
  uint64_t count = 0;
  memcpy(&count, p->pConfig, sizeof count);
  profiler->automatic = p->range == CUPTI_AutoRange;
  if (!profiler->automatic && count > kMetricsPerPass)
    return CUPTI_ERROR_INVALID_PARAMETER;  // the program would have to replay
  if (p->targetNestingLevel != (profiler->automatic ? 0 : 1)) return CUPTI_ERROR_INVALID_PARAMETER;
  profiler->image = reinterpret_cast<Image*>(p->pCounterDataImage);
  profiler->most = p->maxRangesPerPass;
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start_Params) {
  Profiler* const profiler = profiler_of(p->pRangeProfilerObject);
  std::lock_guard<std::mutex> lock(g_mutex);
  if (profiler->started || profiler->image == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  profiler->started = true;
  if (profiler->automatic) open_range(*profiler, std::to_string(profiler->named++));
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop_Params) {
  Profiler* const profiler = profiler_of(p->pRangeProfilerObject);
  {
    std::lock_guard<std::mutex> lock(g_mutex);
    if (!profiler->started || (profiler->open && !profiler->automatic)) return CUPTI_ERROR_INVALID_OPERATION;
    if (profiler->open) close_range(*profiler);
    profiler->started = false;
  }
  state().driver.load()->finish_all();
  p->isAllPassSubmitted = 1;
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange_Params) {
  Profiler* const profiler = profiler_of(p->pRangeProfilerObject);
  std::lock_guard<std::mutex> lock(g_mutex);
  if (!profiler->started || profiler->automatic || profiler->open) return CUPTI_ERROR_INVALID_OPERATION;
  open_range(*profiler, p->pRangeName);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange_Params) {
  Profiler* const profiler = profiler_of(p->pRangeProfilerObject);
  std::lock_guard<std::mutex> lock(g_mutex);
  if (!profiler->open || profiler->automatic) return CUPTI_ERROR_INVALID_OPERATION;
  close_range(*profiler);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params) {
  Profiler* const profiler = profiler_of(p->pRangeProfilerObject);
  std::lock_guard<std::mutex> lock(g_mutex);
  if (profiler->started) return CUPTI_ERROR_INVALID_OPERATION;
  p->numOfRangeDropped = 0;
  for (const Range& range : profiler->ranges) {
    const uint64_t every = script().cupti.counters_drop;
    const bool lost = every != 0 && ++g_decoded % every == 0;
    if (profiler->automatic && range.threads == 0) continue;  // no kernel came
    if (lost || profiler->image->count == profiler->most) {
      ++p->numOfRangeDropped;
      continue;
    }
    Ranged& to = profiler->image->ranges[profiler->image->count++];
    memset(to.name, 0, sizeof to.name);
    memcpy(to.name, range.name.data(), std::min(range.name.size(), sizeof to.name - 1));
    to.nanoseconds = range.nanoseconds;
    to.threads = range.threads;
  }
  profiler->ranges.clear();
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiRangeProfilerGetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo_Params) {
  p->numTotalRanges = image_of(p->pCounterDataImage)->count;
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiRangeProfilerCounterDataGetRangeInfo, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params) {
  if (p->rangeIndex >= image_of(p->pCounterDataImage)->count) return CUPTI_ERROR_INVALID_PARAMETER;
  p->rangeName = image_of(p->pCounterDataImage)->ranges[p->rangeIndex].name;
  return CUPTI_SUCCESS;
}

}  // extern "C"
