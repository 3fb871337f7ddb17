#include "preload/base/libc.h"

#include <atomic>
#include <initializer_list>

namespace prof::preload {

DlsymFunction real_dlsym() {
  static std::atomic<DlsymFunction> found{nullptr};
  DlsymFunction function = found.load(std::memory_order_acquire);
  if (function != nullptr || prof_libc_dlvsym == nullptr) return function;
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
  void* const found = prof_libc_dlvsym(handle, name, version);
  if (found == nullptr && prof_libc_dlerror != nullptr) prof_libc_dlerror();
  return found;
}

int real_dlclose(void* handle) {
  static std::atomic<int (*)(void*)> found{nullptr};
  int (*function)(void*) = found.load(std::memory_order_acquire);
  if (function == nullptr) {
    const DlsymFunction lookup = real_dlsym();
    function = lookup != nullptr ? reinterpret_cast<int (*)(void*)>(lookup(RTLD_NEXT, "dlclose")) : nullptr;
    if (function == nullptr) return -1;
    found.store(function, std::memory_order_release);
  }
  return function(handle);
}

}  // namespace prof::preload
