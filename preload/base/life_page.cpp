#include "preload/base/life_page.h"

#include <sys/mman.h>

#include <new>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

extern "C" {
extern void* __dso_handle;
int __register_atfork(void (*)(), void (*)(), void (*)(), void*);
}

namespace prof::preload {

LifePage g_first_life_page;
std::atomic<uint64_t> g_newest_life{0};

namespace {

// After a fork the child finds this page full of zeros, so its phase is Cold in every case. After vfork the child
// shares the page, and the parent's recording continues.
LifePage* make_life_page() {
  void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const page = new (memory) LifePage;
  if (madvise(memory, 4096, MADV_WIPEONFORK) != 0) {
    // A kernel without MADV_WIPEONFORK (gVisor): libc's fork handler resets the page. A raw clone is not noticed there.
    __register_atfork(
        nullptr, nullptr,
        [] {
          life().epoch.store(0, std::memory_order_relaxed);
          life().phase.store(Phase::Cold, std::memory_order_relaxed);
          life().used.store(false, std::memory_order_relaxed);
        },
        &__dso_handle);
  }
  return page;
}

}  // namespace

void use_wiped_life_page() {
  if (g_every_launch.life.load(std::memory_order_relaxed) != &g_first_life_page) return;
  LifePage* const page = make_life_page();
  if (page == nullptr) return;
  page->phase.store(Phase::Starting, std::memory_order_relaxed);
  g_every_launch.life.store(page, std::memory_order_release);
}

}  // namespace prof::preload
