// What does a launch do besides its record? Subsystems set bits for it when a recording starts. If no bit is set, it
// costs one load and one branch. This code runs in the program.
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

inline bool budget_on() { return (g_launch_extras.load(std::memory_order_relaxed) & kLaunchBudget) != 0; }

}  // namespace prof::preload
