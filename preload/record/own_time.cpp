#include "preload/record/own_time.h"

namespace prof::preload {

std::atomic<uint64_t> g_own_ticks{0};
std::atomic<uint64_t> g_cupti_open_ticks{0};

void budget_spend(uint64_t ticks) { g_own_ticks.fetch_add(ticks, std::memory_order_relaxed); }

void budget_spend_cupti_open(uint64_t ticks) {
  budget_spend(ticks);
  g_cupti_open_ticks.store(ticks, std::memory_order_relaxed);
}

}  // namespace prof::preload
