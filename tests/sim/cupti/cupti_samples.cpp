// PM sampling of the simulated CUPTI: samples on a fixed grid of simulated time, whose values depend on the kernels and
// copies in them. A sample is available after an operation that ended after it was reported, or after sampling was
// stopped. After the stop, one image is delivered and no more. This is the worst case that is consistent with the only
// observation, one run on an H100.
#include <cupti_pmsampling.h>

#include <algorithm>

#include "tests/sim/cupti/cupti_counters.h"

namespace sim {
namespace {

constexpr uint64_t kMagic = 0x53454c504d4153;

struct Busy {
  Ns start, end;
  double threads, copied;
};
struct Taken {
  uint64_t start, end;  // translate_all() converts them to CUPTI's clock
  double length_ns, active_ns, threads, copied;
};
// The counter data image.
struct SampleImage {
  uint64_t magic, most, count;
  Taken samples[1];
};

struct Sampling {
  uint32_t device = 0;
  bool configured = false, started = false, overflowed = false;
  Ns interval = 0, next = 0, until = 0;
  bool drained = false;  // stopped, and an image has been filled since
  uint64_t given = 0;
  bool first = false;  // the first sample after a start, which begins long before it
  std::vector<Busy> busy;
};

std::mutex g_samplings_mutex;
std::vector<Sampling*> g_samplings;

Sampling* sampling_of(CUpti_PmSampling_Object* object) { return reinterpret_cast<Sampling*>(object); }
const SampleImage* sample_image(const uint8_t* bytes) { return reinterpret_cast<const SampleImage*>(bytes); }

double overlap(const Busy& busy, Ns start, Ns end) {
  const Ns first = std::max(busy.start, start), last = std::min(busy.end, end);
  return last > first ? static_cast<double>(last - first) : 0;
}

Taken take(const Sampling& from, Ns start, Ns end) {
  Taken taken{start, end, static_cast<double>(end - start), 0, 0, 0};
  for (const Busy& busy : from.busy) {
    const double inside = overlap(busy, start, end);
    const double share = inside / static_cast<double>(std::max<Ns>(busy.end - busy.start, 1));
    if (busy.threads != 0) taken.active_ns += inside;
    taken.threads += share * busy.threads;
    taken.copied += share * busy.copied;
  }
  taken.active_ns = std::min(taken.active_ns, taken.length_ns);
  return taken;
}

// Converts to CUPTI's clock. Not called with the lock above, because operations are reported under the lock of the
// state.
void translate_all(SampleImage& image, uint64_t first) {
  State& now = state();
  const std::lock_guard<std::mutex> lock(now.mutex);
  for (uint64_t i = first; i < image.count; ++i) {
    image.samples[i].start = translate(now, image.samples[i].start);
    image.samples[i].end = translate(now, image.samples[i].end);
  }
}

double sampled_value(std::string_view metric, const Taken& sample) {
  if (metric.starts_with("gpc__cycles_elapsed")) return 1.98e9;
  if (metric.starts_with("dram__bytes_read")) return sample.threads * 8 + sample.copied;
  if (metric.starts_with("dram__bytes_write")) return sample.threads * 4 + sample.copied;
  if (metric.find(".pct") != std::string_view::npos) return 100 * sample.active_ns / sample.length_ns;
  return sample.threads;
}

}  // namespace

void samples_see(const OperationRecord& record) {
  const bool kernel = record.kind == OperationKind::Kernel;
  const double threads =
      kernel ? 1.0 * record.grid.x * record.grid.y * record.grid.z * record.block.x * record.block.y * record.block.z
             : 0;
  const std::lock_guard<std::mutex> lock(g_samplings_mutex);
  for (Sampling* const sampling : g_samplings) {
    if (!sampling->started || sampling->device != record.device) continue;
    sampling->busy.push_back({record.start, record.end, threads, kernel ? 0 : static_cast<double>(record.bytes)});
    sampling->until = std::max(sampling->until, record.end);
  }
}

bool pm_sampling_enabled() {
  const std::lock_guard<std::mutex> lock(g_samplings_mutex);
  return !g_samplings.empty();
}

bool is_sample_image(const uint8_t* image) { return sample_image(image)->magic == kMagic; }

CUptiResult evaluate_sample(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  const SampleImage* const image = sample_image(params->pCounterDataImage);
  if (params->rangeIndex >= image->count) return CUPTI_ERROR_INVALID_PARAMETER;
  for (size_t i = 0; i < params->numMetrics; ++i)
    params->pMetricValues[i] = sampled_value(params->ppMetricNames[i], image->samples[params->rangeIndex]);
  return CUPTI_SUCCESS;
}

}  // namespace sim

using namespace sim;

extern "C" {

SIM_COUNTER_CALL(cuptiPmSamplingGetCounterAvailability, CUpti_PmSampling_GetCounterAvailability_Params) {
  p->counterAvailabilityImageSize = 64;
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiPmSamplingEnable, CUpti_PmSampling_Enable_Params) {
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return result;
  const std::lock_guard<std::mutex> lock(g_samplings_mutex);
  for (const Sampling* const one : g_samplings) {
    if (one->device == p->deviceIndex) return CUPTI_ERROR_INVALID_OPERATION;
  }
  Sampling* const made = new Sampling;
  made->device = static_cast<uint32_t>(p->deviceIndex);
  g_samplings.push_back(made);
  p->pPmSamplingObject = reinterpret_cast<CUpti_PmSampling_Object*>(made);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiPmSamplingDisable, CUpti_PmSampling_Disable_Params) {
  Sampling* const sampling = sampling_of(p->pPmSamplingObject);
  const std::lock_guard<std::mutex> lock(g_samplings_mutex);
  if (sampling->started) return CUPTI_ERROR_INVALID_OPERATION;
  std::erase(g_samplings, sampling);
  delete sampling;
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiPmSamplingSetConfig, CUpti_PmSampling_SetConfig_Params) {
  uint64_t count = 0;
  memcpy(&count, p->pConfig, sizeof count);
  if (count > kSampledPerPass) return CUPTI_ERROR_NOT_SUPPORTED;
  const bool by_time = p->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  if (by_time && script().cupti.samples_by_clock) return CUPTI_ERROR_NOT_SUPPORTED;
  Sampling* const sampling = sampling_of(p->pPmSamplingObject);
  sampling->interval = p->samplingInterval;
  sampling->configured = p->hardwareBufferSize != 0;
  return sampling->configured ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

SIM_COUNTER_CALL(cuptiPmSamplingGetCounterDataSize, CUpti_PmSampling_GetCounterDataSize_Params) {
  p->counterDataSize = sizeof(SampleImage) + p->maxSamples * sizeof(Taken);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiPmSamplingCounterDataImageInitialize, CUpti_PmSampling_CounterDataImage_Initialize_Params) {
  SampleImage* const image = reinterpret_cast<SampleImage*>(p->pCounterData);
  image->magic = kMagic, image->count = 0;
  image->most = (p->counterDataSize - sizeof(SampleImage)) / sizeof(Taken);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiPmSamplingStart, CUpti_PmSampling_Start_Params) {
  Sampling* const sampling = sampling_of(p->pPmSamplingObject);
  const std::lock_guard<std::mutex> lock(g_samplings_mutex);
  if (!sampling->configured || sampling->started) return CUPTI_ERROR_INVALID_OPERATION;
  sampling->started = sampling->first = true;
  sampling->drained = false;
  sampling->next = sampling->until = state().driver.load()->now();
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiPmSamplingStop, CUpti_PmSampling_Stop_Params) {
  Sampling* const sampling = sampling_of(p->pPmSamplingObject);
  state().driver.load()->finish_all();
  const std::lock_guard<std::mutex> lock(g_samplings_mutex);
  if (!sampling->started) return CUPTI_ERROR_INVALID_OPERATION;
  sampling->started = false;
  sampling->until = std::max(sampling->until, state().driver.load()->now());
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiPmSamplingDecodeData, CUpti_PmSampling_DecodeData_Params) {
  Sampling* const sampling = sampling_of(p->pPmSamplingObject);
  SampleImage* const image = reinterpret_cast<SampleImage*>(p->pCounterDataImage);
  const uint64_t first = image->count;
  // the hardware has sampled everything that ran, even if no call waited for its end
  state().driver.load()->finish_all();
  std::unique_lock<std::mutex> lock(g_samplings_mutex);
  p->overflow = 0;
  p->decodeStopReason = sampling->started ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER
                                          : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  const uint64_t buffer = script().cupti.samples_buffer;
  const uint64_t undecoded = sampling->interval == 0 ? 0 : (sampling->until - sampling->next) / sampling->interval;
  if (buffer != 0 && undecoded > buffer) sampling->overflowed = true;
  if (sampling->overflowed) {
    p->overflow = 1;
    return CUPTI_ERROR_OUT_OF_MEMORY;
  }
  const uint64_t most = script().cupti.samples_most;
  if (sampling->drained || (most != 0 && sampling->given >= most)) return CUPTI_SUCCESS;
  if (sampling->first && sampling->until > sampling->next && image->count != image->most) {
    image->samples[image->count++] =
        take(*sampling, sampling->next - std::min<Ns>(sampling->next, 400'000'000), sampling->next);
    sampling->first = false;
  }
  for (; sampling->next + sampling->interval <= sampling->until; sampling->next += sampling->interval) {
    if (image->count == image->most) {
      p->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
      sampling->drained = !sampling->started;
      break;
    }
    image->samples[image->count++] = take(*sampling, sampling->next, sampling->next + sampling->interval);
  }
  sampling->given += image->count - first;
  std::erase_if(sampling->busy, [&](const Busy& busy) { return busy.end <= sampling->next; });
  lock.unlock();
  translate_all(*image, first);
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiPmSamplingGetCounterDataInfo, CUpti_PmSampling_GetCounterDataInfo_Params) {
  const SampleImage* const image = sample_image(p->pCounterDataImage);
  p->numTotalSamples = image->most;
  p->numPopulatedSamples = p->numCompletedSamples = image->count;
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiPmSamplingCounterDataGetSampleInfo, CUpti_PmSampling_CounterData_GetSampleInfo_Params) {
  const SampleImage* const image = sample_image(p->pCounterDataImage);
  if (p->sampleIndex >= image->count) return CUPTI_ERROR_INVALID_PARAMETER;
  p->startTimestamp = image->samples[p->sampleIndex].start;
  p->endTimestamp = image->samples[p->sampleIndex].end;
  return CUPTI_SUCCESS;
}

}  // extern "C"
