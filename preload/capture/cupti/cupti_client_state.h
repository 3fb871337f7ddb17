// What is known of another profiler in the process: what cupti_client.cpp is told and cupti_client_copy.cpp goes by. Only these include this.
#pragma once

#include "preload/capture/cupti/cupti_client.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace prof::preload {

inline constexpr uint32_t kCuptiKinds = CUPTI_ACTIVITY_KIND_COUNT;
inline constexpr uint32_t kCallWords = 32;  // callback ids below 2,048
inline constexpr uint64_t kOpenEnd = UINT64_MAX;

// When a kind was wanted, in our GPU clock. CUPTI delivers late: what began inside still belongs to the other profiler.
struct WantedKind {
  std::atomic<uint64_t> from{kOpenEnd};
  std::atomic<uint64_t> until{0};
  bool now() const { return until.load(std::memory_order_acquire) == kOpenEnd; }
  bool at(uint64_t ns) const {
    return ns >= from.load(std::memory_order_acquire) && ns < until.load(std::memory_order_acquire);
  }
};

struct CuptiClient {
  std::atomic<CUpti_BuffersCallbackRequestFunc> requested{nullptr};
  std::atomic<CUpti_BuffersCallbackCompleteFunc> completed{nullptr};
  std::atomic<TimestampFunction> clock{nullptr};
  std::atomic<uint64_t> first_ours{0}, first_theirs{0};  // the two clocks at one moment, when it began to collect
  std::atomic<bool> system_thread_ids{false};
  std::atomic<bool> told{false};
  WantedKind kind[kCuptiKinds];
  std::atomic<uint64_t> driver_calls[kCallWords], runtime_calls[kCallWords];
  std::atomic<uint64_t>* calls(uint32_t which) {
    return which == CUPTI_ACTIVITY_KIND_DRIVER    ? driver_calls
           : which == CUPTI_ACTIVITY_KIND_RUNTIME ? runtime_calls
                                                  : nullptr;
  }
};
extern CuptiClient g_cupti_client;

// A buffer of the other profiler that holds nothing yet.
struct SpareBuffer {
  enum State : uint32_t { None, Held, Moving };
  std::atomic<uint32_t> state{None};
  uint8_t* buffer = nullptr;
  size_t size = 0, most = 0;
};
extern SpareBuffer g_spare_buffer;

// False: none is held. The buffer is the caller's then.
bool take_spare(uint8_t*& buffer, size_t& size, size_t& most);
// Asks the other profiler for one, unless one is held.
void ask_for_spare();

// Our GPU clock and the other profiler's, read together.
struct ClockPair {
  uint64_t ours, theirs;
};

// Of a few tries the one with the tightest bracket.
ClockPair both_clocks();

}  // namespace prof::preload
