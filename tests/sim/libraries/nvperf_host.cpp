// The library that range profilers evaluate counters with. A program is known to have such a profiler by its name.
extern "C" __attribute__((visibility("default"))) int NVPW_GetSupportedChipNames() { return 1; }
