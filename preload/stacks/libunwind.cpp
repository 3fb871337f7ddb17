#include "preload/stacks/libunwind.h"

#include "preload/base/libc.h"
#include "preload/base/loader_call.h"
#include "preload/base/own_library.h"

#include <cstring>

namespace prof::preload {

namespace {

using Backtrace = int (*)(void**, int);
Backtrace g_backtrace = nullptr;
char g_path[4096];

bool open_file(const char* path) {
  const LoaderCall inside;
  void* const handle = real_dlopen()(path, RTLD_NOW | RTLD_LOCAL);
  const DlsymFunction lookup = real_dlsym();
  if (handle == nullptr || lookup == nullptr) {
    if (prof_libc_dlerror != nullptr) prof_libc_dlerror();  // the program must not see our error
    return false;
  }
  g_backtrace = reinterpret_cast<Backtrace>(lookup(handle, "unw_backtrace"));
  return g_backtrace != nullptr;
}

}  // namespace

void open_libunwind() {
  if (g_backtrace != nullptr || real_dlopen() == nullptr) return;
  constexpr char kFile[] = "libunwind.so.8", kFolder[] = "prof/";
  const char* const own = library_path();
  const char* const slash = std::strrchr(own, '/');
  const size_t folder = slash != nullptr ? static_cast<size_t>(slash + 1 - own) : 0;
  if (folder != 0 && folder + sizeof kFolder + sizeof kFile < sizeof g_path) {
    std::memcpy(g_path, own, folder);
    std::memcpy(g_path + folder, kFolder, sizeof kFolder - 1);
    std::memcpy(g_path + folder + sizeof kFolder - 1, kFile, sizeof kFile);
    if (open_file(g_path)) return;
  }
  std::memcpy(g_path, kFile, sizeof kFile);
  if (!open_file(g_path)) g_path[0] = '\0';
}

const char* libunwind_path() { return g_path; }

__attribute__((noinline)) uint32_t backtrace_by_libunwind(uint64_t* frames, uint32_t most) {
  const int n = g_backtrace(reinterpret_cast<void**>(frames), static_cast<int>(most));
  return n > 0 ? static_cast<uint32_t>(n) : 0;
}

}  // namespace prof::preload
