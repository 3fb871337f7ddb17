// Records of calls of cuSPARSE (library_forms.h). library_record.cpp calls it, in the program.
#pragma once

#include "preload/intercept/libraries/library_text.h"

namespace prof::preload {

void record_sparse(const Recorded& call, const LibraryArguments& arguments, const LibraryGetters& getters);

}  // namespace prof::preload
