// What is known of the objects that a library made, by their handles: noted when an object is made or described, found when it is used.
// A fixed table, lock-free: an object too many is not known. In the program.
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

  // An empty one where none was known. Null: there are too many at once, or it is no handle.
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
