// How does a fork stay safe while libprof.so uses the dynamic loader? glibc does not release the loader's locks in a
// forked child. If another thread holds one at the fork, the child's next dlopen() or exception waits for ever. The
// program forks as it likes, so a fork waits until no thread is inside the loader for libprof.so.
#pragma once

#include <link.h>

namespace prof::preload {

// While such an object exists, this thread may be inside the loader for libprof.so. A fork on another thread waits for
// its end, at most 0.1 s. It waits for such a fork, at most 0.1 s. Objects may be nested.
class LoaderCall {
 public:
  LoaderCall();
  ~LoaderCall();
  LoaderCall(const LoaderCall&) = delete;
  LoaderCall& operator=(const LoaderCall&) = delete;
};

// dl_iterate_phdr() inside a LoaderCall.
int visit_objects(int (*visit)(dl_phdr_info*, size_t, void*), void* context);

// Forks wait from now on. Registers fork handlers, once. Do not call it first in a fork handler: glibc before 2.36
// holds a lock there. A child runs fork handlers in the order in which they were registered. An allocator registers its
// handler with the first allocation; allocate before, so that `in_child` can allocate.
void guard_forks();

// The last thing that the guard's handler does in a forked child. Null: nothing.
void set_start_in_child(void (*in_child)());

// True while that function runs. A thread that the child does not have may have held a lock of the loader, which then
// is never released. What the program did not ask for must not use the loader here.
bool loader_may_be_locked();

}  // namespace prof::preload
