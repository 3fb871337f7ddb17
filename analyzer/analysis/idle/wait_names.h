// Does the name of a range, op or Python function say that its thread waits on the host: for a lock, a queue, another
// thread, a descriptor? Waits for the GPU are CUDA calls and no names. Used by thread_waits.cpp, which also needs other
// evidence, because "join" is a wait of threads and an operation of data bases. Examples:
//
//   threading.py(320): wait          <built-in method acquire of _thread.lock object at 0x7f>
//   queue.py(171): get               $selectors.py:466 select
//   pthread_cond_timedwait, futex, epoll_wait, poll, sem_wait, "queue.get", "lock acquire", "waiting for batch"
#pragma once

#include "analyzer/model/trace.h"

#include <string_view>

namespace prof::analyzer {

bool names_wait(RangeKind kind, std::string_view text);

}  // namespace prof::analyzer
