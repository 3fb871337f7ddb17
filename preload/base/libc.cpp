#include "preload/base/libc.h"

#include "preload/base/image.h"
#include "preload/base/loader_call.h"

#include <link.h>

#include <atomic>
#include <initializer_list>

namespace prof::preload {

namespace {

// musl has no dlvsym(), and the name dlsym is ours for every library. Its own dlsym is found in its table of symbols.
// With that one, RTLD_NEXT finds the next one after ours, which may be another preload's.
DlsymFunction dlsym_without_versions() {
  void* const own = exported_around(reinterpret_cast<const void*>(&dl_iterate_phdr), "dlsym");
  const auto function = reinterpret_cast<DlsymFunction>(own);
  void* const next = function != nullptr ? function(RTLD_NEXT, "dlsym") : nullptr;
  return next != nullptr ? reinterpret_cast<DlsymFunction>(next) : function;
}

// The function after libprof.so in the global scope.
template <class Function> Function found_next(std::atomic<Function>& found, const char* name) {
  Function function = found.load(std::memory_order_acquire);
  const DlsymFunction lookup = function == nullptr ? real_dlsym() : nullptr;
  if (lookup == nullptr) return function;
  function = reinterpret_cast<Function>(lookup(RTLD_NEXT, name));
  found.store(function, std::memory_order_release);
  return function;
}

}  // namespace

DlsymFunction real_dlsym() {
  static std::atomic<DlsymFunction> found{nullptr};
  DlsymFunction function = found.load(std::memory_order_acquire);
  if (function != nullptr) return function;
  if (!libc_is_glibc()) {
    function = dlsym_without_versions();
    found.store(function, std::memory_order_release);
    return function;
  }
  if (prof_libc_dlvsym == nullptr) return nullptr;
  // The newest version comes first: on glibc ≥ 2.34 the old one is only for old programs. If a library preloaded
  // after ours hooks dlsym, RTLD_NEXT finds its dlsym. That library then still sees every look-up.
  for (const char* version : {"GLIBC_2.34", PROF_OLDEST_GLIBC}) {
    function = reinterpret_cast<DlsymFunction>(prof_libc_dlvsym(RTLD_NEXT, "dlsym", version));
    if (function != nullptr) break;
  }
  found.store(function, std::memory_order_release);
  return function;
}

void* real_dlvsym(void* handle, const char* name, const char* version) {
  if (prof_libc_dlvsym == nullptr) return nullptr;
  const LoaderCall inside;
  void* const found = prof_libc_dlvsym(handle, name, version);
  if (found == nullptr && prof_libc_dlerror != nullptr) prof_libc_dlerror();
  return found;
}

void* next_function(const char* name, const char* version) {
  void* found = nullptr;
  if (!libc_is_glibc()) {
    const DlsymFunction lookup = real_dlsym();
    found = lookup != nullptr ? lookup(RTLD_NEXT, name) : nullptr;
  } else if (prof_libc_dlvsym != nullptr) {
    return real_dlvsym(RTLD_NEXT, name, version);
  }
  // glibc before 2.34 without libdl
  return found != nullptr ? found : exported_around(reinterpret_cast<const void*>(&dl_iterate_phdr), name);
}

DlopenFunction real_dlopen() {
  static std::atomic<DlopenFunction> found{nullptr};
  return found_next(found, "dlopen");
}

DlmopenFunction real_dlmopen() {
  static std::atomic<DlmopenFunction> found{nullptr};
  return found_next(found, "dlmopen");
}

int real_dlclose(void* handle) {
  static std::atomic<int (*)(void*)> found{nullptr};
  int (*const function)(void*) = found_next(found, "dlclose");
  return function != nullptr ? function(handle) : -1;
}

}  // namespace prof::preload
