// Offline. Copies a complete log from a ring that is being written. The file changes while it is read, so a block of a
// minute ago may be next to a current one. Used by LogFile for rings that are still written, and by `prof ctl PID
// dump`. The program is not affected.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

// Copies the log of the file `fd` as it is now. It has every event between the horizon of the copied counter page and
// the moment of the call, and every definition that these need; no thread lacks a block in between. Unused blocks are
// zero. Needs as much memory as the size of the file. False: `why` has the reason.
bool copy_ring(int fd, std::vector<uint8_t>& bytes, std::string& why);

// From such a copy: only the used blocks, finished in order now and marked as a copy.
std::vector<uint8_t> as_closed_log(const std::vector<uint8_t>& copy, uint64_t monotonic_ns);

}  // namespace prof::analyzer
