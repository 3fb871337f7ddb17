// How are hardware samples (PROF_SAMPLING) recorded? They are values of hardware counters at an interval, of each GPU
// that the process uses, in addition to all other records. Hooks and the helper thread use it, in the program.
//
//   first context of a GPU   its first launch, or the helper thread for the others -> open, start
//   samples                  the helper thread's rounds, the recording's end -> counter_samples events
//
// It adds nothing to the path of a launch: only launches before a GPU is sampled call it, later ones do not.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace prof::preload {

extern std::atomic<bool> g_hardware_sampling;
inline bool hardware_sampling_on() { return g_hardware_sampling.load(std::memory_order_relaxed); }
// Whether launches must call prepare_hardware_sampling(): until their GPU is sampled, or is known not to be.
extern std::atomic<bool> g_hardware_sampling_awaited;
inline bool hardware_sampling_awaited() { return g_hardware_sampling_awaited.load(std::memory_order_relaxed); }

// Called when a recording starts; reads the options.
void open_hardware_sampling();
// Called before a call that may submit an operation to the current context. `pass`: no other subsystem needs launches
// to call it.
void prepare_hardware_sampling(bool pass);
// Turns hardware samples off for this recording, and reports and logs the reason.
void drop_hardware_sampling(std::string_view reason);

// The helper thread's rounds: reads the samples that are due. Returns the time of the next round, CLOCK_MONOTONIC ns;
// ~0: never.
uint64_t tend_hardware_sampling(uint64_t now_ns);

void finish_hardware_sampling();   // at exit, bounded by PROF_EXIT_WAIT
void stop_hardware_sampling();     // as finish_hardware_sampling(); the program continues unsampled
void abandon_hardware_sampling();  // the child of a fork: without a call of CUPTI

}  // namespace prof::preload
