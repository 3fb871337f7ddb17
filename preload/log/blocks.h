// Where the blocks of this recording come from: chunks of a log that grows, or a ring of PROF_RING. In the program.
#pragma once

#include <cstdint>

namespace prof::preload {

// A recording starts, its counter page is there; reads the options. False: no room, no memory.
bool open_blocks();
// Helper thread: prepares the blocks that are taken next.
void tend_blocks();
// Copies the blocks to the file where the log is not mapped.
void write_back_blocks();
// Nothing is handed out or overwritten any more. The file offset after the last block that was handed out.
uint64_t close_blocks();
// Before another part of the run: `life` is the one that ended.
void retire_blocks(uint64_t life);
// Child of a fork: forgets the parent's blocks.
void abandon_blocks();

}  // namespace prof::preload
