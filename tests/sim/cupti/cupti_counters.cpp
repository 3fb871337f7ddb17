// The range profiler of the simulated CUPTI. A range contains the kernels of the calls between its begin and its end on
// the context, found by their correlation ids.
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/sim/cupti/cupti_counters.h"

namespace sim {
namespace {

struct Range {
  std::string name;
  uint32_t first = 0, end = 0;  // correlation ids of the calls inside; end 0: open
  double nanoseconds = 0, threads = 0;
};

struct Profiler {
  uint32_t context_id = 0;
  bool automatic = false, started = false, open = false;
  size_t most = 0, named = 0;
  CounterImage* image = nullptr;
  std::vector<Range> ranges;
};

std::mutex g_mutex;
std::vector<Profiler*> g_profilers;
std::atomic<uint64_t> g_decoded{0};

Profiler* profiler_of(CUpti_RangeProfiler_Object* object) { return reinterpret_cast<Profiler*>(object); }

void close_range(Profiler& profiler) {
  profiler.ranges.back().end = state().driver.load()->next_correlation();
  profiler.open = false;
}

void open_range(Profiler& profiler, const std::string& name) {
  profiler.ranges.push_back({name, state().driver.load()->next_correlation()});
  profiler.open = true;
}

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
  if (attach() != CUPTI_SUCCESS) return CUPTI_ERROR_UNKNOWN;
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

SIM_COUNTER_CALL(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params) {
  p->counterAvailabilityImageSize = 64;
  return CUPTI_SUCCESS;
}

SIM_COUNTER_CALL(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params) {
  if (const CUptiResult result = attach(); result != CUPTI_SUCCESS) return result;
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
  p->counterDataSize = sizeof(CounterImage) + p->maxNumOfRanges * sizeof(RangeValues);
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
    return CUPTI_ERROR_INVALID_PARAMETER;  // it would need application replay
  if (p->targetNestingLevel != (profiler->automatic ? 0 : 1)) return CUPTI_ERROR_INVALID_PARAMETER;
  profiler->image = reinterpret_cast<CounterImage*>(p->pCounterDataImage);
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
    if (profiler->automatic && range.threads == 0) continue;  // no kernel was launched
    if (lost || profiler->image->count == profiler->most) {
      ++p->numOfRangeDropped;
      continue;
    }
    RangeValues& to = profiler->image->ranges[profiler->image->count++];
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
