// What does the recorder keep in the thread-local storage of each thread? The state of the thread, the guard of the
// hook that it is inside, and whether hooks pass through. Every hook reads it, in the program, and must need no call
// for that.
#pragma once

#include <cerrno>
#include <cstdint>

namespace prof::preload {

struct ThreadState;  // record/thread.h

// Half a cache line, initial-exec, zero-initialised.
struct alignas(32) ThreadLocal {
  uint64_t epoch;  // of the recording that `state` belongs to
  ThreadState* state;
  uintptr_t guard_frame;  // frame of the outermost hook that this thread is inside; 0: none
  uint16_t passing;       // not 0: hooks pass through; kPassing…, in one word because every hook reads it
  uint16_t opening;       // while its state is being opened: 0x100 and the low byte of the epoch
  int32_t errno_offset;   // from here to the thread's errno, known since its first record; 0: not known
};
static_assert(sizeof(ThreadLocal) == 32);
// Counts our calls that may call our hooks, and our own threads.
constexpr uint16_t kPassingOwn = 1;
// Counts our calls that call no hook.
constexpr uint16_t kPassingDirect = 0x100;
// A record is being packed. If a signal handler records now, its event is lost.
constexpr uint16_t kPassingBusy = 0x8000;
extern constinit thread_local ThreadLocal t_local __attribute__((tls_model("initial-exec")));

// The calls of this thread that passed through while the recorder was starting.
struct BeforeReady {
  uint64_t since_ns;  // CLOCK_MONOTONIC
  uint64_t calls;
};
extern constinit thread_local BeforeReady t_before_ready __attribute__((tls_model("initial-exec")));

// errno without a call into libc. Both variables are in the TLS block that is laid out at program start, so the
// distance fits into 32 bits.
inline int& thread_errno() {
  const int32_t offset = t_local.errno_offset;
  if (offset == 0) [[unlikely]]
    return errno;
  return *reinterpret_cast<int*>(reinterpret_cast<char*>(&t_local) + offset);
}

// Restores the program's errno at the end of its scope, whatever was called in between.
struct KeepErrno {
  int& slot = thread_errno();
  const int value = slot;
  ~KeepErrno() { slot = value; }
};

// While such an object exists, hooks on this thread pass through.
template <uint16_t kOne> class PassingCalls {
 public:
  PassingCalls() { t_local.passing = static_cast<uint16_t>(t_local.passing + kOne); }
  ~PassingCalls() { t_local.passing = static_cast<uint16_t>(t_local.passing - kOne); }
  PassingCalls(const PassingCalls&) = delete;
  PassingCalls& operator=(const PassingCalls&) = delete;
};
// Used around our calls that may call our hooks (CUPTI), and in the helper thread. These calls are not the program's.
using OwnCalls = PassingCalls<kPassingOwn>;
// Used around calls that call no hook (the driver's own functions, the start of a recording). If a hook is entered
// meanwhile, a signal handler called it, and its call is counted.
using DirectCalls = PassingCalls<kPassingDirect>;
inline bool inside_own_calls() { return (t_local.passing & (kPassingDirect - 1)) != 0; }
inline bool inside_our_calls() { return (t_local.passing & (kPassingBusy - 1)) != 0; }  // of either kind

}  // namespace prof::preload
