#include "preload/capture/cupti/cupti_client.h"

#include "preload/base/clock.h"
#include "preload/capture/cupti/cupti_client_state.h"
#include "preload/log/count.h"
#include "preload/record/texts.h"
#include "preload/record/thread_scope.h"

#include <atomic>
#include <ctime>

namespace prof::preload {

namespace {

void anchor_clocks() {
  const ClockPair moment = both_clocks();
  g_cupti_client.first_ours.store(moment.ours, std::memory_order_relaxed);
  g_cupti_client.first_theirs.store(moment.theirs, std::memory_order_release);
}

void set_calls(CUpti_ActivityKind kind, uint64_t bits) {
  std::atomic<uint64_t>* const words = g_cupti_client.calls(kind);
  for (uint32_t i = 0; words != nullptr && i < kCallWords; ++i) words[i].store(bits, std::memory_order_relaxed);
}

void tell() {
  if (g_cupti_client.told.exchange(true)) return;
  count(format::LossCounter::cupti_shared);
  const ThreadScope scope;
  if (scope.recording())
    define_meta("cupti_shared", "another profiler in the program gets its records through libprof");
}

}  // namespace

void set_cupti_client(CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed) {
  if (g_cupti_client.requested.load(std::memory_order_relaxed) != requested) return_spare_to_cupti_client();
  g_cupti_client.requested.store(requested, std::memory_order_release);
  g_cupti_client.completed.store(completed, std::memory_order_release);
  tell();
}

void set_cupti_client_clock(TimestampFunction clock) {
  g_cupti_client.clock.store(clock, std::memory_order_release);
  anchor_clocks();
}

uint64_t cupti_client_now() {
  if (const TimestampFunction clock = g_cupti_client.clock.load(std::memory_order_acquire); clock != nullptr)
    return clock();
  return kernel_clock_ns(CLOCK_REALTIME);
}

void set_cupti_client_system_thread_ids(bool system) {
  g_cupti_client.system_thread_ids.store(system, std::memory_order_relaxed);
}
bool cupti_client_has_system_thread_ids() { return g_cupti_client.system_thread_ids.load(std::memory_order_relaxed); }

void enable_for_cupti_client(CUpti_ActivityKind kind) {
  if (static_cast<uint32_t>(kind) >= kCuptiKinds) return;
  if (!cupti_client_active()) anchor_clocks();
  set_calls(kind, UINT64_MAX);
  WantedKind& wanted = g_cupti_client.kind[kind];
  if (wanted.now()) return;
  wanted.until.store(0, std::memory_order_release);
  wanted.from.store(gpu_clock_ns(), std::memory_order_release);
  wanted.until.store(kOpenEnd, std::memory_order_release);
  ask_for_spare();
}

void disable_for_cupti_client(CUpti_ActivityKind kind) {
  if (static_cast<uint32_t>(kind) >= kCuptiKinds) return;
  uint64_t open = kOpenEnd;
  g_cupti_client.kind[kind].until.compare_exchange_strong(open, gpu_clock_ns(), std::memory_order_acq_rel);
}

void enable_call_for_cupti_client(CUpti_ActivityKind kind, uint32_t cbid, bool on) {
  if (cbid / 64 >= kCallWords || g_cupti_client.calls(kind) == nullptr) return;
  if (on && !g_cupti_client.kind[kind].now()) {
    enable_for_cupti_client(kind);
    set_calls(kind, 0);
  }
  std::atomic<uint64_t>& word = g_cupti_client.calls(kind)[cbid / 64];
  const uint64_t bit = uint64_t{1} << (cbid % 64);
  if (on) {
    word.fetch_or(bit, std::memory_order_relaxed);
  } else {
    word.fetch_and(~bit, std::memory_order_relaxed);
  }
}

bool cupti_client_known() { return g_cupti_client.requested.load(std::memory_order_acquire) != nullptr; }

void return_spare_to_cupti_client() {
  uint8_t* buffer = nullptr;
  size_t size = 0, most = 0;
  const CUpti_BuffersCallbackCompleteFunc completed = g_cupti_client.completed.load(std::memory_order_acquire);
  if (completed == nullptr || cupti_client_active() || !take_spare(buffer, size, most)) return;
  completed(nullptr, 0, buffer, size, 0);
}

bool cupti_client_uses(CUpti_ActivityKind kind) {
  return static_cast<uint32_t>(kind) < kCuptiKinds && g_cupti_client.kind[kind].now();
}

bool cupti_client_active() {
  for (const WantedKind& kind : g_cupti_client.kind) {
    if (kind.now()) return true;
  }
  return false;
}

void reset_cupti_client() {
  g_spare_buffer.state.store(SpareBuffer::None, std::memory_order_relaxed);
  g_cupti_client.requested.store(nullptr, std::memory_order_release);
  g_cupti_client.completed.store(nullptr, std::memory_order_release);
  g_cupti_client.clock.store(nullptr, std::memory_order_release);
  g_cupti_client.system_thread_ids.store(false, std::memory_order_relaxed);
  for (WantedKind& kind : g_cupti_client.kind) {
    kind.until.store(0, std::memory_order_release);
    kind.from.store(kOpenEnd, std::memory_order_release);
  }
}

}  // namespace prof::preload
