// A lock-free table from driver handles to 64-bit values, for hooks: find, put, erase. It grows: when all places that a
// handle may take are in use, a part four times as large as the last one is added. It has at most kParts parts; then
// put() returns false and the caller continues without the entry. If two threads put the same new handle at once, the
// table may have two entries of equal value.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace prof::preload {

template <uint32_t kCapacity> class HandleMap {
  static_assert((kCapacity & (kCapacity - 1)) == 0);

 public:
  static constexpr uint32_t kParts = 5;  // 341 times the places of the first one

  uint64_t find(const void* handle) const {
    const Slot* const slot = find_slot(reinterpret_cast<uint64_t>(handle));
    return slot != nullptr ? slot->value.load(std::memory_order_acquire) : 0;
  }

  bool put(const void* handle, uint64_t value) {
    const uint64_t key = reinterpret_cast<uint64_t>(handle);
    if (key <= kErased) return false;
    if (Slot* const known = find_slot(key); known != nullptr) {
      known->value.store(value, std::memory_order_release);
      return true;
    }
    for (uint32_t part = 0; part < kParts; ++part) {
      Slot* const slots = made_part(part);
      if (slots == nullptr) return false;
      if (put_in(slots, mask_of(part), key, value)) return true;
    }
    return false;
  }

  void erase(const void* handle) {
    uint64_t key = reinterpret_cast<uint64_t>(handle);
    for (Slot* slot = find_slot(key); slot != nullptr; slot = find_slot(key)) {
      uint64_t expected = key;
      slot->key.compare_exchange_strong(expected, kErased, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr uint32_t kProbes = 64;          // at growing distances
  static constexpr uint64_t kErased = 1;           // not a handle: handles are pointers
  static constexpr uint64_t kBusy = ~uint64_t{0};  // the slot is being filled: no handle matches
  struct Slot {
    std::atomic<uint64_t> key;
    std::atomic<uint64_t> value;
  };
  static uint32_t start(uint64_t key) { return static_cast<uint32_t>((key * 0x9e3779b97f4a7c15) >> 32); }
  static constexpr uint32_t mask_of(uint32_t part) { return (kCapacity << (2 * part)) - 1; }

  Slot* find_slot(uint64_t key) const {
    if (key <= kErased) return nullptr;
    const uint32_t parts = parts_.load(std::memory_order_acquire);
    for (uint32_t part = 0; part <= parts; ++part) {
      Slot* const slots = part == 0 ? slots_ : more_[part - 1].load(std::memory_order_relaxed);
      const uint32_t mask = mask_of(part);
      for (uint32_t i = 0, at = start(key) & mask; i < kProbes; ++i, at = (at + i) & mask) {
        const uint64_t there = slots[at].key.load(std::memory_order_acquire);
        if (there == key) return &slots[at];
        if (there == 0) break;
      }
    }
    return nullptr;
  }

  bool put_in(Slot* slots, uint32_t mask, uint64_t key, uint64_t value) {
    for (uint32_t i = 0, at = start(key) & mask; i < kProbes; ++i, at = (at + i) & mask) {
      uint64_t there = slots[at].key.load(std::memory_order_relaxed);
      if (there > kErased || !slots[at].key.compare_exchange_strong(there, kBusy, std::memory_order_relaxed)) continue;
      slots[at].value.store(value, std::memory_order_relaxed);
      slots[at].key.store(key, std::memory_order_release);
      return true;
    }
    return false;
  }

  // The slots of a part, which is made if it is the next one. Null: no memory.
  Slot* made_part(uint32_t part) {
    if (part == 0) return slots_;
    std::atomic<Slot*>& place = more_[part - 1];
    Slot* made = place.load(std::memory_order_acquire);
    if (made == nullptr) {
      const int saved = errno;
      const size_t bytes = (size_t{mask_of(part)} + 1) * sizeof(Slot);
      void* const memory =
          mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) {
        errno = saved;
        return nullptr;
      }
      if (place.compare_exchange_strong(made, static_cast<Slot*>(memory), std::memory_order_acq_rel)) {
        made = static_cast<Slot*>(memory);
      } else {
        munmap(memory, bytes);
      }
      errno = saved;
    }
    uint32_t before = part - 1;
    parts_.compare_exchange_strong(before, part, std::memory_order_release);
    return made;
  }

  mutable Slot slots_[kCapacity] = {};
  std::atomic<uint32_t> parts_{0};  // after the first one
  std::atomic<Slot*> more_[kParts - 1] = {};
};

}  // namespace prof::preload
