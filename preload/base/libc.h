// The few libc functions that moved between libraries (libdl, libpthread → libc in glibc 2.34). libprof.so must load
// on glibc 2.28 and newer, so it must not refer to them with a new version. It has weak references to the oldest
// version instead. If the process has no such library, they are null; such a process has no dlopen or no threads. All
// code in preload/ calls these.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#if defined(__aarch64__)
#define PROF_OLDEST_GLIBC "GLIBC_2.17"
#else
#define PROF_OLDEST_GLIBC "GLIBC_2.2.5"
#endif

#define PROF_OLD_LIBC(name) __asm__(".symver prof_libc_" #name "," #name "@" PROF_OLDEST_GLIBC)

// Exports prof_NAME as NAME with the version of libc's function, for example "@@GLIBC_2.2.5" ("@" for a version that
// only old programs use). scripts/cmake/exports.py has the list.
#define PROF_EXPORT_AS(function, name, version)                            \
  __asm__(".globl prof_export_" #function "\n.type prof_export_" #function \
          ", %function\n"                                                  \
          ".set prof_export_" #function ", prof_" #function                \
          "\n"                                                             \
          ".symver prof_export_" #function "," #name version)
#define PROF_EXPORT(name, version) PROF_EXPORT_AS(name, name, version)

extern "C" {
__attribute__((weak)) const char* gnu_get_libc_version();
__attribute__((weak)) void* prof_libc_dlvsym(void*, const char*, const char*);
__attribute__((weak)) int prof_libc_dladdr(const void*, Dl_info*);
__attribute__((weak)) char* prof_libc_dlerror();
__attribute__((weak)) int prof_libc_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
__attribute__((weak)) int prof_libc_pthread_key_create(pthread_key_t*, void (*)(void*));
__attribute__((weak)) int prof_libc_pthread_setspecific(pthread_key_t, const void*);
__attribute__((weak)) int prof_libc_pthread_attr_setstacksize(pthread_attr_t*, size_t);
__attribute__((weak)) int prof_libc_pthread_detach(pthread_t);
}
PROF_OLD_LIBC(dlvsym);
PROF_OLD_LIBC(dladdr);
PROF_OLD_LIBC(dlerror);
PROF_OLD_LIBC(pthread_create);
PROF_OLD_LIBC(pthread_key_create);
PROF_OLD_LIBC(pthread_setspecific);
PROF_OLD_LIBC(pthread_attr_setstacksize);
PROF_OLD_LIBC(pthread_detach);

namespace prof::preload {

using DlsymFunction = void* (*)(void*, const char*);

// False in a process of another libc (musl). Nothing is recorded there, but libc's functions that the library exports
// must work.
inline bool libc_is_glibc() { return gnu_get_libc_version != nullptr; }

// libc's own dlsym, never ours. Null if the process has no libdl. Calls through it have libprof.so as their caller, so
// RTLD_NEXT then means "after libprof.so".
DlsymFunction real_dlsym();

// The function `name` of libc, or of a library between ours and libc that replaces it: that of version `version`, or
// without a version if libc is not glibc. Null if there is none. For functions that the library exports itself.
void* next_function(const char* name, const char* version);

// The symbol `name` of version `version`; null if `handle` has none. Clears dlerror(), since the program did not make
// the call.
void* real_dlvsym(void* handle, const char* name, const char* version);

// libc's own dlopen and dlmopen, never ours (dlopen.S). Null if there is none.
using DlopenFunction = void* (*)(const char*, int);
DlopenFunction real_dlopen();
using DlmopenFunction = void* (*)(long, const char*, int);
DlmopenFunction real_dlmopen();

// libc's own dlclose, never ours. Returns -1 if there is none.
int real_dlclose(void* handle);

}  // namespace prof::preload
