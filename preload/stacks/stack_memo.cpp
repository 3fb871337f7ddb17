#include "preload/stacks/stack_memo.h"

#include "preload/record/thread.h"

#include <sys/mman.h>

namespace prof::preload {

namespace {

constexpr uint32_t kMemos = 64;
StackMemo* g_memos = nullptr;
std::atomic<uint32_t> g_taken{0};

}  // namespace

bool open_memos() {
  if (g_memos != nullptr) munmap(g_memos, kMemos * sizeof(StackMemo));  // the parent's, in a forked child
  void* const memory = mmap(nullptr, kMemos * sizeof(StackMemo), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  g_taken.store(0, std::memory_order_relaxed);
  g_memos = memory == MAP_FAILED ? nullptr : static_cast<StackMemo*>(memory);
  return g_memos != nullptr;
}

// Entries of an earlier owner are harmless: an entry fits only if all of its words have the same values again.
StackMemo* take_memo() {
  if (g_memos == nullptr || g_taken.load(std::memory_order_relaxed) >= kMemos) return nullptr;
  for (uint32_t i = 0; i < kMemos; ++i) {
    uint32_t unused = 0;
    if (g_memos[i].in_use.load(std::memory_order_relaxed) == 0 &&
        g_memos[i].in_use.compare_exchange_strong(unused, 1, std::memory_order_acq_rel)) {
      g_taken.fetch_add(1, std::memory_order_relaxed);
      g_memos[i].in_walk = 0;
      g_memos[i].python.reset();
      return &g_memos[i];
    }
  }
  return nullptr;
}

void release_memo(ThreadState& thread) {
  if (thread.memo == nullptr) return;
  thread.memo->in_use.store(0, std::memory_order_release);
  g_taken.fetch_sub(1, std::memory_order_relaxed);
  thread.memo = nullptr;
}

}  // namespace prof::preload
