// The record of a library call: which words of its arguments say what it computes and moves. In the program.
#pragma once

#include "preload/intercept/libraries/library.h"

#include <cstdint>

namespace prof::preload {

// Writes the record of a call that returned `status`; `library`: where the function's library begins. Keeps errno. The
// thread records.
void record_library_call(uint32_t row, const LibraryArguments& arguments, const LibraryGetters& getters,
                         uintptr_t library, LibraryTimes times, uint32_t status);

}  // namespace prof::preload
