// Recorded threads: their state, from the first record to the thread's end. Called by enter_slow() and at thread exit.
#pragma once

#include "preload/record/recorder.h"

namespace prof::preload {

// The newest life of this process, also while it is being started; survives fork, so that numbers are never used twice.
extern std::atomic<uint64_t> g_newest_life;

// Gives this thread a state of the current life and records its ThreadDef. False: counted. Keeps errno.
bool open_thread();
// Once per life, before the first open_thread(); in a forked child forgets the parent's threads. Those of an earlier part of this
// process keep their state until they come by: they may be inside a record.
void open_threads(bool another_part);
bool life_has_threads(uint64_t life);  // that have not come by since it ended
bool life_has_calls_inside(
    uint64_t life);  // of threads that are inside a hook: in the driver, or recording what it returned

// A thread is inside a call of a `wanted` function that it entered at `tick` or before.
bool life_has_call_since(uint64_t life, uint64_t tick, bool (*wanted)(uint32_t api));

// The low half of pthread_self() of a recorded thread, also when it ended and nobody took its slot; 0: not known.
uint32_t thread_handle(uint32_t tid);

}  // namespace prof::preload
