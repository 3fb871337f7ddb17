// What happens when libprof.so is loaded into a process: next to nothing. No file, thread or heap before the first CUDA or NVTX
// event; only the variable that makes NVTX find us, because NVTX asks for it on its first use in each shared object.
#include "preload/control/wanted.h"
#include "preload/lifecycle/recording_period.h"
#include "preload/lifecycle/start.h"

#include <link.h>
#include <sys/auxv.h>

#include <cstdlib>
#include <cstring>

namespace prof::preload {

namespace {

char g_path[4096];
char g_chained[4096];
bool g_inert = false;

struct LoadOrder {
  bool seen_us = false;
  bool before_libc = false;
};

// dl_iterate_phdr goes in load order: a preload comes before libc, a library opened by NVTX or dlopen after it.
int look(dl_phdr_info* info, size_t, void* order_argument) {
  auto* const order = static_cast<LoadOrder*>(order_argument);
  const auto here = reinterpret_cast<uintptr_t>(&look);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const uintptr_t from = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || here < from || here >= from + segment.p_memsz) continue;
    order->seen_us = true;
    order->before_libc = true;
    if (info->dlpi_name != nullptr && std::strlen(info->dlpi_name) < sizeof g_path)
      std::strcpy(g_path, info->dlpi_name);
    return 1;
  }
  const char* const name = info->dlpi_name;
  const char* const slash = name != nullptr ? std::strrchr(name, '/') : nullptr;
  if (slash != nullptr && std::strncmp(slash + 1, "libc.so", 7) == 0) return 1;
  return 0;
}

__attribute__((constructor)) void loaded() {
  LoadOrder order;
  dl_iterate_phdr(look, &order);
  g_inert = getauxval(AT_SECURE) != 0 || !order.before_libc;
  if (g_inert || g_path[0] == '\0') return;
  leave_children_alone(g_path);
  open_window();
  const char* const nvtx = getenv("PROF_NVTX");
  if (nvtx != nullptr && std::strcmp(nvtx, "off") == 0 && !window_is(Window::AwaitsRange)) return;
  constexpr const char* kInjection = "NVTX_INJECTION64_PATH";
  constexpr const char* kChain = "PROF_NVTX_CHAIN";  // for children, which find our path in the first variable
  const char* other = getenv(kInjection);
  if (other != nullptr && std::strcmp(other, g_path) == 0) other = getenv(kChain);
  if (other != nullptr && other[0] != '\0' && std::strlen(other) < sizeof g_chained) {
    std::strcpy(g_chained, other);
    setenv(kChain, g_chained, 1);
  }
  setenv(kInjection, g_path, 1);
}

}  // namespace

bool inert() { return g_inert; }
const char* library_path() { return g_path; }
const char* chained_nvtx_injection() { return g_chained; }

}  // namespace prof::preload
