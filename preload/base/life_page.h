// Does this process record? Every hook reads this page: the epoch and the phase of the recording. Fork wipes the page:
// a forked child finds zeros, so its phase is Cold whatever its parent did. One comparison of a thread's epoch with
// this one covers "not started", "stopped", "forked" and "new thread". This code runs in the program.
#pragma once

#include "preload/base/every_launch.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

enum class Phase : uint32_t { Cold = 0, Starting, Recording, Stopped };

struct LifePage {
  std::atomic<uint64_t> epoch;  // of the recording; 0: not recording
  // When the epoch was set, CLOCK_MONOTONIC: from then on every thread records. Set before the epoch.
  std::atomic<uint64_t> ready_ns;
  std::atomic<Phase> phase;
  std::atomic<bool> runtime_calls;  // of the recording: PROF_RUNTIME
  // Not null: the recording ended because its log was full, and calls that would have been recorded are counted there.
  std::atomic<uint64_t*> lost_calls;
  // The preparation before the first recording is done (passes_by() in recording_period.h).
  std::atomic<bool> prepared;
  // A recording was started or prepared in this process. A child in another pid namespace may have its parent's pid.
  std::atomic<bool> used;
};

extern LifePage g_first_life_page;  // a static page, until the first start makes one that fork wipes
inline LifePage& life() { return *g_every_launch.life.load(std::memory_order_acquire); }

// Replaces the static page by one that fork wipes, once. The thread that starts the recording calls it, while the phase
// is Starting. The new page has the phase Starting too.
void use_wiped_life_page();

// The number of the newest recording of this process, also while that is being started. It survives fork, so that no
// number is used twice.
extern std::atomic<uint64_t> g_newest_life;

}  // namespace prof::preload
