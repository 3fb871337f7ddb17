// libunwind as a second opinion, for unwind rules of rare forms. Never linked: its _Unwind_* functions would stand before
// libgcc's for the whole program and change how exceptions are thrown. Opened with local scope, called by pointer.
#pragma once

#include <cstdint>

namespace prof::preload {

// libunwind, for the rules that are Hard: the shipped copy, else the loader's. Called when a life starts.
void open_libunwind();
const char* libunwind_path();  // empty: none

// Return addresses of this thread, innermost first: how many; 0: none. Only where libunwind_path() is not empty.
uint32_t backtrace_by_libunwind(uint64_t* frames, uint32_t most);

}  // namespace prof::preload
