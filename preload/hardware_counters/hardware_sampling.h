// Hardware samples (PROF_SAMPLING): values of hardware counters at an interval, of each GPU that the process uses,
// beside everything else that is recorded. In the program.
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

extern std::atomic<bool> g_hardware_sampling;
inline bool hardware_sampling_on() { return g_hardware_sampling.load(std::memory_order_relaxed); }
// A launch is to come by until its GPU is sampled, or is known not to be.
extern std::atomic<bool> g_hardware_sampling_awaited;
inline bool hardware_sampling_awaited() { return g_hardware_sampling_awaited.load(std::memory_order_relaxed); }

// The start of a life reads the options.
void open_hardware_sampling();
// A call that may put work on the current context is about to be made; `pass`: nobody else wants launches to come by.
void prepare_hardware_sampling(bool pass);
// There are no samples in this life; says so.
void drop_hardware_sampling(std::string_view reason);

// The helper thread's rounds: takes what is due. Returns when to come again, CLOCK_MONOTONIC ns; ~0: never.
uint64_t tend_hardware_sampling(uint64_t now_ns);

void finish_hardware_sampling();   // at exit, bounded by PROF_EXIT_WAIT
void stop_hardware_sampling();     // the same where the program continues and its GPUs are sampled no more
void abandon_hardware_sampling();  // the child of a fork: without a call of CUPTI

}  // namespace prof::preload
