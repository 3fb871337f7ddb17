// In the program: what hooks, NVTX and CUPTI code use to record. Nothing here allocates, locks, throws or makes a system
// call on the usual path; the slow paths (a thread's first record, a new chunk of the log) keep errno.
//
//   life     a process (or forked child) that records has a number, its epoch; 0 = not recording. The number lives in a page
//            that fork wipes, so that one comparison per hook covers "not started", "stopped", "forked" and "new thread".
//   start    the first CallScope or EventScope of a process starts the recorder on that thread; others pass through meanwhile.
#pragma once

#include "preload/base/clock.h"
#include "preload/base/every_launch.h"
#include "preload/base/stack_memory.h"
#include "preload/control/repeats.h"
#include "preload/format/codec.h"
#include "preload/format/loss_counters.h"
#include "preload/log/block_writer.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::preload {

struct StreamState;             // capture/streams/stream_table.h
struct StackMemo;               // capture/stack_memo.h
bool ring_keeps(size_t bytes);  // log/ring.h

// One recorded thread. Slots live in memory of ours and are reused after the thread ended.
struct alignas(64) ThreadState {
  StreamState* last_stream =
      nullptr;  // where its last launch on a created stream went; in one line with what a record touches
  BlockWriter events;
  BlockWriter definitions;
  uint32_t ordinal = 0;  // format::ThreadOrdinal
  uint32_t tid = 0;
  uint32_t handle = 0;  // low half of pthread_self(), by which CUPTI names threads to those who ask for nothing else
  OwnStack own_stack;
  StackMemo* memo = nullptr;  // stacks it had before
  KeptFills fills;            // that a repeated launch takes along
  uint32_t learning = 0;      // inside the reading of unwind tables, which a signal handler must not start again
  std::atomic<uint32_t> in_use{0};
  std::atomic<uint64_t> life{0};  // the epoch that it was opened in
};

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

// The page that fork wipes.
struct LifePage {
  std::atomic<uint64_t> epoch;      // of the recording life; 0: not recording
  std::atomic<uint32_t> phase;      // Phase
  std::atomic<bool> runtime_calls;  // of the life: PROF_RUNTIME
  std::atomic<bool> prepared;       // what precedes the first part is done (passes_by() in recording_period.h)
};
enum class Phase : uint32_t { Cold = 0, Starting, Recording, Stopped };
inline LifePage& life() {
  return *g_every_launch.life.load(std::memory_order_acquire);
}  // a static page until the first start

// False: pass through. Starts the recorder, opens the thread's state, or counts why not. Keeps errno.
__attribute__((cold)) bool enter_slow();
// The same inside our own calls or inside the packing of a record, where a signal handler may call.
__attribute__((cold)) bool enter_interrupted();
__attribute__((cold)) void count_nested();
__attribute__((cold)) void count_guard_reset();
__attribute__((cold)) void count_cut_off();  // a call that had begun returns when its life is over

// Adds to a loss counter of the log (also before the log exists: kept and written when it does).
// Safe anywhere, also in the child of a fork and in signal handlers.
void count(format::Counter counter, uint64_t n);
inline void count(format::Counter counter) { count(counter, 1); }

// One line on stderr, "libprof: …\n", at most once per call site's `once` flag; silent with PROF_QUIET. Parts are joined.
void say(std::atomic<bool>& once, std::string_view a, std::string_view b = {}, std::string_view c = {},
         std::string_view d = {});

inline bool thread_ready() {
  const uint64_t epoch = life().epoch.load(std::memory_order_acquire);
  if (epoch != 0 && t_local.epoch == epoch) [[likely]]
    return true;
  return enter_slow();
}

// Appends a record to one of this thread's streams with the busy flag up. False: dropped and counted.
template <BlockWriter ThreadState::*stream, class Record> bool append_record(const Record& record) {
  ThreadLocal& local = t_local;
  if (local.state == nullptr) [[unlikely]] {  // outside a scope
    count(format::Counter::no_thread_state);
    return false;
  }
  if ((local.passing & kPassingBusy) != 0) [[unlikely]] {
    count(format::Counter::records_dropped_busy);
    return false;
  }
  local.passing |= kPassingBusy;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool ok = (local.state->*stream).append(record);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  local.passing &= static_cast<uint16_t>(~kPassingBusy);
  return ok;
}

// An event, or a definition: committed when it returns true. The caller is inside a scope below.
template <class E> bool emit(const E& event) { return append_record<&ThreadState::events>(event); }
template <class D> bool define(const D& definition) { return append_record<&ThreadState::definitions>(definition); }

// An event that later ones need: among the definitions of a ring, which are not overwritten, as long as there is room for it.
template <class E> bool keep(const E& event) {
  size_t bytes = sizeof event;
  if constexpr (requires { event.name; }) bytes += event.name.size();
  return ring_keeps(bytes) ? define(event) : emit(event);
}

// The id of a text, defining it at first sight. 0: table full or log full (counted). Texts of any length.
format::StringId intern_string(std::string_view text);

// Facts about the run for the log's meta records; the caller is inside a scope.
void define_meta(std::string_view key, std::string_view value);

// A scope for things that are no call around a driver function: NVTX events, CUPTI buffers, definitions made on their own.
class EventScope {
 public:
  EventScope() : recording_(thread_ready()) {}
  bool recording() const { return recording_; }

 private:
  bool recording_;
};

// One intercepted call. While it lives, hooks entered deeper on the same stack pass through (they are part of this call).
//
//   CallScope scope(api_id, __builtin_frame_address(0));
//   if (!scope.recording()) return real(args...);
//   result = real(args...);
//   scope.end();                 // end tick
//   emit(…scope.begin_tick(), scope.end_tick()…);
//   scope.leave();
//
// No destructor: a call left by pthread_cancel or longjmp leaves the guard set, and the next hook at or above that frame
// notices and resets it.
class CallScope {
 public:
  CallScope(format::ApiId api, void* frame) {
    ThreadLocal& local = t_local;
    const uintptr_t here = reinterpret_cast<uintptr_t>(frame);
    if (local.guard_frame != 0) [[unlikely]] {
      if (here < local.guard_frame) {
        count_nested();
        return;
      }
      local.guard_frame = 0;
      count_guard_reset();
    }
    if (local.passing != 0) [[unlikely]] {
      if (!enter_interrupted()) return;
    } else if (!thread_ready()) [[unlikely]] {
      return;
    }
    local.guard_frame = here;
    recording_ = true;
    begin_ = now_ticks();
    local.state->events.enter_call(static_cast<uint32_t>(api), begin_);
  }
  bool recording() const { return recording_; }
  uint64_t begin_tick() const { return begin_; }
  uint64_t end_tick() const { return end_; }
  uint64_t duration() const { return end_ - begin_; }
  void end() { end_ = now_ticks(); }
  void begin_again() { begin_ = now_ticks(); }  // what was done since it began is not the call's
  // A signal handler, or a fork inside the call, may have changed the thread's state: false then, and nothing may be emitted.
  bool still_recording() const {
    return t_local.epoch == life().epoch.load(std::memory_order_relaxed) && t_local.epoch != 0;
  }
  void leave() {
    t_local.guard_frame = 0;
    if (still_recording()) [[likely]]
      t_local.state->events.leave_call();
    else
      count_cut_off();
  }

 private:
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  bool recording_ = false;
};

// Hooks on this thread pass through while it lives.
template <uint16_t kOne> class PassingCalls {
 public:
  PassingCalls() { t_local.passing = static_cast<uint16_t>(t_local.passing + kOne); }
  ~PassingCalls() { t_local.passing = static_cast<uint16_t>(t_local.passing - kOne); }
  PassingCalls(const PassingCalls&) = delete;
  PassingCalls& operator=(const PassingCalls&) = delete;
};
// Around what we call that may come back through our hooks (CUPTI), and in the helper thread: these calls are not the program's.
using OwnCalls = PassingCalls<kPassingOwn>;
// Around what enters no hook (the driver's own functions, the start of a life): a hook entered meanwhile is a signal handler's,
// and its call is counted.
using DirectCalls = PassingCalls<kPassingDirect>;
inline bool inside_own_calls() { return (t_local.passing & (kPassingDirect - 1)) != 0; }
inline bool inside_our_calls() { return (t_local.passing & (kPassingBusy - 1)) != 0; }  // of either kind

}  // namespace prof::preload
