// Samples of hardware counters (PROF_SAMPLING) of each GPU that the process uses, beside everything else that is recorded. In the program.
//
//   first context of a GPU   its first launch, or the helper thread for the others -> open, start
//   samples                  the helper thread's rounds, the recording's end -> counter_samples events
//
// Nothing of it is on the path of a launch: the launches that come before a GPU is sampled ask, later ones do not.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace prof::preload {

extern std::atomic<bool> g_sampling;
inline bool sampling_on() { return g_sampling.load(std::memory_order_relaxed); }
// A launch is to come by until its GPU is sampled, or is known not to be.
extern std::atomic<bool> g_sampling_awaited;
inline bool sampling_awaited() { return g_sampling_awaited.load(std::memory_order_relaxed); }

// The start of a life reads the options.
void open_sampling();
// A call that may put work on the current context is about to be made; `pass`: nobody else wants launches to come by.
void prepare_sampling(bool pass);
// There are no samples in this life; says so.
void drop_sampling(std::string_view reason);

// The helper thread's rounds: takes what is due. Returns when to come again, CLOCK_MONOTONIC ns; ~0: never.
uint64_t tend_sampling(uint64_t now_ns);

void finish_sampling();  // at exit, bounded by PROF_EXIT_WAIT
void end_sampling();     // the same, and the GPUs are sampled no more: the program goes on
void forget_sampling();  // the child of a fork: without a call of CUPTI

}  // namespace prof::preload
