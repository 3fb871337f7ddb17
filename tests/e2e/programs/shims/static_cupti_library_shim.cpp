// What is left of a CUPTI in a library that was linked with libcupti_static.a and stripped: its table of results. It asks for nothing by
// dlsym, so that nobody looks into it before there is a reason to.
static const char* const results[] = {"CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES",
                                      "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"};
extern "C" __attribute__((visibility("default"))) const char* profiler_result_text(int result) {
  return results[result];
}
