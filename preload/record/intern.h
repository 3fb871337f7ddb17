// Which id has the definition of some contents? Process-wide tables map the 64-bit hash of the contents to the id. Code
// that writes definitions uses them. Tables have a fixed size, are lock-free and never shrink. A full table returns 0
// (counted); the caller then stores the contents inline or omits them. If two threads meet a new entry at the same
// time, both may define it. This is harmless, because readers join definitions by contents.
#pragma once

#include "preload/log/count.h"
#include "preload/record/thread.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace prof::preload {

// A fast 64-bit hash of words: multiply-and-fold of 128-bit products. Contents must be added member by member, without
// padding bytes.
struct Hash {
  uint64_t state = 0x9e3779b97f4a7c15;
  static uint64_t fold(uint64_t a, uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  Hash& add(uint64_t word) {
    state = fold(state ^ word, 0xa0761d6478bd642f) + 0xe7037ed1a0b428db;
    return *this;
  }
  Hash& add(std::string_view text) {
    const char* at = text.data();
    size_t left = text.size();
    for (; left >= 8; at += 8, left -= 8) {
      uint64_t word;
      std::memcpy(&word, at, 8);
      add(word);
    }
    uint64_t tail = 0;
    if (left != 0) std::memcpy(&tail, at, left);
    return add(tail).add(text.size());
  }
  uint64_t done() const {
    const uint64_t hash = fold(state ^ 0x8ebc6af09c88c6e3, 0x589965cc75374cc3);
    return hash == 0 ? 1 : hash;
  }
};

class InternTable {
 public:
  struct Slot {
    std::atomic<uint64_t> hash;
    std::atomic<uint32_t> id;
  };

  // `slots` is zeroed memory of `capacity` slots. `capacity` is a power of two.
  void open(Slot* slots, uint32_t capacity) {
    if (mask_ != capacity - 1) mask_ = capacity - 1;
    next_id_.store(1, std::memory_order_relaxed);
    used_.store(0, std::memory_order_relaxed);
    slots_.store(slots, std::memory_order_release);
  }

  uint32_t find(uint64_t hash) const {
    const Slot* const slots = slots_.load(std::memory_order_acquire);
    if (slots == nullptr) return 0;
    for (uint32_t i = static_cast<uint32_t>(hash) & mask_, tries = 0; tries < kMaxProbes;
         i = (i + 1) & mask_, ++tries) {
      const uint64_t there = slots[i].hash.load(std::memory_order_acquire);
      if (there == hash) return slots[i].id.load(std::memory_order_acquire);  // 0: another thread is defining it
      if (there == 0) return 0;
    }
    return 0;
  }

  // Returns the id of `hash`. If the hash is new, takes a new id, calls `write(id)` and then makes the id visible.
  // `write` must commit the definition and return whether it did. Returns 0 if the table is full or nothing was
  // written; the table or `write` counts it.
  template <class Write> uint32_t intern(uint64_t hash, Write&& write) {
    if (const uint32_t id = find(hash); id != 0) return id;
    return intern_new(hash, write);
  }

 private:
  static constexpr uint32_t kMaxProbes = 64;

  template <class Write> __attribute__((noinline)) uint32_t intern_new(uint64_t hash, Write& write) {
    // The slots are read before is_cut_off(). So a thread that is cut off afterwards still defines in its own log and
    // its own table.
    Slot* const slots = slots_.load(std::memory_order_acquire);
    if (is_cut_off()) return 0;
    if (slots == nullptr || used_.load(std::memory_order_relaxed) > mask_ - mask_ / 4) {
      count(format::LossCounter::intern_full, 1);
      return 0;
    }
    const uint32_t id = next_id_.fetch_add(1, std::memory_order_relaxed);
    if (!write(id)) return 0;
    for (uint32_t i = static_cast<uint32_t>(hash) & mask_, tries = 0; tries < kMaxProbes;
         i = (i + 1) & mask_, ++tries) {
      uint64_t there = slots[i].hash.load(std::memory_order_acquire);
      if (there == 0 && slots[i].hash.compare_exchange_strong(there, hash, std::memory_order_acq_rel)) {
        used_.fetch_add(1, std::memory_order_relaxed);
        there = hash;
      }
      if (there == hash) {
        slots[i].id.store(id, std::memory_order_release);
        return id;
      }
    }
    count(format::LossCounter::intern_full, 1);
    return id;  // valid for this use only; the next use defines it again
  }

  std::atomic<Slot*> slots_{nullptr};
  uint32_t mask_ = 0;
  std::atomic<uint32_t> next_id_{1};
  std::atomic<uint32_t> used_{0};
};

// The tables of this recording.
struct InternTables {
  InternTable strings, functions, modules, configs, contexts, streams, graphs, gpu_streams, gpu_kernels, nvtx_domains,
      nvtx_labels, nvtx_schemas, nvtx_counters, stacks, python_frames;
};
extern InternTables g_intern;

// Makes empty tables when a recording starts (lifecycle/subsystems.cpp). `ended` is the epoch of the earlier recording
// of this process whose tables are still used by threads that it cut off (log/retired.h); 0: there is none. Returns
// false if there is no memory.
bool open_intern_tables(uint64_t ended);

}  // namespace prof::preload
