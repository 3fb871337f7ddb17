// Records of calls of cuDNN (library_forms.h). library_record.cpp calls it, in the program.
#pragma once

#include "preload/intercept/libraries/library_text.h"

namespace prof::preload {

void record_convolution(const Recorded& call, const LibraryArguments& arguments, const LibraryGetters& getters);
void record_plan(const Recorded& call, const LibraryArguments& arguments);

}  // namespace prof::preload
