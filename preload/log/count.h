// How many records that should exist were lost, and why? These are the loss counters of the log. This code runs in the
// program.
#pragma once

#include "preload/format/loss_counters.h"

#include <cstdint>

namespace prof::preload {

// Adds `n` to a loss counter of the log. Counts from before there is a log are kept and written into it
// (adopt_counters()). Safe anywhere, also in the child of a fork and in signal handlers.
void count(format::LossCounter counter, uint64_t n);
inline void count(format::LossCounter counter) { count(counter, 1); }

// Moves the counts that are kept in memory into the log's counter page. They are in memory before there is a page, and
// in a forked child.
void adopt_counters();

}  // namespace prof::preload
