// Stacks that a thread had before, so that the same one need not be walked again. A walk is a function of where it begins and of
// the words it reads; if all of these are what they were, so is its result. To compare 40 words takes 30 ns, to walk 31 frames
// 300, because there each address follows from the last one.
//
//   memo of one thread: 256 entries, chained by where the walk began, the oldest replaced; an entry knows which one came after it
//   last time, and that one is tried first, because programs repeat themselves
//
// Memory for 64 threads at once, touched only where used; more threads go without. In the program.
#pragma once

#include "preload/stacks/python/python_memo.h"
#include "preload/stacks/unwind_rule.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

struct ThreadState;  // record/thread.h

struct MemoEntry {
  static constexpr uint32_t kWords = 160;
  FrameRegisters begin;
  uint64_t generation;  // of the code
  uint64_t hash;        // of the result; 0: the entry is not in use
  uint32_t flags;       // format::kStack… of the result
  uint32_t words;
  uint32_t reach;           // offset behind the last byte that was read
  uint16_t next;            // entry that followed it last time
  uint16_t chain;           // the next entry of the same chain, plus 1
  bool uses_fp;             // the frame pointer at the beginning matters
  uint32_t offset[kWords];  // from begin.sp
  uint64_t value[kWords];

  bool fits(const FrameRegisters& now, uint64_t code_generation, uint64_t stack_high) const {
    if (hash == 0 || begin.pc != now.pc || begin.sp != now.sp || generation != code_generation ||
        (uses_fp && begin.fp != now.fp) || reach > stack_high - now.sp) {
      return false;
    }
    for (uint32_t i = 0; i < words; ++i) {
      if (*reinterpret_cast<const uint64_t*>(now.sp + offset[i]) != value[i]) return false;
    }
    return true;
  }
};

struct StackMemo {
  static constexpr uint32_t kEntries = 256, kHeads = 64, kMostTries = 24;
  std::atomic<uint32_t> in_use;
  uint16_t last;          // the entry of the stack before
  uint16_t oldest;        // replaced next
  uint16_t in_walk;       // an entry is being filled in: a signal handler leaves everything as it is
  uint16_t head[kHeads];  // first entry of a chain, plus 1
  MemoEntry entries[kEntries];
  PythonMemo python;

  // Null: the stack is not known. `stack_high`: what is between now.sp and there may be read.
  const MemoEntry* find(const FrameRegisters& now, uint64_t code_generation, uint64_t stack_high) {
    if (in_walk != 0) return nullptr;
    const uint16_t guess = entries[last].next;
    if (entries[guess].fits(now, code_generation, stack_high)) [[likely]] {
      last = guess;
      return &entries[guess];
    }
    uint32_t at = head[chain_of(now)];
    for (uint32_t i = 0; at != 0 && i < kMostTries; ++i, at = entries[at - 1].chain) {
      if (entries[at - 1].fits(now, code_generation, stack_high)) return follow(at - 1);
    }
    return nullptr;
  }

  // An entry to be filled in, which counts when its hash is set; finish() ends that. Null in a signal handler that came between.
  MemoEntry* begin(const FrameRegisters& now) {
    if (in_walk != 0) return nullptr;
    in_walk = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const uint32_t at = oldest;
    oldest = static_cast<uint16_t>((at + 1) % kEntries);
    MemoEntry& entry = entries[at];
    unlink(at);
    entry.hash = 0;
    entry.begin = now;
    uint16_t& first = head[chain_of(now)];
    entry.chain = first;
    first = static_cast<uint16_t>(at + 1);
    follow(at);
    return &entry;
  }
  void finish() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    in_walk = 0;
  }

 private:
  static uint32_t chain_of(const FrameRegisters& now) {
    return static_cast<uint32_t>(((now.pc ^ now.sp << 20) * 0x9e3779b97f4a7c15) >> 40) & (kHeads - 1);
  }
  void unlink(uint32_t at) {
    uint16_t* link = &head[chain_of(entries[at].begin)];
    for (uint32_t i = 0; *link != 0 && i < kEntries; ++i, link = &entries[*link - 1].chain) {
      if (*link != at + 1) continue;
      *link = entries[at].chain;
      return;
    }
  }
  const MemoEntry* follow(uint32_t at) {
    entries[last].next = static_cast<uint16_t>(at);
    last = static_cast<uint16_t>(at);
    return &entries[at];
  }
};

// A memo for a thread; null: there is none left. Given back when the thread ends.
StackMemo* take_memo();
void release_memo(ThreadState& thread);
// When a life starts. False: no memory.
bool open_memos();

}  // namespace prof::preload
