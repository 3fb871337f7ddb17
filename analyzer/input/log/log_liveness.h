// Offline. Is the process that writes this log still there? Decides between "killed" and "still recording".
#pragma once

#include "preload/format/block.h"

namespace prof::analyzer {

// True if a process with the log's pid lives, started before the log, and the machine has not been booted since.
bool writer_is_alive(const format::FileHeader& header);

}  // namespace prof::analyzer
