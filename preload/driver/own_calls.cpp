#include "preload/driver/own_calls.h"

#include "preload/base/clock.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace prof::preload {

std::atomic<bool> g_note_own_calls{false};

namespace {

// In the order of their ends, apart from threads that write at the same time. A slot that is being written has end 0.
struct OwnCall {
  std::atomic<uint64_t> begin{0}, end{0};
  std::atomic<uint32_t> tid{0};
};
constexpr uint32_t kOwnCalls = 4096;
OwnCall g_own_calls[kOwnCalls];
std::atomic<uint64_t> g_noted{0};

}  // namespace

void note_own_calls(uint64_t begin) {
  OwnCall& slot = g_own_calls[g_noted.fetch_add(1, std::memory_order_relaxed) % kOwnCalls];
  slot.end.store(0, std::memory_order_release);
  slot.begin.store(begin, std::memory_order_relaxed);
  slot.tid.store(static_cast<uint32_t>(syscall(SYS_gettid)), std::memory_order_relaxed);
  slot.end.store(gpu_clock_ns(), std::memory_order_release);
}

bool is_own_call(uint32_t tid, uint64_t start) {
  const uint64_t noted = g_noted.load(std::memory_order_acquire);
  const uint64_t oldest = noted > kOwnCalls ? noted - kOwnCalls : 0;
  // The first one that ended after `start`, and a few before it, because threads write nearly in order.
  uint64_t from = oldest, to = noted;
  while (from < to) {
    const uint64_t middle = from + (to - from) / 2;
    if (g_own_calls[middle % kOwnCalls].end.load(std::memory_order_acquire) < start) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  constexpr uint64_t kBefore = 16, kAfter = 128;  // more threads than that do not end own calls at one moment
  const uint64_t first = from > oldest + kBefore ? from - kBefore : oldest;
  for (uint64_t i = first; i < noted && i < from + kAfter; ++i) {
    const OwnCall& one = g_own_calls[i % kOwnCalls];
    const uint64_t end = one.end.load(std::memory_order_acquire);
    if (one.tid.load(std::memory_order_relaxed) == tid && one.begin.load(std::memory_order_relaxed) <= start &&
        start <= end)
      return true;
  }
  return false;
}

}  // namespace prof::preload
