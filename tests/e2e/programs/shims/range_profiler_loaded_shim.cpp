// Has the soname of the library that range profilers are linked with, and nothing else of it.
// Soname: libnvperf_host.so
extern "C" __attribute__((visibility("default"))) int in_library() { return 1; }
