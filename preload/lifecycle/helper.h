// What does the helper thread do? It starts with the first recorded event and does all periodic work: it prepares
// slabs, writes a clock anchor per second and flushes GPU records. It may hang inside CUPTI. Threads of the program
// then continue without it.
//
// glibc ends a process with exit(0) when its last thread ends. If the main thread left by pthread_exit() and only the
// helper thread is alive, the helper thread returns, so that this happens as it would without the recorder.
#pragma once

#include <cstdint>

namespace prof::preload {

// Returns false if the thread cannot be created.
bool start_helper();
// When a recording finishes: requests that the helper thread stops, and waits at most `ns` until it no longer touches
// the log.
void stop_helper(uint64_t ns);

// The program is about to make a system call that fails in a process with several threads. If the helper thread is the
// only other thread, requests that it ends and waits, at most 100 ms, until the kernel has removed it. Returns false if
// nothing was done. After the call, resume_helper() starts it again. (After CLONE_NEWPID the kernel allows no new
// thread. The program's threads then do without it.)
bool pause_helper();
void resume_helper();

// The process ends now, without exit handlers (_exit). The helper thread finishes the recording, and the caller waits
// for it: at most PROF_EXIT_WAIT, and at most 0.5 s while nothing is collected. The caller takes no lock, allocates
// nothing and calls no driver function, so it may be inside a signal handler. Nothing happens in a process that shares
// the memory of the recorded one (vfork, clone). Keeps errno.
void finish_on_helper_thread();

}  // namespace prof::preload
