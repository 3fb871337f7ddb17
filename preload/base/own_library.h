// Where is libprof.so, and may it do anything in this process? The constructor (lifecycle/load.cpp) determines it once.
#pragma once

#include <cstdint>

namespace prof::preload {

// Searches the loaded libraries. Only the constructor calls it.
void find_own_library();

// True in a process that must not be touched: AT_SECURE is set, or the library was not loaded as a preload.
bool inert();  // false in test programs that link the objects

// The memory of libprof.so; empty before the constructor ran, and in test programs that link the objects.
struct OwnMemory {
  uint64_t begin = 0, size = 0;
  bool holds(uint64_t address) const { return address - begin < size; }
};
extern OwnMemory g_own_memory;

// The path of libprof.so itself; empty before the constructor ran.
const char* library_path();

}  // namespace prof::preload
