// What is the unwind rule of a code address? All threads share this table, so a new thread finds what others have
// learned. native_stack.cpp and code_images.cpp use it, in the program. It is a cache of fixed size without locks. A
// rule that was replaced is read from the unwind tables again (about 500 ns).
//
//   slot: | key: return address | rule with the epoch of the code it was read from |
//
// A writer claims a slot by setting its key to kBusy. A reader then never takes the rule of one address for another's.
#pragma once

#include "preload/stacks/unwind_rule.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

class RuleTable {
 public:
  static constexpr uint32_t kSlots = 1u << 15;
  struct Slot {
    std::atomic<uint64_t> key;
    std::atomic<uint64_t> rule;
  };

  void open(Slot* slots) { slots_ = slots; }  // kSlots of them, zeroed
  bool is_open() const { return slots_ != nullptr; }

  // None: the rule is not known, or its code may have been unloaded.
  UnwindRule find(uint64_t key, uint8_t epoch) const {
    for (uint32_t i = 0, at = start(key); i < kProbes; ++i, at = (at + 1) & (kSlots - 1)) {
      const Slot& slot = slots_[at];
      if (slot.key.load(std::memory_order_acquire) != key) continue;
      const UnwindRule rule{slot.rule.load(std::memory_order_acquire)};
      if (rule.epoch() != epoch || slot.key.load(std::memory_order_relaxed) != key) break;
      return rule;
    }
    return {};
  }

  void put(uint64_t key, UnwindRule rule, uint8_t epoch) {
    Slot* to = nullptr;
    for (uint32_t i = 0, at = start(key); i < kProbes; ++i, at = (at + 1) & (kSlots - 1)) {
      const uint64_t there = slots_[at].key.load(std::memory_order_relaxed);
      if (there == key) {
        to = &slots_[at];
        break;
      }
      const bool stale = there == 0 || UnwindRule{slots_[at].rule.load(std::memory_order_relaxed)}.epoch() != epoch;
      if (to == nullptr && stale) to = &slots_[at];
    }
    if (to == nullptr) to = &slots_[start(key)];
    uint64_t old = to->key.load(std::memory_order_relaxed);
    if (old == kBusy || !to->key.compare_exchange_strong(old, kBusy, std::memory_order_acquire)) return;
    to->rule.store(rule.with_epoch(epoch).word, std::memory_order_release);
    to->key.store(key, std::memory_order_release);
  }

  // Called when the epoch starts again at 0: rules from 256 generations ago must not look valid.
  void clear() {
    for (uint32_t i = 0; i < kSlots; ++i) slots_[i].key.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t kProbes = 4;
  static constexpr uint64_t kBusy = 1;
  static uint32_t start(uint64_t key) { return static_cast<uint32_t>((key * 0x9e3779b97f4a7c15) >> 40) & (kSlots - 1); }
  Slot* slots_ = nullptr;
};

extern RuleTable g_rules;

}  // namespace prof::preload
