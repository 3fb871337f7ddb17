// What does a plan of cuFFT transform? A plan is a number and cannot be queried. Its arguments are therefore noted when
// it is made successfully, whether or not anything is recorded. `library`: base address of the cuFFT that made the
// plan, because two of them give the same numbers. It runs in the program and is lock-free.
#pragma once

#include "preload/intercept/libraries/library.h"
#include "preload/intercept/libraries/library_text.h"

#include <cstdint>

namespace prof::preload {

struct FftPlan {
  static constexpr int kMostDimensions = 3;  // the most that cuFFT has
  int64_t points[kMostDimensions];
  int64_t batch;
  uint8_t rank;
  uint8_t from, to;  // cudaDataType_t of input and output
};

// fft_plan_made: called after a call of the form FftPlan that returned `status`. fft_plan_destroyed: called before
// cufftDestroy.
void fft_plan_made(uint32_t row, const LibraryArguments& arguments, uintptr_t library, uint32_t status);
void fft_plan_destroyed(uint64_t plan, uintptr_t library);

// Writes the record of a call that runs a plan (library_forms.h).
void record_fft(const Recorded& call, const LibraryArguments& arguments, uintptr_t library);

}  // namespace prof::preload
