#include "preload/intercept/records/toolkit.h"

#include "preload/base/decimal.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"

#include <atomic>

namespace prof::preload {
namespace {

std::atomic<int> g_newest{0};
std::atomic<int> g_defined{0};  // in the log of the recording below
std::atomic<uint64_t> g_defined_epoch{0};

}  // namespace

void note_requested_version(int version) {
  constexpr int kOldest = 2000, kNewest = 99990;  // other numbers are not a version of CUDA
  if (version < kOldest || version > kNewest) return;
  int newest = g_newest.load(std::memory_order_relaxed);
  while (newest < version && !g_newest.compare_exchange_weak(newest, version, std::memory_order_relaxed)) {}
}

void define_requested_version() {
  const int newest = g_newest.load(std::memory_order_relaxed);
  if (newest == 0) return;
  if (g_defined_epoch.exchange(t_local.epoch, std::memory_order_relaxed) != t_local.epoch)
    g_defined.store(0, std::memory_order_relaxed);
  if (g_defined.exchange(newest, std::memory_order_relaxed) == newest) return;
  define_meta("cuda_toolkit_at_least", Decimal(static_cast<uint64_t>(newest)).text());
}

}  // namespace prof::preload
