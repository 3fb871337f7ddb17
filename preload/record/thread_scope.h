// May this thread record now? What the recorder's own code asks, on whatever thread it runs: CUPTI's, the helper
// thread, or one of the program inside a hook. It opens the thread's state; it never starts a recording, which only a
// call of the program does (lifecycle/call_scope.h). In the program: one comparison on the usual path; the slow path
// keeps errno.
#pragma once

#include "preload/base/life_page.h"
#include "preload/record/thread_local.h"

namespace prof::preload {

// For thread_records(), where this thread has no state of the current recording. False: it does not record; counted
// where a record is lost.
__attribute__((cold)) bool enter_recording();
// The same in a process of this phase (Phase), whose epoch was 0 a moment ago. Cold: false, and nothing is lost.
__attribute__((cold)) bool enter_phase(Phase phase);

inline bool thread_records() {
  const uint64_t epoch = life().epoch.load(std::memory_order_acquire);
  if (epoch != 0 && t_local.epoch == epoch) [[likely]]
    return true;
  return enter_recording();
}

class ThreadScope {
 public:
  ThreadScope() : recording_(thread_records()) {}
  bool recording() const { return recording_; }

 private:
  bool recording_;
};

}  // namespace prof::preload
