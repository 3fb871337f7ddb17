// The remains of a CUPTI in a library that was linked with libcupti_static.a and stripped: its table of results, and
// its lookup of the driver by dlsym.
#include <dlfcn.h>

static const char* const results[] = {"CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES",
                                      "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"};
extern "C" __attribute__((visibility("default"))) const char* profiler_result_text(int result) {
  return dlsym(RTLD_DEFAULT, "cuInit") != nullptr ? results[result] : "";
}
