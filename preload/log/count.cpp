#include "preload/log/count.h"

#include "preload/base/life_page.h"
#include "preload/base/page_size.h"
#include "preload/format/block.h"
#include "preload/log/log_storage.h"

#include <sys/mman.h>

#include <cerrno>

namespace prof::preload {

namespace {

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

// Counts while there is no log: before the start, and in a forked child until it starts its own log. Fork wipes this
// page in the child, because the parent's counts belong to the parent. Kernels that cannot wipe it leave it unchanged.
struct alignas(kLargestPage) EarlyPage {
  std::atomic<uint64_t> counter[format::kMaxCounters];
  std::atomic<uint32_t> asked;
};
static_assert(sizeof(EarlyPage) == kLargestPage);
EarlyPage g_early;

void count_early(uint32_t index, uint64_t n) {
  if (g_early.asked.exchange(1, std::memory_order_relaxed) == 0) {
    const int saved = errno;
    madvise(&g_early, sizeof g_early, MADV_WIPEONFORK);
    errno = saved;
  }
  g_early.counter[index].fetch_add(n, std::memory_order_relaxed);
}

}  // namespace

void count(format::LossCounter counter, uint64_t n) {
  const uint32_t index = static_cast<uint32_t>(counter);
  const Phase phase = life().phase.load(std::memory_order_relaxed);
  format::CounterPage* const page = g_log.counters();
  // The phase is Cold and there is a page: the page is the parent's.
  if (page != nullptr && phase != Phase::Cold && phase != Phase::Starting) {
    std::atomic_ref(page->counter[index]).fetch_add(n, std::memory_order_relaxed);
  } else {
    count_early(index, n);
  }
}

void adopt_counters() {
  format::CounterPage* const page = g_log.counters();
  if (page == nullptr) return;
  for (uint32_t i = 0; i < format::kCounterCount; ++i) {
    if (g_early.counter[i].load(std::memory_order_relaxed) == 0) continue;
    const uint64_t n = g_early.counter[i].exchange(0, std::memory_order_relaxed);
    std::atomic_ref(page->counter[i]).fetch_add(n, std::memory_order_relaxed);
  }
}

}  // namespace prof::preload
