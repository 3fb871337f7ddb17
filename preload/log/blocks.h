// Where do the blocks of this recording come from: chunks of a growing log, or a ring (PROF_RING)?
// lifecycle/subsystems.cpp uses it. This code runs in the program.
#pragma once

#include <cstdint>

namespace prof::preload {

// Starts the blocks of a recording; its counter page exists. Reads the options. Returns false if there is no room or no
// memory.
bool open_blocks();
// Helper thread: prepares the blocks that are taken next.
void tend_blocks();
// Copies the blocks to the file if the log is not mapped.
void write_back_blocks();
// Whether the log has no room for more records, and will have none.
bool blocks_ran_out();
// After this call no block is taken or overwritten. Returns the file offset after the last block that was taken.
uint64_t close_blocks();
// Before another recording of this process starts: `life` is the epoch of the recording that ended.
void retire_blocks(uint64_t life);
// In the child of a fork: abandons the parent's blocks.
void abandon_blocks();

}  // namespace prof::preload
