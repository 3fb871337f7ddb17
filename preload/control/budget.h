// PROF_BUDGET=PERCENT: the host side is always recorded, GPU times in bursts that budget_controller.h chooses so that the whole run stays
// under that share of its time. Here what it needs is measured, and what it decides is done, on the helper thread.
//
//   own time      (record/own_time.h) what CUPTI's buffers, flushes and switching on and off take on our side: by the clock
//   hooks         a guard and two readings of the clock, timed at the start, plus the mean of what every 17th launch takes behind its call
//   CUPTI's share what launches take longer in bursts, and between them, than before the first burst: medians of their calls
#pragma once

#include "preload/format/events.h"

#include <cstdint>

namespace prof::preload {

// At the start of a life; what the log says of it, inside a scope.
void open_budget();
void describe_budget();

// A launch was recorded. In the program.
void budget_launch(const format::KernelLaunch& event);
// On the helper thread: ns until the next look; 0: no budget.
uint64_t tend_budget();

}  // namespace prof::preload
