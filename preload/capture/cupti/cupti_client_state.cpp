#include "preload/capture/cupti/cupti_client_state.h"

#include "preload/base/clock.h"

namespace prof::preload {

CuptiClient g_cupti_client;
SpareBuffer g_spare_buffer;

bool take_spare(uint8_t*& buffer, size_t& size, size_t& most) {
  uint32_t held = SpareBuffer::Held;
  if (!g_spare_buffer.state.compare_exchange_strong(held, SpareBuffer::Moving, std::memory_order_acquire)) return false;
  buffer = g_spare_buffer.buffer;
  size = g_spare_buffer.size;
  most = g_spare_buffer.most;
  g_spare_buffer.state.store(SpareBuffer::None, std::memory_order_release);
  return true;
}

void ask_for_spare() {
  const CUpti_BuffersCallbackRequestFunc requested = g_cupti_client.requested.load(std::memory_order_acquire);
  uint32_t none = SpareBuffer::None;
  if (requested == nullptr ||
      !g_spare_buffer.state.compare_exchange_strong(none, SpareBuffer::Moving, std::memory_order_acquire))
    return;
  g_spare_buffer.buffer = nullptr;
  g_spare_buffer.size = g_spare_buffer.most = 0;
  requested(&g_spare_buffer.buffer, &g_spare_buffer.size, &g_spare_buffer.most);
  g_spare_buffer.state.store(g_spare_buffer.buffer != nullptr ? SpareBuffer::Held : SpareBuffer::None,
                             std::memory_order_release);
}

ClockPair both_clocks() {
  ClockPair best{};
  uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = gpu_clock_ns();
    const uint64_t theirs = cupti_client_now();
    const uint64_t after = gpu_clock_ns();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + (after - before) / 2, theirs};
  }
  return best;
}

}  // namespace prof::preload
