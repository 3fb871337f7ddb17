#include "preload/hardware_counters/counter_session.h"

#include "preload/base/decimal.h"
#include "preload/hardware_counters/counter_params.h"

namespace prof::preload {

#if PROF_RANGE_PROFILER

namespace {

// The number from which begin() made the name. kRanges: another name.
uint32_t range_of(const char* name) {
  uint32_t range = 0;
  if (name == nullptr || *name == '\0') return CounterSession::kRanges;
  for (; *name >= '0' && *name <= '9' && range < CounterSession::kRanges; ++name)
    range = range * 10 + static_cast<uint32_t>(*name - '0');
  return *name == '\0' && range < CounterSession::kRanges ? range : CounterSession::kRanges;
}

}  // namespace

bool CounterSession::open(const Cupti& api, CUcontext context, uint32_t device, const option::WantedMetrics& wanted) {
  api_ = &api;
  context_ = context;
  if (host_.open(api, CounterHost::By::RangeProfiler, context, device, wanted) && open_profiler()) return true;
  host_.explain_part(device);
  finish();
  return false;
}

bool CounterSession::open_profiler() {
  auto enable = PROF_PARAMS(CUpti_RangeProfiler_Enable_Params);
  enable.ctx = context_;
  CUptiResult result = api_->cuptiRangeProfilerEnable(&enable);
  if (result != CUPTI_SUCCESS) return host_.refuse("cuptiRangeProfilerEnable", result);
  profiler_ = enable.pRangeProfilerObject;
  const uint32_t ranges = replays() ? 16 : kRanges;
  auto size = PROF_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params);
  size.pRangeProfilerObject = profiler_;
  size.pMetricNames = const_cast<const char**>(metrics().names);
  size.numMetrics = metrics().count;
  size.maxNumOfRanges = ranges;
  size.maxNumRangeTreeNodes = ranges;
  result = api_->cuptiRangeProfilerGetCounterDataSize(&size);
  if (result != CUPTI_SUCCESS) return host_.refuse("cuptiRangeProfilerGetCounterDataSize", result);
  if (!image_.make(size.counterDataSize)) return host_.refuse("mmap", CUPTI_ERROR_OUT_OF_MEMORY);
  if (!clear_image()) return false;
  auto config = PROF_PARAMS(CUpti_RangeProfiler_SetConfig_Params);
  config.pRangeProfilerObject = profiler_;
  config.configSize = host_.config().bytes;
  config.pConfig = host_.config().at;
  config.counterDataImageSize = image_.bytes;
  config.pCounterDataImage = image_.at;
  config.range = replays() ? CUPTI_AutoRange : CUPTI_UserRange;
  config.replayMode = replays() ? CUPTI_KernelReplay : CUPTI_UserReplay;
  config.maxRangesPerPass = ranges;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.targetNestingLevel = replays() ? 0 : 1;
  result = api_->cuptiRangeProfilerSetConfig(&config);
  if (result != CUPTI_SUCCESS) return host_.refuse("cuptiRangeProfilerSetConfig", result);
  return replays() || start();
}

void CounterSession::finish() {
  if (profiler_ != nullptr) {
    if (started_) stop();
    auto params = PROF_PARAMS(CUpti_RangeProfiler_Disable_Params);
    params.pRangeProfilerObject = profiler_;
    api_->cuptiRangeProfilerDisable(&params);
  }
  host_.finish();
  abandon();
}

bool CounterSession::clear_image() {
  auto params = PROF_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
  params.pRangeProfilerObject = profiler_;
  params.counterDataSize = image_.bytes;
  params.pCounterData = image_.at;
  const CUptiResult result = api_->cuptiRangeProfilerCounterDataImageInitialize(&params);
  return result == CUPTI_SUCCESS || host_.refuse("cuptiRangeProfilerCounterDataImageInitialize", result);
}

bool CounterSession::start() {
  auto params = PROF_PARAMS(CUpti_RangeProfiler_Start_Params);
  params.pRangeProfilerObject = profiler_;
  const CUptiResult result = api_->cuptiRangeProfilerStart(&params);
  started_ = result == CUPTI_SUCCESS;
  return started_ || host_.refuse("cuptiRangeProfilerStart", result);
}

bool CounterSession::stop() {
  auto params = PROF_PARAMS(CUpti_RangeProfiler_Stop_Params);
  params.pRangeProfilerObject = profiler_;
  const CUptiResult result = api_->cuptiRangeProfilerStop(&params);
  started_ = false;
  return result == CUPTI_SUCCESS || host_.refuse("cuptiRangeProfilerStop", result);
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
  return result == CUPTI_SUCCESS || host_.refuse("cuptiRangeProfilerPushRange", result);
}

bool CounterSession::end() {
  if (replays()) return stop();
  auto params = PROF_PARAMS(CUpti_RangeProfiler_PopRange_Params);
  params.pRangeProfilerObject = profiler_;
  const CUptiResult result = api_->cuptiRangeProfilerPopRange(&params);
  return result == CUPTI_SUCCESS || host_.refuse("cuptiRangeProfilerPopRange", result);
}

CounterSession::Read CounterSession::read(Take take, void* to) {
  Read read;
  if (started_ && !stop()) return read;
  auto decode = PROF_PARAMS(CUpti_RangeProfiler_DecodeData_Params);
  decode.pRangeProfilerObject = profiler_;
  const CUptiResult result = api_->cuptiRangeProfilerDecodeData(&decode);
  if (result != CUPTI_SUCCESS) {
    host_.refuse("cuptiRangeProfilerDecodeData", result);
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
  if (result != CUPTI_SUCCESS) return host_.refuse("cuptiRangeProfilerGetCounterDataInfo", result);
  for (; read.ranges < info.numTotalRanges; ++read.ranges) {
    auto name = PROF_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
    name.pCounterDataImage = image_.at;
    name.counterDataImageSize = image_.bytes;
    name.rangeIndex = read.ranges;
    name.rangeDelimiter = "/";
    result = api_->cuptiRangeProfilerCounterDataGetRangeInfo(&name);
    if (result != CUPTI_SUCCESS) return host_.refuse("cuptiRangeProfilerCounterDataGetRangeInfo", result);
    double values[CounterMetrics::kMost] = {};
    if (!host_.evaluate(image_, read.ranges, values)) return false;
    take(to, range_of(name.rangeName), values, metrics().count);
  }
  return true;
}

#else  // built with headers older than CUDA 12.6

bool CounterSession::open(const Cupti& api, CUcontext context, uint32_t device, const option::WantedMetrics& wanted) {
  return host_.open(api, CounterHost::By::RangeProfiler, context, device, wanted);
}
void CounterSession::finish() { abandon(); }
bool CounterSession::begin(uint32_t) { return false; }
bool CounterSession::end() { return false; }
CounterSession::Read CounterSession::read(Take, void*) { return {}; }

#endif

void CounterSession::abandon() {
  profiler_ = nullptr;
  started_ = false;
  host_.abandon();
  image_.drop();
}

}  // namespace prof::preload
