// PROF_BUDGET=PERCENT: the host side is always recorded, GPU times in bursts that budget_controller.h chooses so that the whole run stays
// under that share of its time. Here what it needs is measured, and what it decides is done, on the helper thread.
//
//   own time      what CUPTI's buffers, flushes and switching on and off take on our side: by the clock
//   hooks         a guard and two readings of the clock, timed at the start, plus the mean of what every 17th launch takes behind its call
//   CUPTI's share what launches take longer in bursts, and between them, than before the first burst: medians of their calls
#pragma once

#include "preload/base/every_launch.h"
#include "preload/format/events.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

// What a launch does beside its record: bits; all of it is one load and one branch while there is nothing.
enum LaunchExtra : uint32_t { kLaunchStack = 1, kLaunchBudget = 2, kLaunchDevices = 4 };
inline constexpr std::atomic<uint32_t>& g_launch_extras = g_every_launch.launch_extras;

inline bool budget_on() { return (g_launch_extras.load(std::memory_order_relaxed) & kLaunchBudget) != 0; }

// At the start of a life, behind open_stacks() and open_wanted_devices(); what the log says of it, inside a scope.
void open_budget();
void describe_budget();

// A launch was recorded. In the program.
void budget_launch(const format::KernelLaunch& event);
// Time that the recorder took on a thread that is not the helper.
void budget_spend(uint64_t ticks);
// The same, of opening CUPTI: the log says what that alone took, which no burst could have been cheap enough to make up for in a short run.
void budget_spend_opening(uint64_t ticks);
// On the helper thread: ns until the next look; 0: no budget.
uint64_t tend_budget();

}  // namespace prof::preload
