// What is known of the objects that a library made, by their handles. An object is noted when it is made or described,
// and found when it is used. The table has a fixed size and is lock-free. If it is full, further objects are not known.
// It runs in the program.
#pragma once

#include "preload/driver/handle_map.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

template <class Value, uint32_t kMost> class Noted {
  static_assert((kMost & (kMost - 1)) == 0);

 public:
  Value* find(const void* handle) {
    const uint64_t place = places_.find(handle);
    return place == 0 || place > kMost ? nullptr : &entries_[place - 1].value;
  }

  // The entry of a handle; a new one is empty. Null: the table is full, or `handle` is not a handle.
  Value* find_or_make(const void* handle) {
    if (Value* const known = find(handle); known != nullptr) return known;
    for (uint32_t tries = 0; tries < 64; ++tries) {
      const uint32_t place = next_.fetch_add(1, std::memory_order_relaxed) & (kMost - 1);
      bool used = false;
      if (!entries_[place].used.compare_exchange_strong(used, true, std::memory_order_acquire)) continue;
      entries_[place].value = {};
      if (places_.put(handle, place + 1)) return &entries_[place].value;
      entries_[place].used.store(false, std::memory_order_release);
      return nullptr;
    }
    return nullptr;
  }

  void erase(const void* handle) {
    const uint64_t place = places_.find(handle);
    if (place == 0 || place > kMost) return;
    places_.erase(handle);
    entries_[place - 1].used.store(false, std::memory_order_release);
  }

 private:
  struct Entry {
    std::atomic<bool> used;
    Value value;
  };
  Entry entries_[kMost] = {};
  std::atomic<uint32_t> next_{0};
  HandleMap<2 * kMost> places_;  // handle -> 1 + its entry
};

}  // namespace prof::preload
