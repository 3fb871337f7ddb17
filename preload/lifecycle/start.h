// How does the recorder start and finish? Its phases are cold → starting → recording → stopped. Nothing happens
// in a process before its first CUDA or NVTX event. The thread of this event starts the recording; meanwhile, calls of
// other threads pass through and are counted. A forked child starts cold. call_scope.h and recording_period.h use it.
#pragma once

#include <cstdint>

namespace prof::preload {

// For thread_ready() (call_scope.h), if this thread does not record yet. Starts the recorder, opens the thread's state,
// or counts why not. Returns false if the call passes through. Keeps errno.
__attribute__((cold)) bool enter_slow();
// The same inside a call of the recorder or while a record is packed, where a signal handler may call.
__attribute__((cold)) bool enter_interrupted();

// The program is about to create a context, or another profiler to use CUPTI, while a recording is awaited. Does what
// must be done before that (arm_gpu_activity()). Nothing is recorded and no log is created. Returns false if no
// recording is awaited, or this process is not wanted. Keeps errno.
bool prepare_for_a_later_recording();

// The number of recordings of this process so far, including the current one.
uint32_t recordings_so_far();
// The recording has ended and the window waits again: the next recorded call starts another recording, in its own log.
void allow_another_recording();

// Finishes the recording: collects what is left, writes the last clock anchor, cuts the log file to its used size. Runs
// at most once per recording, in the process that started it.
void finish_recording();

}  // namespace prof::preload
