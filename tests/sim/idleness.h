// Whether the program still runs. The device checks it while no driver calls arrive (device.cpp).
#pragma once

#include "tests/sim/clock.h"

namespace sim {

// True if every other thread of the process sleeps. A thread that is runnable but gets no processor (on a loaded
// machine) is not asleep: treating it as asleep would let the device run ahead and change exact results.
bool all_others_sleep();
bool other_threads();  // whether the process has any

// Of all threads of the process so far.
Ns processor_time();

}  // namespace sim
