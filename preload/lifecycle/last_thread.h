// Is a thread of the recorder the only thread that is left in the process?
#pragma once

#include <cstdint>

namespace prof::preload {

// The number of threads of the process, a main thread that left by pthread_exit() included. 0: there is no /proc.
uint64_t threads_of_process();

// True if the calling thread is the only one of its process that is alive. A main thread that left by pthread_exit()
// still exists for the kernel, as a zombie. Without /proc this cannot be known, and the result is false. Two system
// calls; keeps errno.
bool is_last_thread();

// The calling thread of the recorder is the last one and is about to return, so glibc calls exit(0) on it. Exit
// handlers of the program then run on this thread: its signals are unblocked, as they are in a thread of the program.
void leave_as_last_thread();

}  // namespace prof::preload
