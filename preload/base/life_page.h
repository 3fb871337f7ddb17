// Does this process record? The epoch and the phase of its recording, in a page that fork wipes: a forked child finds
// zeros, so it is cold whatever its parent did. One comparison of a thread's epoch with this one covers "not started",
// "stopped", "forked" and "new thread". Read by every hook. In the program.
#pragma once

#include "preload/base/every_launch.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

enum class Phase : uint32_t { Cold = 0, Starting, Recording, Stopped };

struct LifePage {
  std::atomic<uint64_t> epoch;  // of the recording; 0: not recording
  std::atomic<Phase> phase;
  std::atomic<bool> runtime_calls;  // of the recording: PROF_RUNTIME
  std::atomic<bool> prepared;       // what precedes the first part is done (passes_by() in recording_period.h)
};

extern LifePage g_first_life_page;  // a static page, until the first start makes one that fork wipes
inline LifePage& life() { return *g_every_launch.life.load(std::memory_order_acquire); }

// Replaces the static page, once; the phase is Starting then. Called by the thread that starts, whose phase is
// Starting.
void use_wiped_life_page();

// The newest recording of this process, also while it is being started. It survives fork, so that numbers are never
// used twice.
extern std::atomic<uint64_t> g_newest_life;

}  // namespace prof::preload
