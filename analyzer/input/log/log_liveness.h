// Offline. Does the process that writes a log still exist? Distinguishes "killed" from "still recording".
#pragma once

#include "preload/format/block.h"

namespace prof::analyzer {

// True if a process with the log's pid exists and started before the log, and the machine has not been booted since.
bool writer_is_alive(const format::FileHeader& header);

}  // namespace prof::analyzer
