// What state is kept of another profiler in the process? cupti_client.cpp and cupti_client_subscriber.cpp write it and
// cupti_client_copy.cpp reads it. Only they and cupti_client_state.cpp include this file.
#pragma once

#include "preload/capture/cupti/cupti_client.h"
#include "preload/capture/cupti/cupti_record_layout.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace prof::preload {

inline constexpr uint32_t kCuptiKinds = 96;  // more than there are: a newer CUPTI has newer kinds
static_assert(kCuptiKinds > CUPTI_ACTIVITY_KIND_COUNT);
inline constexpr uint32_t kKindsOfCupti13 = 60, kMoreKindsSince = 130600;  // of CUPTI 13.2 to 13.5
inline constexpr uint32_t kCallWords = 32;                                 // callback ids below 2,048
inline constexpr uint64_t kOpenEnd = UINT64_MAX;

// When a kind was enabled, in our GPU clock. CUPTI reports late: an operation that began inside belongs to the
// profiler.
struct WantedKind {
  std::atomic<uint64_t> from{kOpenEnd};
  std::atomic<uint64_t> until{0};
  bool now() const { return until.load(std::memory_order_acquire) == kOpenEnd; }
  bool at(uint64_t ns) const {
    return ns >= from.load(std::memory_order_acquire) && ns < until.load(std::memory_order_acquire);
  }
};

// A buffer of the other profiler that contains nothing yet.
struct SpareBuffer {
  enum State : uint32_t { None, Held, Moving };
  std::atomic<uint32_t> state{None};
  uint8_t* buffer = nullptr;
  size_t size = 0, most = 0;
};

struct CuptiClient {
  std::atomic<CUpti_SubscriberHandle> subscriber{nullptr};  // null: the global one, or none
  std::atomic<CUpti_BuffersCallbackRequestFunc> requested{nullptr};
  std::atomic<CUpti_BuffersCallbackCompleteFunc> completed{nullptr};
  std::atomic<CuptiRequestedV2> requested_v2{nullptr};
  std::atomic<CuptiCompletedV2> completed_v2{nullptr};
  std::atomic<TimestampFunction> clock{nullptr};
  std::atomic<uint64_t> first_ours{0}, first_theirs{0};  // the two clocks at one moment, when it started to collect
  std::atomic<bool> system_thread_ids{false};
  std::atomic<uint64_t> dropped{0};
  WantedKind kind[kCuptiKinds];
  std::atomic<uint64_t> driver_calls[kCallWords], runtime_calls[kCallWords];
  SpareBuffer spare;
  std::atomic<bool> keeps_spare{false};  // from when it enables a kind until it flushes with none enabled
  // Threads that hand records over now, and the last one that began.
  std::atomic<uint32_t> copying{0}, copier{0};

  // Of a subscriber.
  std::atomic<bool> several{false};  // it allows other subscribers
  std::atomic<uint64_t> attribute[kAttributes];
  std::atomic<CuptiLayout*> layout[kCuptiKinds];

  bool registered() const {
    return requested.load(std::memory_order_acquire) != nullptr ||
           requested_v2.load(std::memory_order_acquire) != nullptr;
  }
  bool scoped() const { return requested_v2.load(std::memory_order_acquire) != nullptr; }
  bool user_defined() const { return attribute[kUserDefinedRecords].load(std::memory_order_acquire) != 0; }
  // Whether it enabled a kind; with user-defined records, one of which it selected fields.
  bool gets_records() const {
    for (uint32_t i = 0; i < kCuptiKinds; ++i) {
      if (kind[i].now() && (!user_defined() || layout[i].load(std::memory_order_acquire) != nullptr)) return true;
    }
    return false;
  }
  const std::atomic<uint64_t>* calls(uint32_t which) const {
    return which == CUPTI_ACTIVITY_KIND_DRIVER    ? driver_calls
           : which == CUPTI_ACTIVITY_KIND_RUNTIME ? runtime_calls
                                                  : nullptr;
  }
  std::atomic<uint64_t>* calls(uint32_t which) {
    return const_cast<std::atomic<uint64_t>*>(static_cast<const CuptiClient*>(this)->calls(which));
  }
};
// The first one is the global one. Drivers of today allow one subscriber.
inline constexpr uint32_t kCuptiClients = 5;
extern CuptiClient g_cupti_clients[kCuptiClients];
extern std::atomic<bool> g_buffers_in_use;  // CUPTI requested one of ours

// False: none is held. True: the caller owns the buffer.
bool take_spare(CuptiClient& client, uint8_t*& buffer, size_t& size, size_t& most);
// Requests a buffer from the other profiler, unless one is held.
void ask_for_spare(CuptiClient& client);
// Requests a buffer, by whichever API it registered. Returns an empty one to it.
void request_buffer(const CuptiClient& client, uint8_t*& buffer, size_t& size, size_t& most);
void return_empty_buffer(const CuptiClient& client, uint8_t* buffer, size_t size);
// What the profiler calls this thread.
uint64_t this_thread_for(const CuptiClient& client);

// Our GPU clock and the other profiler's clock, read together.
struct ClockPair {
  uint64_t ours, theirs;
};

// Reads the clocks a few times and returns the reading with the tightest bracket.
ClockPair both_clocks(const CuptiClient& client);

}  // namespace prof::preload
