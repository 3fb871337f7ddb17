// What GPUs there are, for the log, and which of them are recorded.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::preload {

// PROF_DEVICES, read when a life opens: bit n is device n as the program counts them. What has no bit is wanted.
extern uint64_t g_wanted_devices;
void open_wanted_devices();
inline bool device_wanted(uint32_t device) { return device >= 64 || (g_wanted_devices >> device & 1) != 0; }
inline bool every_device_wanted() { return g_wanted_devices == UINT64_MAX; }
// For the log; the caller is inside a scope that records.
void describe_wanted_devices();

// Devices whose first context the helper thread waits for, bit n is device n, and those of them of which one was seen
// in this recording.
extern std::atomic<uint64_t> g_awaited_devices, g_seen_devices;
void await_devices(uint64_t devices);  // of a recording that starts: none was seen
void await_device_no_more(uint32_t device);
void device_seen(uint32_t device);  // a context of it; wakes the helper thread where it waits for that

// As cuDriverGetVersion tells it; 0: not known.
int read_driver_version();

// Defines every device the driver shows to this process, and the driver's version, which is returned (0: not known).
// Called once a life, when GPU activity is taken; the caller is inside a scope that records.
int define_devices();

}  // namespace prof::preload
