// How are the log's ticks related to the clocks of the machine? An anchor is one reading of all of them: every second
// on the helper thread, and at the end. Each is compared with the one before, because a clock may step.
#pragma once

#include "preload/base/clock.h"

namespace prof::preload {

// Writes an anchor if this thread records. Counts a step since the last one of this recording, and reports the first.
ClockReading write_clock_anchor();

// A recording starts: there is no earlier anchor.
void forget_clock_anchors();

}  // namespace prof::preload
