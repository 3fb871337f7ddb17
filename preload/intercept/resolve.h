// From the driver's functions to our hooks. Rows get their real function from libcuda's symbol table, all at once; what the
// driver or the loader hands out is routed by that pointer, never by name: one name has several addresses (_v2, _ptsz, the
// CUDA version asked for). Called while the program resolves symbols, on any thread; takes no lock, stores are idempotent.
#pragma once

#include "preload/driver/api.h"

namespace prof::preload {

// Whether a driver is in this process; its functions are then known. Looks again only while there is none.
bool resolve_driver();

// The row of an exported name; null where none has it.
const Api* row_of_name(const char* name);

// The hook that stands for `real`, or null: not one of ours. `asked` is the name the program used (it decides between rows
// that share an address), per_thread whether it asked for the per-thread variant.
void* hook_of_pointer(void* real, const char* asked, bool per_thread);

// The same for a symbol the loader found under the exact name of `row`: a library that is no libcuda by its soname is
// believed the first time, since name and prototype are certain.
void* hook_of_symbol(void* real, Api row);

}  // namespace prof::preload
