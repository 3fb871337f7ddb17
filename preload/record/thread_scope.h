// May this thread record now? Code of the recorder checks it on any thread: one of CUPTI, the helper thread, or one of
// the program inside a hook. The check opens the thread's state. It must never start a recording; only a call of the
// program does that (lifecycle/call_scope.h). The usual path is one comparison; the slow path keeps errno. This code
// runs in the program.
#pragma once

#include "preload/base/life_page.h"
#include "preload/record/thread_local.h"

namespace prof::preload {

// For thread_records(), if this thread has no state of the current recording. Returns false if the thread does not
// record. If a record is lost, it is counted.
__attribute__((cold)) bool enter_recording();
// The same in a process of this phase, if the epoch was 0 shortly before. In the phase Cold it returns false, and
// nothing is lost. In the phase Starting the thread waits for the thread that starts the recorder: once, and at most
// 2 ms, because the starting thread may need a lock that this thread holds. A call that waited in vain is counted.
__attribute__((cold)) bool enter_phase(Phase phase);
// The start ended, or other threads can already record: threads that wait in enter_phase() go on. Keeps errno.
void wake_waiting_for_start();

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
