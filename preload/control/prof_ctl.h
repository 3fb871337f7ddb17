// What `prof ctl` asks of this process: to begin a part of the run, or to end the one that is recorded. No thread and no file for that: the words
// lie in the log's counter page, which stays mapped behind the part; a hook that waits reads them, and so does the helper
// thread on its rounds. Only with PROF_START=ctl, before there is a log, a page of shared memory is made, by the first CUDA or NVTX call.
#pragma once

#include "preload/format/control_words.h"

#include <atomic>

namespace prof::preload {

// Fork gives the child this page full of zeros: its parent's log is not its own. (Where the kernel cannot do that, the pid tells.)
struct alignas(4096) ControlPlace {
  std::atomic<format::ControlWords*> words;
  std::atomic<uint32_t> opened;
  int descriptor;  // of the page of our own, + 1
};
extern ControlPlace g_control_place;

// Whether there is anything to do for the functions below: what a hook asks that waits. `waits`: for prof ctl, which needs a page.
inline bool control_has_news(bool waits) {
  format::ControlWords* const words = g_control_place.words.load(std::memory_order_acquire);
  if (words == nullptr) return waits;
  return std::atomic_ref(words->request).load(std::memory_order_relaxed) !=
         std::atomic_ref(words->answer).load(std::memory_order_relaxed);
}

// A life has a log: it is the place to ask from now on.
void open_control();
// The end of the process: nothing is listened to any more.
void close_control();

// Asked by hooks while nothing is recorded; true: prof ctl said start. `waits` for it: makes the page where there is none.
bool control_asks_start(bool waits);
// Asked by the helper thread: prof ctl said stop.
bool control_asks_stop();

}  // namespace prof::preload
