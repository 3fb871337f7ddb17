// Time that the recorder itself takes outside of hooks, in ticks: what PROF_BUDGET must keep under its share
// (control/budget.h). In the program.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::preload {

extern std::atomic<uint64_t> g_own_ticks;
extern std::atomic<uint64_t> g_opening_ticks;  // of opening CUPTI, until the log says so; 0: nothing to say

// Time that the recorder took on a thread.
void budget_spend(uint64_t ticks);
// The same, of opening CUPTI: the log says what that alone took, which no burst could have been cheap enough to make up
// for in a short run.
void budget_spend_opening(uint64_t ticks);

}  // namespace prof::preload
