// Calls of NCCL: which communicator is each for, and which call on it is it? NCCL has no getter for either, so the
// recorder notes how communicators are made and counts the calls on each, from the start of the process on. The numbers
// of a communicator are equal on all of its ranks, also in rings and in recordings that start late. It runs in the
// program.
#pragma once

#include "preload/intercept/libraries/library_text.h"

#include <cstdint>

namespace prof::preload {

// PROF_COLLECTIVES=1: a call starts at `begin` ticks. `records`: the thread records; without it the call is counted
// only. Keeps nothing of the arguments.
void collective_starts(uint32_t row, const LibraryArguments& arguments, const LibraryGetters& getters, uint64_t begin,
                       bool records);
// The call returned `status`. Notes the communicator that it made or destroyed.
void communicator_changes(uint32_t row, const LibraryArguments& arguments, const LibraryGetters& getters, bool records,
                          uint32_t status);

void record_collective(const Recorded& call, const LibraryArguments& arguments, const LibraryGetters& getters);

}  // namespace prof::preload
