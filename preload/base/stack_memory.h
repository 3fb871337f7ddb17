// Which memory may a walk up the stack read? Unwinding follows addresses that may be wrong, on stacks that may be anybody's:
// the thread's own, a coroutine's, an alternate signal stack. Every word is read inside a range that is known to be readable.
//
//   own stack    from the page of the walk up to the top: the thread's descriptor (glibc puts it there), or the vector of the
//                program's arguments. Found once a thread, kept: such a stack is not unmapped while its thread runs on it.
//   any other    page by page, asked again in every walk: one system call of 100 ns a page.
//
// In the program: no allocation; system calls only where a thread comes to a page for the first time.
#pragma once

#include <cstdint>

namespace prof::preload {

// What is known of one thread's own stack; all 0 at first. Kept in ThreadState.
struct OwnStack {
  uint64_t low = 0;   // readable from here …
  uint64_t high = 0;  // … to here; written before `low`, which says that both are known
  uint64_t room = 0;  // readable from here to `low` as well: that much stack is left at least
};

class StackMemory {
 public:
  // `sp` is in a page of the calling thread's present stack.
  StackMemory(OwnStack& own, uint64_t sp) : own_(own) { enter(sp); }

  // False: less than `bytes` of stack are left below sp.
  bool has_room(uint64_t sp, uint64_t bytes);

  // The 8-byte word at `address`. False: it cannot be read, is not aligned or lies below the frames walked so far.
  bool read(uint64_t address, uint64_t& value) {
    if (address < low_ || address > high_ - 8 || (address & 7) != 0) [[unlikely]] {
      if (!extend(address)) return false;
    }
    value = *reinterpret_cast<const uint64_t*>(address);
    return true;
  }

  // The walk is on the thread's own stack, of which everything above it can be read up to high().
  bool on_own() const { return on_own_; }
  uint64_t high() const { return high_; }

  // The walk goes on at another stack pointer, below or far away (behind a signal frame). False: not readable.
  bool jump(uint64_t sp);

 private:
  void enter(uint64_t sp);
  bool extend(uint64_t address);

  OwnStack& own_;
  uint64_t low_ = 0, high_ = 0;
  bool on_own_ = false;
};

}  // namespace prof::preload
