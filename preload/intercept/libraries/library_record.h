// What the calls of one library are recorded as: a function for each family of forms (library_forms.h). In the program.
#pragma once

#include "preload/intercept/libraries/library_text.h"

namespace prof::preload {

void record_convolution(const Recorded& call, const LibraryArguments& arguments,
                        const LibraryGetters& getters);                                       // library_record_dnn.cpp
void record_plan(const Recorded& call, const LibraryArguments& arguments);                    // library_record_dnn.cpp
void record_fft(const Recorded& call, const LibraryArguments& arguments, uintptr_t library);  // library_fft.cpp

void record_sparse(const Recorded& call, const LibraryArguments& arguments,
                   const LibraryGetters& getters);  // library_record_sparse.cpp

}  // namespace prof::preload
