// Which GPUs exist, for the log, and which of them are recorded? It runs in the program.
#pragma once

#include <atomic>
#include <cstdint>

namespace prof::preload {

// PROF_DEVICES, read when a recording starts. Bit n is device n in the program's numbering. Devices from 64 on have no
// bit and are always recorded.
extern uint64_t g_wanted_devices;
void open_wanted_devices();
inline bool device_wanted(uint32_t device) { return device >= 64 || (g_wanted_devices >> device & 1) != 0; }
inline bool every_device_wanted() { return g_wanted_devices == UINT64_MAX; }
// Writes the selection to the log. The caller is inside a scope that records.
void describe_wanted_devices();

// Bit n is device n. Awaited: the helper thread waits for the first context on the device. Seen: one of the awaited
// devices on which a context was seen in this recording.
extern std::atomic<uint64_t> g_awaited_devices, g_seen_devices;
void await_devices(uint64_t devices);  // sets the awaited devices; none is seen yet
void await_device_no_more(uint32_t device);
void device_seen(uint32_t device);  // a context on it was seen; wakes the helper thread if it waits for the device

// The version that cuDriverGetVersion reports. 0: not known.
int read_driver_version();

// Defines every device that the driver shows to this process, and the driver's version. Returns that version; 0: not
// known. Called once per recording, when the capture of GPU activity starts. The caller is inside a scope that records.
int define_devices();

}  // namespace prof::preload
