// What the recorder keeps in the thread-local storage of each thread of the program: its state, the guard of the hook
// that it is inside, and whether hooks pass through. In the program: 32 bytes, initial-exec, zero-initialised.
#pragma once

#include <cerrno>
#include <cstdint>

namespace prof::preload {

struct ThreadState;  // record/thread.h

// Everything of ours in TLS: half a line of the cache, initial-exec, zero-initialised.
struct alignas(32) ThreadLocal {
  uint64_t epoch;  // of the life `state` belongs to
  ThreadState* state;
  uintptr_t guard_frame;  // frame of the outermost hook this thread is inside; 0: none
  uint16_t passing;       // not 0: hooks pass through; kPassing…, in one word because every hook asks
  uint16_t opening;       // while its state is being opened: 0x100 and the low byte of the life
  int32_t errno_offset;   // where the thread's errno lies from here, known since its first record; 0: not yet
};
static_assert(sizeof(ThreadLocal) == 32);
constexpr uint16_t kPassingOwn = 1;  // counts what we call that may come back through our hooks, and our own threads
constexpr uint16_t kPassingDirect = 0x100;  // counts what we call that enters no hook
constexpr uint16_t kPassingBusy =
    0x8000;  // a record is being packed: a signal handler that records now drops its event
extern constinit thread_local ThreadLocal t_local __attribute__((tls_model("initial-exec")));

// errno without a call into libc. Both are in the block of TLS that is laid out at program start, so the distance fits.
inline int& thread_errno() {
  const int32_t offset = t_local.errno_offset;
  if (offset == 0) [[unlikely]]
    return errno;
  return *reinterpret_cast<int*>(reinterpret_cast<char*>(&t_local) + offset);
}

// The program's errno, whatever is called while it lives.
struct KeepErrno {
  int& slot = thread_errno();
  const int value = slot;
  ~KeepErrno() { slot = value; }
};

// Hooks on this thread pass through while it lives.
template <uint16_t kOne> class PassingCalls {
 public:
  PassingCalls() { t_local.passing = static_cast<uint16_t>(t_local.passing + kOne); }
  ~PassingCalls() { t_local.passing = static_cast<uint16_t>(t_local.passing - kOne); }
  PassingCalls(const PassingCalls&) = delete;
  PassingCalls& operator=(const PassingCalls&) = delete;
};
// Around what we call that may come back through our hooks (CUPTI), and in the helper thread: these calls are not the
// program's.
using OwnCalls = PassingCalls<kPassingOwn>;
// Around what enters no hook (the driver's own functions, the start of a life): a hook entered meanwhile is a signal
// handler's, and its call is counted.
using DirectCalls = PassingCalls<kPassingDirect>;
inline bool inside_own_calls() { return (t_local.passing & (kPassingDirect - 1)) != 0; }
inline bool inside_our_calls() { return (t_local.passing & (kPassingBusy - 1)) != 0; }  // of either kind

}  // namespace prof::preload
