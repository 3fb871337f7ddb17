// Where is libprof.so, and may it do anything in this process? The constructor (lifecycle/load.cpp) determines it once.
#pragma once

#include <cstdint>

namespace prof::preload {

// Searches the loaded libraries: in the constructor, or before it if NVTX is used earlier.
void find_own_library();

// True in a process that must not be touched: AT_SECURE is set, the library was not loaded as a
// preload, or libc is not glibc.
bool inert();  // false in test programs that link the objects

// Whether `address` is in the code of libprof.so.
bool is_own_code(const void* address);
// The memory of libprof.so; empty before the constructor ran, and in test programs that link the objects.
struct OwnMemory {
  uint64_t begin = 0, size = 0;
  bool holds(uint64_t address) const { return address - begin < size; }
};
extern OwnMemory g_own_memory;

// The path of libprof.so itself; empty before the constructor ran.
const char* library_path();

}  // namespace prof::preload
