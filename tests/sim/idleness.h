// Does the program still run? Asked by the device while nobody calls the driver (device.cpp).
#pragma once

#include "tests/sim/clock.h"

namespace sim {

// True when every other thread of the process sleeps. A thread that wants a processor but gets none (a loaded machine) is not
// asleep: taking it for a sleeper would let the device run ahead and change exact results.
bool all_others_sleep();

// Of all threads of the process so far.
Ns processor_time();

}  // namespace sim
