// Which functions does a loaded library export, and where? Hooks and exports use it to find real functions. The symbol
// table is read in memory, because dlopen and dlsym take the loader's lock. A thread inside a static constructor may
// hold that lock while it waits for us.
// This code runs in the program: it holds no lock of the recorder and allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// Calls visit(context, name, address) for every exported function of the first loaded library whose soname starts with
// `soname`. Returns the load address of that library, 0 if there is none. The library cannot be unloaded meanwhile.
using VisitSymbol = void (*)(void* context, const char* name, void* address);
uintptr_t visit_exports(const char* soname, VisitSymbol visit, void* context);

// The address of the exported function `name`; null if there is none. The library is the one in DT_NEEDED of the object
// that contains `caller`, if that name starts with `soname`. Otherwise it is the first loaded library whose soname
// starts with `soname`.
void* exported_for_caller(const void* caller, const char* soname, const char* name);

// The address of function `name` of the kernel's vDSO; null if there is none. It has no system call.
void* vdso_function(const char* name);

struct LoadedLibrary {
  uintptr_t base = 0;    // 0: none
  char path[1024] = {};  // as the loader reports it
};

// The address of function `name` that the object containing `address` exports itself; null if it does not.
void* exported_around(const void* address, const char* name);

// The number of loaded libraries, without this one, that define the symbol version `version`. `chosen` is the library
// in DT_NEEDED of the object that contains `caller`, if that name starts with `soname` and is one of them. Otherwise
// `chosen` is the first one.
size_t libraries_with_version(const char* version, const void* caller, const char* soname, LoadedLibrary& chosen);

// The object that contains `address`, and whether it defines each of the `count` versions. An empty version is never
// defined.
LoadedLibrary library_around(const void* address, const char* const* versions, size_t count, bool* defines);

}  // namespace prof::preload
