// How much time does the recorder itself take outside of hooks, in ticks? PROF_BUDGET must keep it below its share
// (control/budget.h). This code runs in the program.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::preload {

extern std::atomic<uint64_t> g_own_ticks;
extern std::atomic<uint64_t> g_cupti_open_ticks;  // time to open CUPTI, until it is in the log; 0: none

// Adds time that the recorder took on a thread.
void budget_spend(uint64_t ticks);
// The same for opening CUPTI. The log also contains this time alone, because in a short run no burst could be cheap
// enough to make up for it.
void budget_spend_cupti_open(uint64_t ticks);

}  // namespace prof::preload
