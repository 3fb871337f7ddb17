// The remains of a CUPTI in a library that was linked with libcupti_static.a and stripped, and CUPTI's first action: it
// requests the driver's tables.
#include <dlfcn.h>

static const char* const results[] = {"CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES",
                                      "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"};
extern "C" __attribute__((visibility("default"))) const char* profiler_result_text(int result) {
  return results[result];
}
extern "C" __attribute__((visibility("default"))) int profiler_start() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver != nullptr && dlsym(driver, "cuGetExportTable") != nullptr ? 0 : 1;
}
