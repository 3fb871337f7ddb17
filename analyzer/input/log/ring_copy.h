// Offline. A whole log out of a ring that is being written: the file changes under its reader, who may find a block of a minute ago
// beside one of now. Used by LogFile for rings that are still written, and by `prof ctl PID dump`. The program notices nothing of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

// Copies the log behind `fd` as it is now: every event between the horizon of the copied counter page and the moment of the call is
// in it, every definition that they need too, blocks of no thread are missing in between. Unused blocks are zero.
// Needs as much memory as the file is long. False: `why` says what is in the way.
bool copy_ring(int fd, std::vector<uint8_t>& bytes, std::string& why);

// Of such a copy: only the used blocks, closed in order now and marked as a copy.
std::vector<uint8_t> as_closed_log(const std::vector<uint8_t>& copy, uint64_t monotonic_ns);

}  // namespace prof::analyzer
