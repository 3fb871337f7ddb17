// How is a call of the program recorded? Hooks make a scope for each call. The first call of a process starts the
// recorder on its thread; meanwhile, calls of other threads pass through. The usual path must not allocate, lock, throw
// or make a system call. The slow paths (the start, a thread's first record) keep errno. This code runs in the program.
#pragma once

#include "preload/base/clock.h"
#include "preload/base/hook_frame.h"
#include "preload/base/life_page.h"
#include "preload/format/ids.h"
#include "preload/lifecycle/start.h"
#include "preload/record/thread.h"
#include "preload/record/thread_local.h"

#include <cstdint>

namespace prof::preload {

__attribute__((cold)) void count_nested();
__attribute__((cold)) void count_guard_reset();
__attribute__((cold)) void count_cut_off();  // a call returned after its recording ended

inline bool thread_ready() {
  const uint64_t epoch = life().epoch.load(std::memory_order_acquire);
  if (epoch != 0 && t_local.epoch == epoch) [[likely]]
    return true;
  return enter_slow();
}

// A call of the program that is not a driver function: NVTX, libraries, another profiler. The first such call starts
// the recording.
class EventScope {
 public:
  EventScope() : recording_(thread_ready()) {}
  bool recording() const { return recording_; }

 private:
  bool recording_;
};

// One intercepted call. While its scope is open, hooks entered deeper on the same stack pass through, because they
// belong to this call.
//
//   CallScope scope(api_id, PROF_HOOK_FRAME());
//   if (!scope.recording()) return real(args...);
//   result = real(args...);
//   scope.end();                 // end tick
//   emit(…scope.begin_tick(), scope.end_tick()…);
//   scope.leave();
//
// There is no destructor. If a call is left by pthread_cancel or longjmp, the guard stays set. The next hook at or
// above that frame notices this and resets it.
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
    epoch_ = local.epoch;
    begin_ = now_ticks();
    local.state->events.enter_call(static_cast<uint32_t>(api), begin_);
  }
  bool recording() const { return recording_; }
  uint64_t begin_tick() const { return begin_; }
  uint64_t end_tick() const { return end_; }
  uint64_t duration() const { return end_ - begin_; }
  void end() { end_ = now_ticks(); }
  void restart_timer() { begin_ = now_ticks(); }  // the time so far was the recorder's, not the call's
  // Returns false if the recording ended during the call, or if the call continues in the child of a fork. Nothing may
  // be emitted then. Otherwise the thread has the same state as at the start: a state changes with the epoch.
  bool still_recording() const { return life().epoch.load(std::memory_order_relaxed) == epoch_; }
  void leave() {
    t_local.guard_frame = 0;
    if (still_recording()) [[likely]]
      t_local.state->events.exit_call();
    else
      count_cut_off();
  }

 private:
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  uint64_t epoch_ = 0;  // of the recording
  bool recording_ = false;
};

}  // namespace prof::preload
