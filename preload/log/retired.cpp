#include "preload/log/retired.h"

#include "preload/base/page_size.h"

#include <sys/mman.h>

#include <cerrno>

namespace prof::preload {

namespace {

struct Retired {
  void* memory;
  size_t bytes;
  uint64_t life;
};
constexpr uint32_t kMost = 4096;  // memory beyond this number stays mapped until the process ends
Retired g_retired[kMost];
uint32_t g_count = 0;

void keep(void* memory, size_t bytes, uint64_t life) {
  if (g_count < kMost) g_retired[g_count++] = {memory, bytes, life};
}

}  // namespace

void retire_memory(void* memory, size_t bytes, uint64_t life) {
  if (memory == nullptr) return;
  madvise(memory, bytes, MADV_DONTNEED);
  keep(memory, bytes, life);
}

void empty_log_pages(void* memory, size_t bytes) {
  const size_t before = bytes_into_page(memory);
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  void* const there = mmap(static_cast<char*>(memory) - before, before + bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  static_cast<void>(there);  // on failure the pages remain those of the closed log
}

void retire_log_pages(void* memory, size_t bytes, uint64_t life) {
  if (memory == nullptr) return;
  empty_log_pages(memory, bytes);
  const size_t before = bytes_into_page(memory);
  keep(static_cast<char*>(memory) - before, before + bytes, life);
}

void free_retired(bool (*has_threads)(uint64_t life)) {
  uint32_t kept = 0;
  uint64_t last_asked = 0;
  bool last_used = false;
  for (uint32_t i = 0; i < g_count; ++i) {
    const Retired retired = g_retired[i];
    if (retired.life != last_asked) {
      last_asked = retired.life;
      last_used = has_threads(retired.life);
    }
    if (last_used) {
      g_retired[kept++] = retired;
    } else {
      munmap(retired.memory, retired.bytes);
    }
  }
  g_count = kept;
}

void abandon_retired() { g_count = 0; }

}  // namespace prof::preload
