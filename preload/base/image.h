// Which functions does a loaded library export, and where? Read from its symbol table in memory: dlopen and dlsym would take
// the loader's lock, which a thread inside a static constructor may hold while it waits for us. In the program; no lock of
// ours is held, nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// Calls visit(context, name, address) for every function that the first loaded library whose soname starts with `soname`
// exports; returns its load address, 0 if there is none. The library cannot go away meanwhile.
using VisitSymbol = void (*)(void* context, const char* name, void* address);
uintptr_t visit_exports(const char* soname, VisitSymbol visit, void* context);

// The same for the library that the object around `caller` names in its DT_NEEDED, where that starts with `soname`; any
// loaded one otherwise.
void* exported_for_caller(const void* caller, const char* soname, const char* name);

struct LoadedLibrary {
  uintptr_t base = 0;    // 0: none
  char path[1024] = {};  // as the loader knows it
};

// The address of a function that the object around `address` exports itself; null: it does not.
void* exported_around(const void* address, const char* name);

// How many loaded libraries (not this one) define the symbol version `version`. `chosen` is the one that the object around
// `caller` names in its DT_NEEDED (a name that starts with `soname`), where it names one of them; else the first.
size_t libraries_with_version(const char* version, const void* caller, const char* soname, LoadedLibrary& chosen);

// The object around `address`, and whether it defines each of the `count` versions (an empty one never).
LoadedLibrary library_around(const void* address, const char* const* versions, size_t count, bool* defines);

}  // namespace prof::preload
