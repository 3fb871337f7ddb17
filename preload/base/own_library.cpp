#include "preload/base/own_library.h"

#include "preload/base/libc.h"

#include <link.h>
#include <sys/auxv.h>

#include <cstdint>
#include <cstring>

// The linker's own symbols.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[], _etext[];

namespace prof::preload {

OwnMemory g_own_memory;

namespace {

char g_path[4096];
bool g_inert = false;

struct LoadOrder {
  bool seen_us = false;
  bool before_libc = false;
};

void keep_memory(const dl_phdr_info* info) {
  uint64_t begin = UINT64_MAX, end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uint64_t from = info->dlpi_addr + segment.p_vaddr;
    begin = from < begin ? from : begin;
    end = from + segment.p_memsz > end ? from + segment.p_memsz : end;
  }
  // The program of a test that links the objects is not libprof.so. It comes first.
  if (begin < end && info->dlpi_name != nullptr && *info->dlpi_name != '\0') g_own_memory = {begin, end - begin};
}

// dl_iterate_phdr visits libraries in load order. A preload comes before libc; a library opened by NVTX or dlopen comes
// after it.
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
    keep_memory(info);
    return 1;
  }
  const char* const name = info->dlpi_name;
  const char* const slash = name != nullptr ? std::strrchr(name, '/') : nullptr;
  if (slash != nullptr && std::strncmp(slash + 1, "libc.so", 7) == 0) return 1;
  return 0;
}

}  // namespace

void find_own_library() {
  if (!libc_is_glibc()) {
    g_inert = true;
    return;
  }
  LoadOrder order;
  dl_iterate_phdr(look, &order);
  g_inert = getauxval(AT_SECURE) != 0 || !order.before_libc;
}

bool is_own_code(const void* address) {
  return address >= static_cast<const void*>(__ehdr_start) && address < static_cast<const void*>(_etext);
}

bool inert() { return g_inert; }
const char* library_path() { return g_path; }

}  // namespace prof::preload
