// What GPUs there are, for the log, and which of them are recorded.
#pragma once

#include <cstdint>

namespace prof::preload {

// PROF_DEVICES, read when a life opens: bit n is device n as the program counts them. What has no bit is wanted.
extern uint64_t g_wanted_devices;
void open_wanted_devices();
inline bool device_wanted(uint32_t device) { return device >= 64 || (g_wanted_devices >> device & 1) != 0; }
inline bool every_device_wanted() { return g_wanted_devices == UINT64_MAX; }
// For the log; the caller is inside a scope that records.
void describe_wanted_devices();

// As cuDriverGetVersion tells it; 0: not known.
int read_driver_version();

// Defines every device the driver shows to this process, and the driver's version, which is returned (0: not known). Called once
// a life, when GPU activity is taken; the caller is inside a scope that records.
int define_devices();

}  // namespace prof::preload
