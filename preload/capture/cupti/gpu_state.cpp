#include "preload/capture/cupti/gpu_state.h"

#include "preload/capture/cupti/cupti_front.h"

namespace prof::preload {

std::atomic<bool> g_gpu_burst_drains{false};

bool gpu_activity_collects() {
  const GpuActivity state = g_gpu_activity.load(std::memory_order_acquire);
  return is_attached(state) || state == GpuActivity::Finished;
}

bool gpu_activity_collecting() {
  return is_collecting(g_gpu_activity.load(std::memory_order_acquire)) ||
         g_gpu_burst_drains.load(std::memory_order_relaxed);
}

const Cupti* cupti_in_use() {
  return is_attached(g_gpu_activity.load(std::memory_order_acquire)) ? &g_cupti.api : nullptr;
}

}  // namespace prof::preload
