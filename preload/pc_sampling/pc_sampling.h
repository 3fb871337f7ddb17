// How are the instructions of kernels sampled (PROF_PC_SAMPLING)? CUPTI samples program counters and stall reasons of
// each context while kernels run as usual. Only the helper thread reads them; no launch calls anything here.
//
//   GPU activity is on       the helper thread opens a session for each context (CUPTI refuses the other order)
//   each 100 ms              it reads the samples -> pc_batch, pc_samples events; `auto`: up to 800 ms, if that takes
//                            more than 3 % of a core
//   a module is unloaded     the hook waits at most 50 ms until the helper thread has read its samples. CUPTI knows
//                            samples by their address, which the next module may have
//   a profiler of the program needs the same hardware   sampling ends before its call
//
// Without the option, hooks of unloads test one flag.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

extern std::atomic<bool> g_pc_sampling;
inline bool pc_sampling_on() { return g_pc_sampling.load(std::memory_order_relaxed); }

void open_pc_sampling();  // reads the option
// Inside a scope that records: if the options allow no PC samples, reports the reason.
void describe_pc_sampling();
// The helper thread's rounds. Returns the time of the next one, CLOCK_MONOTONIC ns; ~0: never.
uint64_t tend_pc_sampling(uint64_t now_ns);
void finish_pc_sampling();  // bounded by PROF_EXIT_WAIT
// The recording ends, and the program goes on. On the helper thread sampling is not ended: see pc_session.h.
void stop_pc_sampling();
void abandon_pc_sampling();  // the child of a fork: without a call of CUPTI

// Called before the real call on a thread of the program, if pc_sampling_on(). Both wait at most 50 ms.
void read_pc_samples_before_unload();
// The context may end: nothing of it is read any more. One of the other two follows: it ended or is about to, or not.
void pc_before_context_end(CUcontext context);
void pc_context_gone(CUcontext context);
void pc_context_stays(CUcontext context);

// A profiler of the program is about to use the same hardware by calling `function`. PC sampling ends for the rest of
// the recording, in at most 150 ms. The caller is inside a scope.
void yield_pc_sampling(const char* function);

}  // namespace prof::preload
