// The recorder's life: cold → starting → recording → stopped. Nothing happens in a process before its first CUDA or
// NVTX event; the thread that sees it starts the recording, others pass through meanwhile and count. A forked child
// starts cold.
#pragma once

#include <cstdint>

namespace prof::preload {

// For thread_ready() (call_scope.h), where this thread does not record yet. It starts the recorder, opens the thread's
// state, or counts why not. False: pass through. Keeps errno.
__attribute__((cold)) bool enter_slow();
// The same inside our own calls or inside the packing of a record, where a signal handler may call.
__attribute__((cold)) bool enter_interrupted();

// A context is about to be made while a part is waited for: what must be done before the first one is done now
// (arm_gpu_activity). Nothing is recorded and no log is made. Keeps errno.
void prepare_for_a_later_part();

// Parts of the run that were recorded in this process, with the one that is.
uint32_t parts_so_far();
// The recording has ended and the window waits again: the next recorded call starts another one, in a log of its own.
void allow_another_life();

// Ends the recording for good: collects what is left, writes the last anchor, cuts the log's file. At most once, in the
// process that started it.
void finish_life();

}  // namespace prof::preload
