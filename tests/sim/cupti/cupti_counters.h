// Shared declarations of the files about hardware counters: the range profiler (cupti_counters.cpp), the host side
// (cupti_counters_host.cpp) and PM sampling (cupti_samples.cpp).
#pragma once
#include <cupti_profiler_host.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/cupti/cupti_state.h"
#ifdef SIM_NO_RANGE_PROFILER
#undef SIM_EXPORT
#define SIM_EXPORT __attribute__((visibility("hidden")))
#endif

struct CUpti_Profiler_Host_Object {
  std::string_view chip;
  bool samples = false;
  std::vector<std::string> metrics;
  bool broken = false;  // it refused once, and accepts no further metric
};

namespace sim {

constexpr size_t kMetricsPerPass = 4;
constexpr size_t kSampledPerPass = 6;

// The values of one range in the counter data image. The image is the number of ranges followed by these.
struct RangeValues {
  char name[16];
  double nanoseconds, threads;
};
struct CounterImage {
  uint64_t count;
  RangeValues ranges[1];
};
inline const CounterImage* image_of(const uint8_t* bytes) { return reinterpret_cast<const CounterImage*>(bytes); }

// The scripted behaviour of a call. If the result is not CUPTI_SUCCESS, the call returns it.
CUptiResult enter_counter_call(const char* name);

void samples_see(const OperationRecord& record);  // cupti_samples.cpp; may only queue
bool is_sample_image(const uint8_t* image);
CUptiResult evaluate_sample(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params);

}  // namespace sim

// A function of CUPTI: its scripted behaviour, then the body that follows.
#define SIM_COUNTER_CALL(name, Params)                                                   \
  static CUptiResult do_##name(Params* p);                                               \
  SIM_EXPORT CUptiResult name(Params* p) {                                               \
    const sim::LeavesErrno leaves_errno;                                                 \
    const CUptiResult told = sim::enter_counter_call(#name);                             \
    if (told != CUPTI_SUCCESS) return told;                                              \
    if (p->structSize == 0 || p->pPriv != nullptr) return CUPTI_ERROR_INVALID_PARAMETER; \
    return do_##name(p);                                                                 \
  }                                                                                      \
  static CUptiResult do_##name([[maybe_unused]] Params* p)
