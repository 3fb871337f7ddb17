// What calls of cuSPARSE are recorded as (library_forms.h). In the program.
#pragma once

#include "preload/intercept/libraries/library_text.h"

namespace prof::preload {

void record_sparse(const Recorded& call, const LibraryArguments& arguments, const LibraryGetters& getters);

}  // namespace prof::preload
