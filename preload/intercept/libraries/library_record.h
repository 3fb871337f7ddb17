// The record of a library call: which of its argument words describe what it computes and moves? library.cpp calls it,
// in the program.
#pragma once

#include "preload/intercept/libraries/library.h"

#include <cstdint>

namespace prof::preload {

// Writes the record of a call that returned `status`. `library`: base address of the function's library. Keeps errno.
// The caller's thread must be recording.
void record_library_call(uint32_t row, const LibraryArguments& arguments, const LibraryGetters& getters,
                         uintptr_t library, LibraryTimes times, uint32_t status);

}  // namespace prof::preload
