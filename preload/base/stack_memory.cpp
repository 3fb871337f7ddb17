#include "preload/base/stack_memory.h"

#include "preload/base/raw_call.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace prof::preload {

namespace {

constexpr uint64_t kPage = 4096;  // larger pages are probed several times
constexpr uint64_t kMostPages = 64;
// The kernel leaves at least 128 MiB of address space for the main thread's stack and maps nothing else there.
constexpr uint64_t kMainStackBytes = uint64_t{64} << 20;

uint64_t page_of(uint64_t address) { return address & ~(kPage - 1); }

// rt_sigprocmask() copies the new set from memory before it checks the operation. The operation ~0 does not exist, so
// the result is EFAULT or EINVAL and the call has no effect. Sandboxes forbid process_vm_readv() but not this call.
// mincore() does not report PROT_NONE; this call does.
bool page_is_readable(uint64_t address) {
  // Not through libc, which would change errno.
  return raw_call(SYS_rt_sigprocmask, ~0l, static_cast<long>(address), 0, 8) != -EFAULT;
}

// The word after the program's arguments and environment. No frame of the main thread is above it.
uint64_t main_stack_top() {
  static const uint64_t top = getauxval(AT_RANDOM) & ~uint64_t{7};
  return top;
}

bool readable(uint64_t from, uint64_t to) {
  if (to - from > kMostPages * kPage) return false;
  for (uint64_t page = page_of(from); page < to; page += kPage) {
    if (!page_is_readable(page)) return false;
  }
  return true;
}

}  // namespace

void StackMemory::enter(uint64_t sp) {
  const uint64_t page = page_of(sp);
  if (own_.low == 0) {
    const uint64_t main_top = main_stack_top();
    const auto descriptor = static_cast<uint64_t>(pthread_self());
    if (sp < main_top && main_top - sp < kMainStackBytes) {
      own_.high = main_top;
      own_.room = page;
      own_.low = page;
    } else if (sp < descriptor && readable(page + kPage, descriptor)) {
      own_.high = descriptor & ~uint64_t{7};
      own_.room = page;
      own_.low = page;
    }
  } else if (sp < own_.low) {  // deeper than before, or on another stack
    const bool on_main = own_.high == main_stack_top() && own_.high - sp < kMainStackBytes;
    if (on_main || readable(page + kPage, own_.low)) own_.low = page;
  }
  on_own_ = own_.low != 0 && page >= own_.low && sp < own_.high;
  low_ = sp & ~uint64_t{7};
  high_ = on_own_ ? own_.high : page + kPage;
}

bool StackMemory::has_room(uint64_t sp, uint64_t bytes) {
  const uint64_t wanted = page_of(sp - bytes);
  if (on_own_ && own_.room <= wanted) return true;
  for (uint64_t page = page_of(sp) - kPage; page >= wanted; page -= kPage) {
    if (on_own_ && page >= own_.room) continue;
    if (!page_is_readable(page)) return false;
  }
  if (on_own_) own_.room = wanted;
  return true;
}

bool StackMemory::extend(uint64_t address) {
  if ((address & 7) != 0 || address < low_ || on_own_) return false;
  const uint64_t end = page_of(address) + kPage;
  if (end - high_ > kMostPages * kPage) return false;
  for (; high_ < end; high_ += kPage) {
    if (!page_is_readable(high_)) return false;
  }
  return true;
}

bool StackMemory::jump(uint64_t sp) {
  const uint64_t page = page_of(sp);
  if (own_.low != 0 && page >= own_.low && sp < own_.high) {
    on_own_ = true;
    high_ = own_.high;
  } else {
    if (!page_is_readable(page)) return false;
    on_own_ = false;
    high_ = page + kPage;
  }
  low_ = sp & ~uint64_t{7};
  return true;
}

}  // namespace prof::preload
