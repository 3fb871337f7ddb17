// How busy were the GPUs lately? The answer comes from the GPU times that CUPTI delivered, so it is up to PROF_FLUSH
// old. Host samples in starved mode use it: a program whose launches come one by one leaves the GPU idle between its
// kernels, but there is always a launch that is not known to have finished.
#pragma once

#include <cstdint>

namespace prof::preload {

// CUPTI's thread, once a buffer: when the last of its operations ended (CUPTI's clock), the sum of their durations, and
// a bit for each device.
void note_gpu_work(uint64_t end_ns, uint64_t busy_ns, uint64_t devices);

// The busy share of the time up to the last delivered operation, mean of the devices that worked. Overlapping
// operations count several times, at most 1. It is 1 if it is not known, or if nothing was delivered for a second.
// `now_ns`: monotonic. One caller at a time, the helper thread.
double gpu_busy_share(uint64_t now_ns);

void forget_gpu_work();  // a recording begins

}  // namespace prof::preload
