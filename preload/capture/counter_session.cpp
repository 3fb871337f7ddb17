#include "preload/capture/counter_session.h"

#include "preload/capture/counter_params.h"
#include "preload/capture/decimal.h"

#include <sys/mman.h>

namespace prof::preload {

bool CounterSession::Pages::make(size_t size) {
  drop();
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  at = static_cast<uint8_t*>(memory);
  bytes = size;
  return true;
}

void CounterSession::Pages::drop() {
  if (at != nullptr) munmap(at, bytes);
  at = nullptr;
  bytes = 0;
}

#if PROF_RANGE_PROFILER

namespace {

// The number that begin() made the name of; kRanges: another name.
uint32_t range_of(const char* name) {
  uint32_t range = 0;
  if (name == nullptr || *name == '\0') return CounterSession::kRanges;
  for (; *name >= '0' && *name <= '9' && range < CounterSession::kRanges; ++name)
    range = range * 10 + static_cast<uint32_t>(*name - '0');
  return *name == '\0' && range < CounterSession::kRanges ? range : CounterSession::kRanges;
}

}  // namespace

bool CounterSession::open_profiler() {
  auto enable = PROF_PARAMS(CUpti_RangeProfiler_Enable_Params);
  enable.ctx = context_;
  CUptiResult result = api_->cuptiRangeProfilerEnable(&enable);
  if (result != CUPTI_SUCCESS) return refuse("cuptiRangeProfilerEnable", result);
  profiler_ = enable.pRangeProfilerObject;
  const uint32_t ranges = replays() ? 16 : kRanges;
  auto size = PROF_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
  size.pRangeProfilerObject = profiler_;
  size.pMetricNames = metrics_.names;
  size.numMetrics = metrics_.count;
  size.maxNumOfRanges = ranges;
  size.maxNumRangeTreeNodes = ranges;
  result = api_->cuptiRangeProfilerGetCounterDataSize(&size);
  if (result != CUPTI_SUCCESS) return refuse("cuptiRangeProfilerGetCounterDataSize", result);
  if (!image_.make(size.counterDataSize)) return refuse("mmap", CUPTI_ERROR_OUT_OF_MEMORY);
  if (!clear_image()) return false;
  auto config = PROF_PARAMS(CUpti_RangeProfiler_SetConfig_Params);
  config.pRangeProfilerObject = profiler_;
  config.configSize = config_.bytes;
  config.pConfig = config_.at;
  config.counterDataImageSize = image_.bytes;
  config.pCounterDataImage = image_.at;
  config.range = replays() ? CUPTI_AutoRange : CUPTI_UserRange;
  config.replayMode = replays() ? CUPTI_KernelReplay : CUPTI_UserReplay;
  config.maxRangesPerPass = ranges;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.targetNestingLevel = replays() ? 0 : 1;
  result = api_->cuptiRangeProfilerSetConfig(&config);
  if (result != CUPTI_SUCCESS) return refuse("cuptiRangeProfilerSetConfig", result);
  return replays() || start();
}

void CounterSession::close() {
  if (profiler_ != nullptr) {
    if (started_) stop();
    auto params = PROF_PARAMS(CUpti_RangeProfiler_Disable_Params);
    params.pRangeProfilerObject = profiler_;
    api_->cuptiRangeProfilerDisable(&params);
  }
  close_host();
  forget();
}

void CounterSession::close_host() {
  if (host_ == nullptr) return;
  auto params = PROF_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
  params.pHostObject = host_;
  api_->cuptiProfilerHostDeinitialize(&params);
  host_ = nullptr;
}

bool CounterSession::clear_image() {
  auto params = PROF_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
  params.pRangeProfilerObject = profiler_;
  params.counterDataSize = image_.bytes;
  params.pCounterData = image_.at;
  const CUptiResult result = api_->cuptiRangeProfilerCounterDataImageInitialize(&params);
  return result == CUPTI_SUCCESS || refuse("cuptiRangeProfilerCounterDataImageInitialize", result);
}

bool CounterSession::start() {
  auto params = PROF_PARAMS(CUpti_RangeProfiler_Start_Params);
  params.pRangeProfilerObject = profiler_;
  const CUptiResult result = api_->cuptiRangeProfilerStart(&params);
  started_ = result == CUPTI_SUCCESS;
  return started_ || refuse("cuptiRangeProfilerStart", result);
}

bool CounterSession::stop() {
  auto params = PROF_PARAMS(CUpti_RangeProfiler_Stop_Params);
  params.pRangeProfilerObject = profiler_;
  const CUptiResult result = api_->cuptiRangeProfilerStop(&params);
  started_ = false;
  return result == CUPTI_SUCCESS || refuse("cuptiRangeProfilerStop", result);
}

bool CounterSession::begin(uint32_t range) {
  if (replays()) return start();
  const Decimal number(range);
  char name[16];
  join(name, sizeof name, {number.text()});
  auto params = PROF_PARAMS(CUpti_RangeProfiler_PushRange_Params);
  params.pRangeProfilerObject = profiler_;
  params.pRangeName = name;
  const CUptiResult result = api_->cuptiRangeProfilerPushRange(&params);
  return result == CUPTI_SUCCESS || refuse("cuptiRangeProfilerPushRange", result);
}

bool CounterSession::end() {
  if (replays()) return stop();
  auto params = PROF_PARAMS(CUpti_RangeProfiler_PopRange_Params);
  params.pRangeProfilerObject = profiler_;
  const CUptiResult result = api_->cuptiRangeProfilerPopRange(&params);
  return result == CUPTI_SUCCESS || refuse("cuptiRangeProfilerPopRange", result);
}

CounterSession::Read CounterSession::read(Take take, void* to) {
  Read read;
  if (started_ && !stop()) return read;
  auto decode = PROF_PARAMS(CUpti_RangeProfiler_DecodeData_Params);
  decode.pRangeProfilerObject = profiler_;
  const CUptiResult result = api_->cuptiRangeProfilerDecodeData(&decode);
  if (result != CUPTI_SUCCESS) {
    refuse("cuptiRangeProfilerDecodeData", result);
    return read;
  }
  read.dropped = decode.numOfRangeDropped;
  read.ok = evaluate(take, to, read);
  if (!clear_image() || (!replays() && !start())) read.ok = false;
  return read;
}

bool CounterSession::evaluate(Take take, void* to, Read& read) {
  auto info = PROF_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params);
  info.pCounterDataImage = image_.at;
  info.counterDataImageSize = image_.bytes;
  CUptiResult result = api_->cuptiRangeProfilerGetCounterDataInfo(&info);
  if (result != CUPTI_SUCCESS) return refuse("cuptiRangeProfilerGetCounterDataInfo", result);
  for (; read.ranges < info.numTotalRanges; ++read.ranges) {
    auto name = PROF_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
    name.pCounterDataImage = image_.at;
    name.counterDataImageSize = image_.bytes;
    name.rangeIndex = read.ranges;
    name.rangeDelimiter = "/";
    result = api_->cuptiRangeProfilerCounterDataGetRangeInfo(&name);
    if (result != CUPTI_SUCCESS) return refuse("cuptiRangeProfilerCounterDataGetRangeInfo", result);
    double values[CounterMetrics::kMost] = {};
    auto params = PROF_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    params.pHostObject = host_;
    params.pCounterDataImage = image_.at;
    params.counterDataImageSize = image_.bytes;
    params.rangeIndex = read.ranges;
    params.ppMetricNames = metrics_.names;
    params.numMetrics = metrics_.count;
    params.pMetricValues = values;
    result = api_->cuptiProfilerHostEvaluateToGpuValues(&params);
    if (result != CUPTI_SUCCESS) return refuse("cuptiProfilerHostEvaluateToGpuValues", result);
    take(to, range_of(name.rangeName), values, metrics_.count);
  }
  return true;
}

#else  // built with headers older than CUDA 12.6

void CounterSession::close() { forget(); }
bool CounterSession::begin(uint32_t) { return false; }
bool CounterSession::end() { return false; }
CounterSession::Read CounterSession::read(Take, void*) { return {}; }

#endif

void CounterSession::forget() {
  profiler_ = nullptr;
  host_ = nullptr;
  started_ = false;
  availability_.drop();
  config_.drop();
  image_.drop();
}

}  // namespace prof::preload
