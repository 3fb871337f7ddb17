// How is PROF_BUDGET=PERCENT kept? The host side is always recorded. GPU times are recorded in bursts that
// budget_controller.h chooses, so that the whole run stays below that share of its time. The helper thread measures the
// costs here and carries out the decisions. Launches call budget_launch().
//
//   own time       (record/own_time.h) what CUPTI's buffers, flushes and switching on and off take on our side, timed
//   hooks          a guard and two clock readings, timed at the start, plus the mean of what every 17th launch takes
//                  after its call
//   CUPTI's share  what launches take longer in bursts, and between them, than before the first burst: medians of their
//                  calls
#pragma once

#include "preload/format/events.h"

#include <cstdint>

namespace prof::preload {

// open_budget() is called when a recording starts. describe_budget() writes the budget into the log, inside a scope.
void open_budget();
void describe_budget();

// A launch was recorded. Called in the program.
void budget_launch(const format::KernelLaunch& event);
// Called on the helper thread. Returns the ns until the next call; 0: no budget.
uint64_t tend_budget();

}  // namespace prof::preload
