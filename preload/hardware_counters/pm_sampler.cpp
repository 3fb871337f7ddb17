#include "preload/hardware_counters/pm_sampler.h"

#include "preload/base/clock.h"
#include "preload/hardware_counters/counter_params.h"

namespace prof::preload {

#if PROF_PM_SAMPLING

namespace {

// The hardware's buffer, in pinned memory of the host, holds two seconds: 12 KiB a sample of 10 metrics (measured,
// H100). Pinning takes about 0.6 ms a MiB.
size_t buffer_bytes(uint64_t interval_ns) {
  constexpr size_t kLeast = size_t{32} << 20, kMost = size_t{512} << 20, kSample = 16384;
  const size_t wanted = static_cast<size_t>(2'000'000'000 / interval_ns) * kSample;
  return wanted < kLeast ? kLeast : wanted > kMost ? kMost : wanted;
}

}  // namespace

bool PmSampler::open(const Cupti& api, uint32_t device, const option::WantedMetrics& wanted, uint64_t interval_ns) {
  api_ = &api;
  device_ = device;
  wanted_ns_ = interval_ns;
  if (host_.open(api, CounterHost::By::PmSampling, nullptr, device, wanted) && enable() && configure() && make_image())
    return true;
  host_.explain_part(device);
  finish();
  return false;
}

bool PmSampler::enable() {
  auto params = PROF_PARAMS(CUpti_PmSampling_Enable_Params);
  params.deviceIndex = device_;
  const CUptiResult result = api_->cuptiPmSamplingEnable(&params);
  if (result != CUPTI_SUCCESS) return host_.refuse("cuptiPmSamplingEnable", result);
  sampling_ = params.pPmSamplingObject;
  return true;
}

// Chips without a trigger by time (Turing, GA100) count cycles of the system clock: about 1.4 per ns.
bool PmSampler::configure() {
  auto params = PROF_PARAMS(CUpti_PmSampling_SetConfig_Params);
  params.pPmSamplingObject = sampling_;
  params.configSize = host_.config().bytes;
  params.pConfig = host_.config().at;
  params.hardwareBufferSize = buffer_bytes(wanted_ns_);
  params.samplingInterval = wanted_ns_;
  params.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  params.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  interval_ns_ = wanted_ns_;
  if (api_->cuptiPmSamplingSetConfig(&params) == CUPTI_SUCCESS) return true;
  params.samplingInterval = wanted_ns_ + wanted_ns_ * 2 / 5;
  params.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
  interval_ns_ = 0;
  const CUptiResult result = api_->cuptiPmSamplingSetConfig(&params);
  return result == CUPTI_SUCCESS || host_.refuse("cuptiPmSamplingSetConfig", result);
}

bool PmSampler::make_image() {
  auto params = PROF_PARAMS(CUpti_PmSampling_GetCounterDataSize_Params);
  params.pPmSamplingObject = sampling_;
  params.pMetricNames = const_cast<const char**>(host_.metrics().names);
  params.numMetrics = host_.metrics().count;
  params.maxSamples = kMostSamples;
  const CUptiResult result = api_->cuptiPmSamplingGetCounterDataSize(&params);
  if (result != CUPTI_SUCCESS) return host_.refuse("cuptiPmSamplingGetCounterDataSize", result);
  if (image_.bytes != params.counterDataSize && !image_.make(params.counterDataSize))
    return host_.refuse("mmap", CUPTI_ERROR_OUT_OF_MEMORY);
  return clear_image();
}

bool PmSampler::clear_image() {
  auto params = PROF_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize_Params);
  params.pPmSamplingObject = sampling_;
  params.counterDataSize = image_.bytes;
  params.pCounterData = image_.at;
  const CUptiResult result = api_->cuptiPmSamplingCounterDataImageInitialize(&params);
  return result == CUPTI_SUCCESS || host_.refuse("cuptiPmSamplingCounterDataImageInitialize", result);
}

bool PmSampler::start() {
  auto params = PROF_PARAMS(CUpti_PmSampling_Start_Params);
  params.pPmSamplingObject = sampling_;
  const CUptiResult result = api_->cuptiPmSamplingStart(&params);
  started_ = first_ = result == CUPTI_SUCCESS;
  if (covered_until_ == 0) covered_until_ = gpu_clock_ns();
  return started_ || host_.refuse("cuptiPmSamplingStart", result);
}

bool PmSampler::stop() {
  if (!started_) return true;
  auto params = PROF_PARAMS(CUpti_PmSampling_Stop_Params);
  params.pPmSamplingObject = sampling_;
  const CUptiResult result = api_->cuptiPmSamplingStop(&params);
  started_ = false;
  return result == CUPTI_SUCCESS || host_.refuse("cuptiPmSamplingStop", result);
}

void PmSampler::finish() {
  if (sampling_ != nullptr) {
    stop();
    auto params = PROF_PARAMS(CUpti_PmSampling_Disable_Params);
    params.pPmSamplingObject = sampling_;
    api_->cuptiPmSamplingDisable(&params);
  }
  host_.finish();
  abandon();
}

// Only a new object samples again (measured, CUPTI 13.0).
bool PmSampler::restart() {
  stop();
  auto params = PROF_PARAMS(CUpti_PmSampling_Disable_Params);
  params.pPmSamplingObject = sampling_;
  const CUptiResult result = api_->cuptiPmSamplingDisable(&params);
  sampling_ = nullptr;
  if (result != CUPTI_SUCCESS) return host_.refuse("cuptiPmSamplingDisable", result);
  return enable() && configure() && make_image() && start();
}

PmSampler::Read PmSampler::read(Take take, void* to) {
  Read read;
  auto decode = PROF_PARAMS(CUpti_PmSampling_DecodeData_Params);
  decode.pPmSamplingObject = sampling_;
  decode.pCounterDataImage = image_.at;
  decode.counterDataImageSize = image_.bytes;
  const CUptiResult decoded = api_->cuptiPmSamplingDecodeData(&decode);
  read.overflowed = decode.overflow != 0 || decoded == CUPTI_ERROR_OUT_OF_MEMORY;
  if (decoded != CUPTI_SUCCESS && !read.overflowed) {
    host_.refuse("cuptiPmSamplingDecodeData", decoded);
    return read;
  }
  auto info = PROF_PARAMS(CUpti_PmSampling_GetCounterDataInfo_Params);
  info.pCounterDataImage = image_.at;
  info.counterDataImageSize = image_.bytes;
  const CUptiResult told = api_->cuptiPmSamplingGetCounterDataInfo(&info);
  if (told != CUPTI_SUCCESS) {
    host_.refuse("cuptiPmSamplingGetCounterDataInfo", told);
    return read;
  }
  const bool full = decode.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL ||
                    info.numPopulatedSamples >= info.numTotalSamples;
  read.more = info.numPopulatedSamples != 0 && (full || !started_);
  read.ok = evaluate(info.numCompletedSamples, take, to, read);
  if ((full || info.numPopulatedSamples != 0) && !clear_image()) read.ok = false;
  return read;
}

// The first sample after a start begins long before it, when nothing was counted (measured, CUPTI 13.0).
bool PmSampler::evaluate(size_t completed, Take take, void* to, Read& read) {
  const uint32_t metrics = host_.metrics().count;
  constexpr uint32_t kMostValues = 2048;
  static_assert(format::samples_in_text(1) <= kMostValues / 16);
  format::SampleSpan spans[format::samples_in_text(1)];
  double values[kMostValues];
  const uint32_t fit = format::samples_in_text(metrics);
  const uint32_t most = fit * metrics <= kMostValues ? fit : kMostValues / metrics;
  uint32_t kept = 0;
  uint64_t last_end = 0;
  for (size_t i = 0; i < completed; ++i) {
    auto params = PROF_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo_Params);
    params.pPmSamplingObject = sampling_;
    params.pCounterDataImage = image_.at;
    params.counterDataImageSize = image_.bytes;
    params.sampleIndex = i;
    const CUptiResult result = api_->cuptiPmSamplingCounterDataGetSampleInfo(&params);
    if (result != CUPTI_SUCCESS) return host_.refuse("cuptiPmSamplingCounterDataGetSampleInfo", result);
    const uint64_t start = params.startTimestamp, end = params.endTimestamp;
    if (first_ || (start == end && start != 0)) {
      first_ = false;
      continue;
    }
    if (start == 0 || end < start || start < last_end || end - start > 1'000'000'000'000) {
      ++read.without_time;
      continue;
    }
    if (!host_.evaluate(image_, i, values + size_t{kept} * metrics)) return false;
    spans[kept++] = {start, end};
    last_end = covered_until_ = end;
    ++read.samples;
    if (kept == most) {
      take(to, spans, values, kept);
      kept = 0;
    }
  }
  if (kept != 0) take(to, spans, values, kept);
  return true;
}

#else  // built with headers older than CUDA 12.6

bool PmSampler::open(const Cupti& api, uint32_t device, const option::WantedMetrics& wanted, uint64_t) {
  return host_.open(api, CounterHost::By::PmSampling, nullptr, device, wanted);
}
bool PmSampler::start() { return false; }
bool PmSampler::stop() { return false; }
void PmSampler::finish() { abandon(); }
bool PmSampler::restart() { return false; }
PmSampler::Read PmSampler::read(Take, void*) { return {}; }

#endif

void PmSampler::abandon() {
  sampling_ = nullptr;
  started_ = false;
  covered_until_ = 0;
  host_.abandon();
  image_.drop();
}

}  // namespace prof::preload
