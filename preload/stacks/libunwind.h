// Which callers does libunwind find where an unwind rule has a rare form? native_stack.cpp uses it, in the program. The
// library is opened with local scope and called by pointer. It is never linked: its _Unwind_* functions would precede
// libgcc's for the whole program and change how exceptions are thrown.
#pragma once

#include <cstdint>

namespace prof::preload {

// Opens the shipped copy of libunwind, else the copy that the loader finds. Called when a recording starts.
void open_libunwind();
const char* libunwind_path();  // empty: none

// Writes return addresses of this thread to `frames`, innermost first, and returns their number; 0: none. Call it only
// if libunwind_path() is not empty.
uint32_t backtrace_by_libunwind(uint64_t* frames, uint32_t most);

}  // namespace prof::preload
