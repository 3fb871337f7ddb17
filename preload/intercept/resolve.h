// Which hook replaces a function of the driver? Rows get their real functions from libcuda's symbol table, all at once.
// A function that the driver or the loader returns is matched by its pointer, never by its name. One name has several
// addresses (_v2, _ptsz, the requested CUDA version). These functions run while the program resolves symbols, on any
// thread. They take no lock, and their stores are idempotent.
#pragma once

#include "preload/driver/api.h"

namespace prof::preload {

// Whether a driver is in this process; if so, its functions are known. Searches again only while there is none.
bool resolve_driver();

// The row of an exported name. Null: no row has it.
const Api* row_of_name(const char* name);

// The hook that replaces `real`. Null: `real` is the function of no row. `asked` is the name that the program used; it
// decides between rows that share an address. per_thread: the program requested the per-thread variant.
void* hook_of_pointer(void* real, const char* asked, bool per_thread);

// The same for a symbol that the loader found under the exact name of `row`. A library whose soname is not libcuda's is
// accepted the first time, because name and prototype are certain.
void* hook_of_symbol(void* real, Api row);

}  // namespace prof::preload
