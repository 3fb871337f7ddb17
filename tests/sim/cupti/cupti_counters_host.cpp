// The existing metrics, and the values of a range: the host side of the hardware counters of the simulated CUPTI.
// Values depend on a kernel's time and its threads, passes on the number of metrics.
#include <cupti_profiler_host.h>
#include <cupti_target.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

#include "tests/sim/cupti/cupti_counters.h"

namespace sim {
namespace {

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

double value_of(std::string_view metric, const RangeValues& range) {
  const std::string_view base = metric.substr(0, metric.find('.'));
  if (!is_one_of(kCounters, std::size(kCounters), base)) return 0.5;
  if (base == "gpu__time_duration") return range.nanoseconds;
  if (base == "dram__bytes_read") return range.threads * 8;
  if (base == "dram__bytes_write") return range.threads * 4;
  if (base == "lts__t_bytes") return range.threads * 12;
  return range.threads * static_cast<double>(base.size());
}

}  // namespace
}  // namespace sim

using namespace sim;

extern "C" {

SIM_COUNTER_CALL(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params) {
  p->pChipName = "GH100";
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

// Like CUPTI of CUDA 12 for the GA100: only names with a suffix.
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
  const CounterImage* const image = image_of(p->pCounterDataImage);
  if (p->rangeIndex >= image->count) return CUPTI_ERROR_INVALID_PARAMETER;
  for (size_t i = 0; i < p->numMetrics; ++i)
    p->pMetricValues[i] = value_of(p->ppMetricNames[i], image->ranges[p->rangeIndex]);
  return CUPTI_SUCCESS;
}

}  // extern "C"
