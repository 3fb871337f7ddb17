// The loss counters of the log: what should have been recorded and was not, and why. In the program.
#pragma once

#include "preload/format/loss_counters.h"

#include <cstdint>

namespace prof::preload {

// Adds to a loss counter of the log; what is counted before there is a log is kept and written into it
// (adopt_counters()). Safe anywhere, also in the child of a fork and in signal handlers.
void count(format::LossCounter counter, uint64_t n);
inline void count(format::LossCounter counter) { count(counter, 1); }

// Counters live in the log's counter page; before there is one, and in a forked child, in memory. Moves those into the
// page.
void adopt_counters();

}  // namespace prof::preload
