// What did `prof ctl` request of this process: to start a recording, to end the current one, or to take host samples at
// another rate? This needs no thread and no file. The words are in the counter page of the log, which stays mapped
// after the recording. A hook that waits reads them, and so does the helper thread in its rounds. If PROF_START=ctl and
// there is no log yet, the first CUDA or NVTX call makes a page of shared memory. This code runs in the program.
#pragma once

#include "preload/base/page_size.h"
#include "preload/format/control_words.h"

#include <atomic>

namespace prof::preload {

// After a fork, the child finds this page full of zeros, because the log of its parent is not its own. (If the kernel
// cannot do that, the pid shows it.)
struct alignas(kLargestPage) ControlPlace {
  std::atomic<format::ControlWords*> words;
  std::atomic<uint32_t> opened;
  int descriptor;  // of our own page, plus 1; 0: none
};
extern ControlPlace g_control_place;

// Whether the functions below have anything to do. A hook that waits checks it. `waits`: the hook waits for prof ctl,
// which needs a page.
inline bool has_control_request(bool waits) {
  format::ControlWords* const words = g_control_place.words.load(std::memory_order_acquire);
  if (words == nullptr) return waits;
  return std::atomic_ref(words->request).load(std::memory_order_relaxed) !=
         std::atomic_ref(words->answer).load(std::memory_order_relaxed);
}

// A recording has a log: from now on its counter page receives the requests.
void open_control();
// The process ends: no further request is read.
void close_control();

// Called by hooks while nothing is recorded. Returns true if prof ctl requested a start. If the hook `waits` for prof
// ctl and there is no page, makes one.
bool control_start_requested(bool waits);
// Called by the helper thread. Returns true if prof ctl requested a stop.
bool control_stop_requested();
// Called by the helper thread while it may write to the log. Switches host samples if prof ctl requested it.
void switch_samples_if_requested();

}  // namespace prof::preload
