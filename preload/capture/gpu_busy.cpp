#include "preload/capture/gpu_busy.h"

#include <algorithm>
#include <atomic>
#include <bit>

namespace prof::preload {

namespace {

constexpr uint64_t kLeastNs = 20'000'000;  // of GPU time that a share is computed over
constexpr uint64_t kOldNs = 1'000'000'000;

std::atomic<uint64_t> g_end_ns{0}, g_busy_ns{0}, g_devices{0};

struct Seen {
  uint64_t end_ns = 0, busy_ns = 0;
  uint64_t at_ns = 0;  // monotonic
  double share = 1;
};
constinit Seen g_seen;  // of the caller of gpu_busy_share()

}  // namespace

void note_gpu_work(uint64_t end_ns, uint64_t busy_ns, uint64_t devices) {
  g_busy_ns.fetch_add(busy_ns, std::memory_order_relaxed);
  g_devices.fetch_or(devices, std::memory_order_relaxed);
  uint64_t last = g_end_ns.load(std::memory_order_relaxed);
  while (last < end_ns && !g_end_ns.compare_exchange_weak(last, end_ns, std::memory_order_release)) {}
}

double gpu_busy_share(uint64_t now_ns) {
  const uint64_t end_ns = g_end_ns.load(std::memory_order_acquire);
  if (g_seen.end_ns == 0 || end_ns < g_seen.end_ns) {
    g_seen = {end_ns, g_busy_ns.load(std::memory_order_relaxed), now_ns, 1};
  } else if (end_ns - g_seen.end_ns >= kLeastNs) {
    const uint64_t busy_ns = g_busy_ns.load(std::memory_order_relaxed);
    const auto devices = static_cast<double>(std::popcount(g_devices.exchange(0, std::memory_order_relaxed)));
    const double share = static_cast<double>(busy_ns - g_seen.busy_ns) / static_cast<double>(end_ns - g_seen.end_ns);
    g_seen = {end_ns, busy_ns, now_ns, std::min(share / std::max(devices, 1.0), 1.0)};
  }
  return now_ns - g_seen.at_ns < kOldNs ? g_seen.share : 1;
}

void forget_gpu_work() {
  g_end_ns.store(0, std::memory_order_relaxed);
  g_devices.store(0, std::memory_order_relaxed);
  g_seen = {};
}

}  // namespace prof::preload
