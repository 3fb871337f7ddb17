// Which id has the definition of some contents? Process-wide tables map the 64-bit hash of the contents to the id. Code
// that writes definitions uses them. Tables are lock-free, grow up to a limit and never shrink. If two threads meet a
// new entry at the same time, both may define it. This is harmless, because readers join definitions by contents.
//
//   table:  |seg. 0| segment 1 |       segment 2       |       segment 3       |
//
// Each segment is made when the one before is full: seven of eight slots are used. The second and the third are four
// times as large as the one before.
//
//
// If a table has its largest size and is full, contents get an id for one use (format::kFirstOnceId). Their definition
// is an event of the thread, directly before the record that uses it (append.h, define()). So no name is lost, memory
// stays bounded, and a ring overwrites the definition together with the record. Code that keeps ids must not keep such
// an id, and a definition that contains one must be for one use too.
#pragma once

#include "preload/format/ids.h"
#include "preload/log/count.h"
#include "preload/log/ring.h"
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

// A hash of a text, faster than Hash for short ones: no loop over bytes.
inline uint64_t hash_of_text(std::string_view text) {
  constexpr uint64_t kFirst = 0xa0761d6478bd642f, kSecond = 0xe7037ed1a0b428db;
  const char* at = text.data();
  size_t left = text.size();
  const auto word = [](const char* from) {
    uint64_t value;
    std::memcpy(&value, from, 8);
    return value;
  };
  const auto half = [](const char* from) {
    uint32_t value;
    std::memcpy(&value, from, 4);
    return uint64_t{value};
  };
  uint64_t low = 0, high = 0, state = text.size();
  if (left >= 8) {
    for (; left > 16; at += 16, left -= 16) state = Hash::fold(word(at) ^ state ^ kFirst, word(at + 8) ^ kSecond);
    low = left >= 8 ? word(at) : word(at + left - 16);
    high = word(at + left - 8);
  } else if (left >= 4) {
    low = half(at);
    high = half(at + left - 4);
  } else if (left != 0) {
    low = static_cast<uint8_t>(at[0]) | static_cast<uint64_t>(static_cast<uint8_t>(at[left / 2])) << 8 |
          static_cast<uint64_t>(static_cast<uint8_t>(at[left - 1])) << 16;
  }
  return Hash::fold(low ^ state ^ kFirst, high ^ kSecond);
}

class InternTable {
 public:
  static constexpr uint32_t kMostSegments = 4;
  // One word, so that a reader never sees half of an entry: the upper 42 bits of the hash | 22 bits id. 0: free.
  using Slot = std::atomic<uint64_t>;

  // `slots` is zeroed memory of `capacity` slots, a power of two. The table may have `segments` segments.
  void open(Slot* slots, uint32_t capacity, uint32_t segments) {
    if (first_ != capacity) first_ = capacity;
    most_ = segments;
    next_id_.store(1, std::memory_order_relaxed);
    next_once_.store(format::kFirstOnceId, std::memory_order_relaxed);
    for (std::atomic<uint32_t>& used : used_) used.store(0, std::memory_order_relaxed);
    slots_[0].store(slots, std::memory_order_relaxed);
    count_.store(1, std::memory_order_release);
  }

  // Removes a segment that the table made itself. Returns its memory, or null. Only while no thread uses the table.
  Slot* take_segment(uint32_t number, size_t& bytes) {
    bytes = slots_of(number) * sizeof(Slot);
    count_.store(0, std::memory_order_relaxed);
    return slots_[number].exchange(nullptr, std::memory_order_relaxed);
  }

  uint32_t find(uint64_t hash) const {
    // Most entries of a large table are in its newest segment.
    for (uint32_t segment = count_.load(std::memory_order_acquire); segment-- > 0;) {
      const Slot* const slots = slots_[segment].load(std::memory_order_relaxed);
      if (slots == nullptr) return 0;  // another recording starts
      const uint32_t mask = slots_of(segment) - 1;
      for (uint32_t at = static_cast<uint32_t>(hash) & mask, step = 1; step <= kMaxProbes; at = (at + step++) & mask) {
        const uint64_t there = slots[at].load(std::memory_order_acquire);
        if ((there ^ hash) >> kIdBits == 0) return static_cast<uint32_t>(there) & kIdMask;
        if (there == 0) break;
      }
    }
    return 0;
  }

  // Returns the id of `hash`. If the hash is new, takes a new id, calls `write(id)` and then makes the id visible.
  // `write` must commit the definition and return whether it did. If the table is full, or `keep` is false because the
  // contents have an id for one use, the id is for one use. Returns 0 if nothing was written.
  template <class Write> uint32_t intern(uint64_t hash, Write&& write, bool keep = true) {
    if (keep) [[likely]] {
      if (const uint32_t id = find(hash); id != 0) return id;
    }
    return intern_new(hash, write, keep ? Id::Kept : Id::ForOneUse);
  }
  // Stores an id that another table gave to something with this hash, if there is room.
  void remember(uint64_t hash, uint32_t id) {
    for (;;) {
      const uint32_t segments = count_.load(std::memory_order_acquire);
      Slot* const slots = segments != 0 ? slots_[segments - 1].load(std::memory_order_relaxed) : nullptr;
      if (slots == nullptr || is_cut_off()) return;  // in this order: see intern_new()
      const uint32_t capacity = slots_of(segments - 1);
      const bool full = used_[segments - 1].load(std::memory_order_relaxed) >= capacity - capacity / 8;
      if ((!full && insert(segments - 1, slots, hash, id)) || !grow(segments)) return;
    }
  }
  // The same, with an id that may be kept also if the table is full. Returns 0 if there are no such ids left (counted).
  template <class Write> uint32_t intern_lasting(uint64_t hash, Write&& write) {
    if (const uint32_t id = find(hash); id != 0) return id;
    return intern_new(hash, write, Id::Lasting);
  }

 private:
  static constexpr uint32_t kIdBits = 22, kIdMask = (1u << kIdBits) - 1;
  static_assert(format::kFirstOnceId == 1u << kIdBits);
  static constexpr uint32_t kMaxProbes = 64;  // at growing distances

  uint32_t slots_of(uint32_t segment) const { return first_ << (segment < 2 ? 2 * segment : 4); }

  enum class Id { Kept, ForOneUse, Lasting };

  template <class Write> __attribute__((noinline)) uint32_t intern_new(uint64_t hash, Write& write, Id wanted) {
    for (;;) {
      // The slots are read before is_cut_off(). So a thread that is cut off afterwards still defines in its own log and
      // its own table.
      const uint32_t segments = count_.load(std::memory_order_acquire);
      Slot* const slots = segments != 0 ? slots_[segments - 1].load(std::memory_order_relaxed) : nullptr;
      if (slots == nullptr || is_cut_off()) return 0;
      const uint32_t capacity = slots_of(segments - 1);
      const bool full = used_[segments - 1].load(std::memory_order_relaxed) >= capacity - capacity / 8;
      if (wanted != Id::ForOneUse && full && grow(segments)) continue;
      if (wanted == Id::ForOneUse || (wanted == Id::Kept && full)) return write_once(write);
      const uint32_t id = next_id_.fetch_add(1, std::memory_order_relaxed);
      const bool valid = id <= kIdMask;
      if (valid && write(id)) {
        if (!full && !insert(segments - 1, slots, hash, id) && grow(segments)) remember(hash, id);
        return id;
      }
      if (!valid) next_id_.store(kIdMask + 1, std::memory_order_relaxed);
      // A ring may have room for events and none for definitions.
      if (wanted == Id::Kept && (!valid || in_ring())) return write_once(write);
      if (!valid) count(format::LossCounter::intern_full);
      return 0;
    }
  }

  // Returns false if the hash finds no place. The segment then counts as full.
  bool insert(uint32_t segment, Slot* slots, uint64_t hash, uint32_t id) {
    const uint32_t mask = slots_of(segment) - 1;
    const uint64_t word = (hash & ~uint64_t{kIdMask}) | id;
    for (uint32_t at = static_cast<uint32_t>(hash) & mask, step = 1; step <= kMaxProbes; at = (at + step++) & mask) {
      uint64_t there = slots[at].load(std::memory_order_relaxed);
      if (there == 0 && slots[at].compare_exchange_strong(there, word, std::memory_order_release)) {
        used_[segment].fetch_add(1, std::memory_order_relaxed);
        return true;
      }
      if ((there ^ hash) >> kIdBits == 0) return true;  // another thread defined the same contents; both ids are valid
    }
    used_[segment].store(mask + 1, std::memory_order_relaxed);
    return false;
  }

  template <class Write> uint32_t write_once(Write& write) {
    uint32_t id = next_once_.fetch_add(1, std::memory_order_relaxed);
    if (id < format::kFirstOnceId) {  // after 4 billion: a ring does not contain the first ones any more
      next_once_.store(in_ring() ? format::kFirstOnceId : 0, std::memory_order_relaxed);
      id = 0;
    }
    if (id == 0) count(format::LossCounter::intern_full);
    return id != 0 && write(id) ? id : 0;
  }

  // Adds a segment after the first `segments` ones. Returns false if there may be no more, or if there is no memory.
  bool grow(uint32_t segments);

  std::atomic<Slot*> slots_[kMostSegments] = {};
  uint32_t first_ = 1;  // slots of the first segment
  std::atomic<uint32_t> count_{0};
  std::atomic<uint32_t> used_[kMostSegments] = {};
  uint32_t most_ = 1;
  std::atomic<uint32_t> next_id_{1};
  std::atomic<uint32_t> next_once_{format::kFirstOnceId};
};

// The tables of this recording. function_handles has no ids of its own (driver/functions.cpp).
struct InternTables {
  InternTable strings, functions, function_handles, modules, configs, gpu_streams, gpu_kernels, nvtx_domains,
      nvtx_labels, nvtx_schemas, nvtx_counters, stacks, python_frames;
};
extern InternTables g_intern;

// Whether an id may be kept and used again.
template <class Id> constexpr bool is_kept(Id id) { return static_cast<uint32_t>(id) < format::kFirstOnceId; }

// Makes empty tables when a recording starts (lifecycle/subsystems.cpp). `ended` is the epoch of the earlier recording
// of this process whose tables are still used by threads that it cut off (log/retired.h); 0: there is none. Returns
// false if there is no memory.
bool open_intern_tables(uint64_t ended);

}  // namespace prof::preload
