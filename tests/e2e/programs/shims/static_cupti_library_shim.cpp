// What is left of a CUPTI in a library that was linked with libcupti_static.a and stripped: its table of results.
extern "C" __attribute__((visibility("default"))) const char* profiler_result_text() {
  return "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
}
