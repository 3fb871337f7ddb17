#include "preload/capture/cupti/cupti_client_state.h"

#include "preload/base/clock.h"
#include "preload/record/thread_local.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace prof::preload {

CuptiClient g_cupti_clients[kCuptiClients];
std::atomic<bool> g_buffers_in_use{false};

bool take_spare(CuptiClient& client, uint8_t*& buffer, size_t& size, size_t& most) {
  SpareBuffer& spare = client.spare;
  uint32_t held = SpareBuffer::Held;
  if (!spare.state.compare_exchange_strong(held, SpareBuffer::Moving, std::memory_order_acquire)) return false;
  buffer = spare.buffer;
  size = spare.size;
  most = spare.most;
  spare.state.store(SpareBuffer::None, std::memory_order_release);
  return true;
}

void ask_for_spare(CuptiClient& client) {
  SpareBuffer& spare = client.spare;
  uint32_t none = SpareBuffer::None;
  if (!client.registered() ||
      !spare.state.compare_exchange_strong(none, SpareBuffer::Moving, std::memory_order_acquire))
    return;
  request_buffer(client, spare.buffer, spare.size, spare.most);
  spare.state.store(spare.buffer != nullptr ? SpareBuffer::Held : SpareBuffer::None, std::memory_order_release);
}

void request_buffer(const CuptiClient& client, uint8_t*& buffer, size_t& size, size_t& most) {
  const KeepErrno keep;
  buffer = nullptr;
  size = most = 0;
  if (const auto scoped = client.requested_v2.load(std::memory_order_acquire); scoped != nullptr)
    return scoped(&buffer, &size, &most, nullptr);  // CUPTI 13.5 passes no information either
  if (const auto global = client.requested.load(std::memory_order_acquire); global != nullptr)
    global(&buffer, &size, &most);
}

void return_empty_buffer(const CuptiClient& client, uint8_t* buffer, size_t size) {
  const KeepErrno keep;
  CuptiCompleteInfo info{sizeof info, this_thread_for(client), nullptr, 0};
  if (const auto scoped = client.completed_v2.load(std::memory_order_acquire); scoped != nullptr)
    return scoped(buffer, size, 0, &info);
  if (const auto global = client.completed.load(std::memory_order_acquire); global != nullptr)
    global(nullptr, 0, buffer, size, 0);
}

uint64_t this_thread_for(const CuptiClient& client) {
  if (client.system_thread_ids.load(std::memory_order_relaxed)) return static_cast<uint64_t>(syscall(SYS_gettid));
  return static_cast<uint64_t>(pthread_self());
}

ClockPair both_clocks(const CuptiClient& client) {
  ClockPair best{};
  uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = gpu_clock_ns();
    const uint64_t theirs = cupti_client_now(client);
    const uint64_t after = gpu_clock_ns();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + (after - before) / 2, theirs};
  }
  return best;
}

}  // namespace prof::preload
