#include "preload/capture/cupti/cupti_client.h"

#include "preload/base/clock.h"
#include "preload/capture/cupti/cupti_client_state.h"
#include "preload/driver/own_calls.h"
#include "preload/log/count.h"
#include "preload/record/texts.h"
#include "preload/record/thread_scope.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace prof::preload {

namespace {

std::atomic<CuptiScope> g_scope{CuptiScope::None};
std::atomic<bool> g_told{false};
std::atomic<bool> g_global_kinds{false};  // the global API enabled one

void anchor_clocks(CuptiClient& client) {
  const ClockPair moment = both_clocks(client);
  client.first_ours.store(moment.ours, std::memory_order_relaxed);
  client.first_theirs.store(moment.theirs, std::memory_order_release);
}

void set_calls(CuptiClient& client, CUpti_ActivityKind kind, uint64_t bits) {
  std::atomic<uint64_t>* const words = client.calls(kind);
  for (uint32_t i = 0; words != nullptr && i < kCallWords; ++i) words[i].store(bits, std::memory_order_relaxed);
}

void tell() {
  if (g_told.exchange(true)) return;
  count(format::LossCounter::cupti_shared);
  const ThreadScope scope;
  if (scope.recording())
    define_meta("cupti_shared", "another profiler in the program gets its records through libprof");
}

void reset(CuptiClient& client) {
  client.requested.store(nullptr, std::memory_order_release);
  client.completed.store(nullptr, std::memory_order_release);
  client.requested_v2.store(nullptr, std::memory_order_release);
  client.completed_v2.store(nullptr, std::memory_order_release);
  client.spare.state.store(SpareBuffer::None, std::memory_order_relaxed);
  client.keeps_spare.store(false, std::memory_order_relaxed);
  client.clock.store(nullptr, std::memory_order_release);
  client.system_thread_ids.store(false, std::memory_order_relaxed);
  client.dropped.store(0, std::memory_order_relaxed);
  for (WantedKind& kind : client.kind) {
    kind.until.store(0, std::memory_order_release);
    kind.from.store(kOpenEnd, std::memory_order_release);
  }
  for (std::atomic<uint64_t>& attribute : client.attribute) attribute.store(0, std::memory_order_relaxed);
  // The layouts are not freed: a profiler may read a buffer later.
  for (std::atomic<CuptiLayout*>& layout : client.layout) layout.store(nullptr, std::memory_order_release);
}

// The profiler may unload its functions after it unsubscribed. A thread that is inside them is waited for, unless it is
// this one.
void wait_for_copies(const CuptiClient& client) {
  if (client.copier.load(std::memory_order_relaxed) == static_cast<uint32_t>(syscall(SYS_gettid))) return;
  constexpr int kLongest = 500;
  for (int i = 0; i < kLongest && client.copying.load(std::memory_order_seq_cst) != 0; ++i) sleep_ns(1'000'000);
}

template <class Requested, class Completed>
void set_functions(CuptiClient& client, std::atomic<Requested>& requested_now, std::atomic<Completed>& completed_now,
                   Requested requested, Completed completed) {
  uint8_t* buffer = nullptr;
  size_t size = 0, most = 0;
  if (requested_now.load(std::memory_order_relaxed) != requested && !cupti_client_active(client) &&
      take_spare(client, buffer, size, most))
    return_empty_buffer(client, buffer, size);
  requested_now.store(requested, std::memory_order_release);
  completed_now.store(completed, std::memory_order_release);
  tell();
}

}  // namespace

CuptiClient& global_cupti_client() { return g_cupti_clients[0]; }

CuptiClient* cupti_client_of(CUpti_SubscriberHandle handle) {
  for (uint32_t i = 1; handle != nullptr && i < kCuptiClients; ++i) {
    if (g_cupti_clients[i].subscriber.load(std::memory_order_acquire) == handle) return &g_cupti_clients[i];
  }
  return nullptr;
}

void add_cupti_subscriber(CUpti_SubscriberHandle handle, bool several) {
  for (uint32_t i = 1; i < kCuptiClients && cupti_client_of(handle) == nullptr; ++i) {
    CUpti_SubscriberHandle none = nullptr;
    if (!g_cupti_clients[i].subscriber.compare_exchange_strong(none, handle)) continue;
    g_cupti_clients[i].several.store(several, std::memory_order_relaxed);
  }
}

void remove_cupti_subscriber(CUpti_SubscriberHandle handle) {
  CuptiClient* const client = cupti_client_of(handle);
  if (client == nullptr) return;
  reset(*client);
  wait_for_copies(*client);
  client->subscriber.store(nullptr, std::memory_order_release);
  for (uint32_t i = 1; i < kCuptiClients; ++i) {
    if (g_cupti_clients[i].subscriber.load(std::memory_order_acquire) != nullptr) return;
  }
  CuptiScope scoped = CuptiScope::Subscribers;
  g_scope.compare_exchange_strong(scoped, CuptiScope::None);
}

bool enter_cupti_scope(CuptiScope scope) {
  CuptiScope now = CuptiScope::None;
  return g_scope.compare_exchange_strong(now, scope) || now == scope;
}

bool global_api_enabled_kinds() { return g_global_kinds.load(std::memory_order_relaxed); }

bool cupti_scope_is(CuptiScope scope) { return g_scope.load(std::memory_order_acquire) == scope; }

void set_cupti_client(CuptiClient& client, CUpti_BuffersCallbackRequestFunc requested,
                      CUpti_BuffersCallbackCompleteFunc completed) {
  set_functions(client, client.requested, client.completed, requested, completed);
}

void set_cupti_client(CuptiClient& client, CuptiRequestedV2 requested, CuptiCompletedV2 completed) {
  set_functions(client, client.requested_v2, client.completed_v2, requested, completed);
}

void set_cupti_client_clock(CuptiClient& client, TimestampFunction clock) {
  client.clock.store(clock, std::memory_order_release);
  anchor_clocks(client);
}

TimestampFunction cupti_client_clock(const CuptiClient& client) { return client.clock.load(std::memory_order_acquire); }

uint64_t cupti_client_now(const CuptiClient& client) {
  if (const TimestampFunction clock = cupti_client_clock(client); clock != nullptr) return clock();
  return kernel_clock_ns(CLOCK_REALTIME);
}

void set_cupti_client_system_thread_ids(CuptiClient& client, bool system) {
  client.system_thread_ids.store(system, std::memory_order_relaxed);
}
bool cupti_client_has_system_thread_ids(const CuptiClient& client) {
  return client.system_thread_ids.load(std::memory_order_relaxed);
}

void enable_for_cupti_client(CuptiClient& client, CUpti_ActivityKind kind) {
  if (static_cast<uint32_t>(kind) >= kCuptiKinds) return;
  if (!cupti_client_active(client)) anchor_clocks(client);
  set_calls(client, kind, UINT64_MAX);
  WantedKind& wanted = client.kind[kind];
  if (wanted.now()) return;
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) g_note_own_calls.store(true, std::memory_order_relaxed);
  wanted.until.store(0, std::memory_order_release);
  wanted.from.store(gpu_clock_ns(), std::memory_order_release);
  wanted.until.store(kOpenEnd, std::memory_order_release);
  client.keeps_spare.store(true, std::memory_order_release);
  if (&client == &global_cupti_client()) g_global_kinds.store(true, std::memory_order_relaxed);
  // CUPTI requests no buffer from a subscriber that has no records. If it fills one of ours already, it requests no
  // other one soon.
  if (!client.scoped() || (g_buffers_in_use.load(std::memory_order_acquire) && client.gets_records()))
    ask_for_spare(client);
}

void disable_for_cupti_client(CuptiClient& client, CUpti_ActivityKind kind) {
  if (static_cast<uint32_t>(kind) >= kCuptiKinds) return;
  uint64_t open = kOpenEnd;
  client.kind[kind].until.compare_exchange_strong(open, gpu_clock_ns(), std::memory_order_acq_rel);
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER && !cupti_client_uses(kind))
    g_note_own_calls.store(false, std::memory_order_relaxed);
}

void enable_call_for_cupti_client(CuptiClient& client, CUpti_ActivityKind kind, uint32_t cbid, bool on) {
  if (cbid / 64 >= kCallWords || client.calls(kind) == nullptr) return;
  if (on && !client.kind[kind].now()) {
    enable_for_cupti_client(client, kind);
    set_calls(client, kind, 0);
  }
  std::atomic<uint64_t>& word = client.calls(kind)[cbid / 64];
  const uint64_t bit = uint64_t{1} << (cbid % 64);
  if (on) {
    word.fetch_or(bit, std::memory_order_relaxed);
  } else {
    word.fetch_and(~bit, std::memory_order_relaxed);
  }
}

bool cupti_client_uses(const CuptiClient& client, CUpti_ActivityKind kind) {
  return static_cast<uint32_t>(kind) < kCuptiKinds && client.kind[kind].now();
}

bool cupti_client_active(const CuptiClient& client) {
  for (const WantedKind& kind : client.kind) {
    if (kind.now()) return true;
  }
  return false;
}

uint64_t cupti_dropped_for_client(CuptiClient& client) { return client.dropped.exchange(0, std::memory_order_relaxed); }

bool cupti_client_uses(CUpti_ActivityKind kind) {
  for (const CuptiClient& client : g_cupti_clients) {
    if (cupti_client_uses(client, kind)) return true;
  }
  return false;
}

bool cupti_client_active() {
  for (const CuptiClient& client : g_cupti_clients) {
    if (client.registered() && cupti_client_active(client)) return true;
  }
  return false;
}

bool cupti_client_known() {
  for (const CuptiClient& client : g_cupti_clients) {
    if (client.registered()) return true;
  }
  return false;
}

void count_dropped_for_cupti_clients(uint64_t dropped) {
  for (CuptiClient& client : g_cupti_clients) {
    if (client.registered()) client.dropped.fetch_add(dropped, std::memory_order_relaxed);
  }
}

void return_spares_to_cupti_clients() {
  for (CuptiClient& client : g_cupti_clients) {
    uint8_t* buffer = nullptr;
    size_t size = 0, most = 0;
    if (!client.registered()) continue;
    const bool active = cupti_client_active(client);
    if (!active) client.keeps_spare.store(false, std::memory_order_release);
    if ((client.scoped() || !active) && take_spare(client, buffer, size, most))
      return_empty_buffer(client, buffer, size);
  }
}

void reset_cupti_clients() {
  for (CuptiClient& client : g_cupti_clients) {
    reset(client);
    client.subscriber.store(nullptr, std::memory_order_release);
  }
  g_global_kinds.store(false, std::memory_order_relaxed);
  g_scope.store(CuptiScope::None, std::memory_order_release);
}

}  // namespace prof::preload
