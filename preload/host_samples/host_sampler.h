// What do the threads that feed the GPU do between their calls? The helper thread samples them (PROF_HOST_SAMPLES).
//
//   running    the kernel takes a sample every `period` of the thread's CPU time (perf_thread.h)
//   blocked    each round of the helper thread is a sample: the system call and the stack (thread_wait.h). It is read
//              once for each time that the thread blocks
//   runnable   each round is a sample too; the thread's registers are not known, so it has no stack
//
// The exact times of the three states come from the kernel's records of switches. If the kernel refuses perf events, a
// round is a sample of every thread, and there are no states. Rounds are `period` apart on average, with a random
// part, because a fixed distance would hit a periodic program at the same places again and again.
//
// Nothing is done in the threads themselves: no signal, no ptrace, no timer. Memory of theirs is read through the
// kernel. Without the option, and until prof ctl requests samples, nothing happens at all.
#pragma once

#include "preload/base/options.h"

#include <cstdint>

namespace prof::preload {

// Called when a recording starts.
void open_host_samples();
// Ends samples, or starts them at another rate, for the rest of the recording. The helper thread calls it while it may
// write to the log. ControlWords::samples has the result.
void switch_host_samples(const option::HostRate& rate);
// One round, if it is due. The helper thread calls it.
void tend_host_samples();
// When the next round is due, CLOCK_MONOTONIC ns; ~0: never.
uint64_t next_host_samples(uint64_t now_ns);
// Reads what the kernel has, and stops.
void finish_host_samples();
// In the child of a fork.
void abandon_host_samples();

}  // namespace prof::preload
