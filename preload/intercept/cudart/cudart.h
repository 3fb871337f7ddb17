// Calls of the CUDA runtime in a shared libcudart. A static libcudart cannot be intercepted and does not need to be,
// because the driver calls inside are recorded. Each row of cudart_api.def has a thunk for each *bank*. A bank
// represents a library:
//
//   bank 0 1 2   exported as NAME@libcudart.so.11.0, .12, .13: programs that were linked with that libcudart bind to
//                it. Its library is the one that the loader would bind to without libprof.so: the next in the global
//                scope, else the one that the caller's own DT_NEEDED names.
//   bank 3 4 5   for other libraries of which dlsym returned a function: a second copy of one version (wheels bring
//                their own), a library without versions, a version that does not exist yet.
//
// A thunk (thunk_entry.S) passes all arguments in registers and on the stack unchanged. A row therefore needs no
// prototype: the same name has other arguments in another version. It runs in the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// What dlsym returns for `name`, which the loader found at `found`: the thunk that replaces that address. Null: no row
// has the name, or no bank is free.
void* runtime_hook(const char* name, void* found);

}  // namespace prof::preload
