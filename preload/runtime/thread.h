// Recorded threads: their state, from the first record to the thread's end. Called by enter_slow() and at thread exit.
#pragma once

#include "preload/runtime/recorder.h"

namespace prof::preload {

// Gives this thread a state of the current life and records its ThreadDef. False: counted. Keeps errno.
bool open_thread();
// Once per life, before the first open_thread(); in a forked child forgets the parent's threads.
void open_threads();

// The low half of pthread_self() of a recorded thread, also when it ended and nobody took its slot; 0: not known.
uint32_t thread_handle(uint32_t tid);

}  // namespace prof::preload
