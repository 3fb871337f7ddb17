// A lock-free table of fixed size from driver handles to 64-bit values, for hooks: find, put, erase. If all places that
// a handle may take are in use, put() returns false and the caller continues without the entry. If two threads put the
// same new handle at once, the table may have two entries of equal value.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::preload {

template <uint32_t kCapacity> class HandleMap {
  static_assert((kCapacity & (kCapacity - 1)) == 0);

 public:
  uint64_t find(const void* handle) const {
    const uint64_t key = reinterpret_cast<uint64_t>(handle);
    for (uint32_t i = 0, at = start(key); i < kProbes; ++i, at = (at + 1) & (kCapacity - 1)) {
      const uint64_t there = slots_[at].key.load(std::memory_order_acquire);
      if (there == key) return slots_[at].value.load(std::memory_order_acquire);
      if (there == 0) return 0;
    }
    return 0;
  }

  bool put(const void* handle, uint64_t value) {
    const uint64_t key = reinterpret_cast<uint64_t>(handle);
    if (key <= kErased) return false;
    Slot* free = nullptr;
    for (uint32_t i = 0, at = start(key); i < kProbes; ++i, at = (at + 1) & (kCapacity - 1)) {
      const uint64_t there = slots_[at].key.load(std::memory_order_acquire);
      if (there == key) {
        slots_[at].value.store(value, std::memory_order_release);
        return true;
      }
      if (free == nullptr && there <= kErased) free = &slots_[at];
      if (there == 0) break;
    }
    if (free == nullptr) return false;
    uint64_t expected = free->key.load(std::memory_order_relaxed);
    if (expected > kErased || !free->key.compare_exchange_strong(expected, kBusy, std::memory_order_acq_rel))
      return false;
    free->value.store(value, std::memory_order_relaxed);
    free->key.store(key, std::memory_order_release);
    return true;
  }

  void erase(const void* handle) {
    const uint64_t key = reinterpret_cast<uint64_t>(handle);
    for (uint32_t i = 0, at = start(key); i < kProbes; ++i, at = (at + 1) & (kCapacity - 1)) {
      uint64_t there = slots_[at].key.load(std::memory_order_acquire);
      if (there == key) slots_[at].key.compare_exchange_strong(there, kErased, std::memory_order_acq_rel);
      if (there == 0) return;
    }
  }

 private:
  static constexpr uint32_t kProbes = 64;
  static constexpr uint64_t kErased = 1;           // not a handle: handles are pointers
  static constexpr uint64_t kBusy = ~uint64_t{0};  // the slot is being filled: no handle matches
  struct Slot {
    std::atomic<uint64_t> key;
    std::atomic<uint64_t> value;
  };
  static uint32_t start(uint64_t key) {
    return static_cast<uint32_t>((key * 0x9e3779b97f4a7c15) >> 40) & (kCapacity - 1);
  }
  Slot slots_[kCapacity] = {};
};

}  // namespace prof::preload
