// Calls of the CUDA run time in a shared libcudart (a static one cannot be stepped in front of, and needs not: the driver calls
// inside are recorded). Each row of cudart_api.def has a thunk for each *bank*, and a bank is a library:
//
//   bank 0 1 2   exported as NAME@libcudart.so.11.0, .12, .13: programs that were linked with that libcudart bind to it. Its
//                library is what the loader would have bound to without us: the next in the global scope, else the one that
//                the caller's own DT_NEEDED names.
//   bank 3 4 5   for libraries of whose functions dlsym handed out an address and that are none of these: a second copy of
//                one version (wheels bring their own), one without versions, a version not yet written.
//
// A thunk (thunk_entry.S) passes all arguments on as they are in registers and on the stack, so that no row has a prototype: the same
// name has other arguments in another version. In the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// What dlsym answers for `name`, which the loader found at `found`: the thunk that stands for that address. Null: no row, or
// no bank is left.
void* runtime_hook(const char* name, void* found);

}  // namespace prof::preload
