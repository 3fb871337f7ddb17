// What does a launch do besides its record, and what an NVTX push or pop? Subsystems set bits for it. If no bit is set,
// it costs one load and one branch. This code runs in the program.
#pragma once

#include "preload/base/every_launch.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

enum LaunchExtra : uint32_t { kLaunchStack = 1, kLaunchBudget = 2, kLaunchDevices = 4 };
inline constexpr std::atomic<uint32_t>& g_launch_extras = g_every_launch.launch_extras;

inline void set_launch_extra(LaunchExtra extra, bool on) {
  if (on) {
    g_launch_extras.fetch_or(extra, std::memory_order_relaxed);
  } else {
    g_launch_extras.fetch_and(~static_cast<uint32_t>(extra), std::memory_order_relaxed);
  }
}

// NVTX: a marker may dump the ring; ranges have hardware counters; a range ends the recording; another tool gets the
// events too.
enum NvtxExtra : uint32_t { kNvtxDump = 1, kNvtxCounters = 2, kNvtxAwaited = 4, kNvtxChain = 8 };
inline bool nvtx_has_extras() { return g_every_launch.nvtx_extras.load(std::memory_order_relaxed) != 0; }

inline void set_nvtx_extra(NvtxExtra extra, bool on) {
  if (on) {
    g_every_launch.nvtx_extras.fetch_or(extra, std::memory_order_relaxed);
  } else {
    g_every_launch.nvtx_extras.fetch_and(~static_cast<uint32_t>(extra), std::memory_order_relaxed);
  }
}

inline bool budget_on() { return (g_launch_extras.load(std::memory_order_relaxed) & kLaunchBudget) != 0; }

}  // namespace prof::preload
