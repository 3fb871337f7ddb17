#include "preload/driver/own_calls.h"

#include "preload/base/clock.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace prof::preload {

std::atomic<bool> g_note_own_calls{false};

namespace {

// A slot that is being written has end 0.
struct OwnCall {
  std::atomic<uint64_t> begin{0}, end{0};
  std::atomic<uint32_t> tid{0};
};
// The calls of the threads whose ids leave the same remainder: nearly always of one thread, so in the order of time.
constexpr uint32_t kBuckets = 32, kOwnCalls = 512;
struct Bucket {
  std::atomic<uint64_t> noted{0};
  OwnCall call[kOwnCalls];
};
Bucket g_own_calls[kBuckets];

}  // namespace

void note_own_calls(uint64_t begin) {
  const auto tid = static_cast<uint32_t>(syscall(SYS_gettid));
  Bucket& bucket = g_own_calls[tid % kBuckets];
  OwnCall& slot = bucket.call[bucket.noted.fetch_add(1, std::memory_order_relaxed) % kOwnCalls];
  slot.end.store(0, std::memory_order_release);
  slot.begin.store(begin, std::memory_order_relaxed);
  slot.tid.store(tid, std::memory_order_relaxed);
  slot.end.store(gpu_clock_ns(), std::memory_order_release);
}

bool is_own_call(uint32_t tid, uint64_t start) {
  const Bucket& bucket = g_own_calls[tid % kBuckets];
  const uint64_t noted = bucket.noted.load(std::memory_order_acquire);
  const uint64_t oldest = noted > kOwnCalls ? noted - kOwnCalls : 0;
  // The first one that ended after `start`, and some around it, for threads that wrote at the same time.
  uint64_t from = oldest, to = noted;
  while (from < to) {
    const uint64_t middle = from + (to - from) / 2;
    if (bucket.call[middle % kOwnCalls].end.load(std::memory_order_acquire) < start) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  constexpr uint64_t kAround = 16;
  const uint64_t first = from > oldest + kAround ? from - kAround : oldest;
  for (uint64_t i = first; i < noted && i < from + kAround; ++i) {
    const OwnCall& one = bucket.call[i % kOwnCalls];
    const uint64_t end = one.end.load(std::memory_order_acquire);
    if (one.tid.load(std::memory_order_relaxed) == tid && one.begin.load(std::memory_order_relaxed) <= start &&
        start <= end)
      return true;
  }
  return false;
}

}  // namespace prof::preload
