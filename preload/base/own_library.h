// Where is libprof.so, and may it do anything in this process? The constructor (lifecycle/load.cpp) determines it once.
#pragma once

namespace prof::preload {

// Searches the loaded libraries: in the constructor, or before it if NVTX is used earlier.
void find_own_library();

// True in a process that must not be touched: AT_SECURE is set, the library was not loaded as a
// preload, or libc is not glibc.
bool inert();  // false in test programs that link the objects

// Whether `address` is in the code of libprof.so.
bool is_own_code(const void* address);

// The path of libprof.so itself; empty before the constructor ran.
const char* library_path();

}  // namespace prof::preload
