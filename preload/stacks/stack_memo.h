// Did this thread have the same stack before, so that no walk is needed? native_stack.cpp uses it, in the program. The
// result of a walk depends only on its start and on the words that it reads. If all of these are equal, the result is
// equal. A comparison of 40 words takes 30 ns. A walk of 31 frames takes 300 ns, because each address depends on the
// last.
//
//   memo of one thread: 256 entries, chained by the start of the walk, the oldest is replaced; an entry stores which
//   entry followed it last time, and that one is tried first, because programs repeat themselves
//
// There is memory for 64 threads at once, touched only where used. Further threads have no memo.
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
  uint32_t reach;           // offset after the last byte that was read
  uint16_t next;            // entry that followed this one last time
  uint16_t chain;           // the next entry of the same chain, plus 1
  bool uses_fp;             // the result depends on the frame pointer at the start
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
  uint16_t last;          // the entry of the previous stack
  uint16_t oldest;        // replaced next
  uint16_t in_walk;       // an entry is being filled in: a signal handler must change nothing
  uint16_t head[kHeads];  // first entry of a chain, plus 1
  MemoEntry entries[kEntries];
  PythonMemo python;

  // Null: the stack is not known. `stack_high`: the memory between now.sp and this address may be read.
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

  // An entry for the caller to fill in. It is valid once its hash is set; finish() ends the filling. Null: a signal
  // handler interrupted a walk.
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

// A memo for a thread. Null: none is free. release_memo() returns it when the thread ends.
StackMemo* take_memo();
void release_memo(ThreadState& thread);
// Called when a recording starts. False: no memory.
bool open_memos();

}  // namespace prof::preload
