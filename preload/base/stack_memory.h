// Which memory may a stack walk read? Unwinding follows addresses that may be wrong. The stack may be the thread's own,
// a coroutine's or an alternate signal stack. Every word is read inside a range that is known to be readable.
//
//   own stack    from the page of the walk up to the top: the thread's descriptor (glibc puts it there), or the vector
//                of the program's arguments. It is found once per thread and kept: such a stack is not unmapped while
//                its thread runs on it.
//   any other    page by page, probed again in every walk: one system call of 100 ns per page.
//
// This code runs in the program: no allocation. It makes system calls only when a thread reaches a page for the first
// time.
#pragma once

#include <cstdint>

namespace prof::preload {

// The known range of one thread's own stack; all 0 at first. ThreadState contains it.
struct OwnStack {
  uint64_t low = 0;   // readable from here …
  uint64_t high = 0;  // … to here; written before `low`; if `low` is not 0, both are known
  uint64_t room = 0;  // readable from here to `low` as well: at least that much stack is left
};

class StackMemory {
 public:
  // `sp` is in a page of the current stack of the calling thread.
  StackMemory(OwnStack& own, uint64_t sp) : own_(own) { enter(sp); }

  // Returns false if less than `bytes` of stack are left below sp.
  bool has_room(uint64_t sp, uint64_t bytes);

  // Reads the 8-byte word at `address`. Returns false if it cannot be read, is not aligned or is below the frames
  // walked so far.
  bool read(uint64_t address, uint64_t& value) {
    if (address < low_ || address > high_ - 8 || (address & 7) != 0) [[unlikely]] {
      if (!extend(address)) return false;
    }
    value = *reinterpret_cast<const uint64_t*>(address);
    return true;
  }

  // Whether the walk is on the thread's own stack. Everything above the walk is then readable up to high().
  bool on_own() const { return on_own_; }
  uint64_t high() const { return high_; }

  // The walk continues at another stack pointer, below or far away (after a signal frame). Returns false if that is not
  // readable.
  bool jump(uint64_t sp);

 private:
  void enter(uint64_t sp);
  bool extend(uint64_t address);

  OwnStack& own_;
  uint64_t low_ = 0, high_ = 0;
  bool on_own_ = false;
};

}  // namespace prof::preload
