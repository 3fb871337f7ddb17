// What a plan of cuFFT transforms. A plan is a number and cannot be asked, so what it was made with is noted when that succeeded,
// recording or not. `library`: where the cuFFT is that made it: two of them give the same numbers. In the program; lock-free.
#pragma once

#include "preload/intercept/libraries/library.h"
#include "preload/intercept/libraries/library_text.h"

#include <cstdint>

namespace prof::preload {

struct FftPlan {
  static constexpr int kMostDimensions = 3;  // cuFFT has no more
  int64_t points[kMostDimensions];
  int64_t batch;
  uint8_t rank;
  uint8_t from, to;  // cudaDataType_t of input and output
};

// Behind a call of the form FftPlan that returned `status`; before cufftDestroy.
void fft_plan_made(uint32_t row, const LibraryArguments& arguments, uintptr_t library, uint32_t status);
void fft_plan_destroyed(uint64_t plan, uintptr_t library);

// What a call that runs a plan is recorded as (library_forms.h).
void record_fft(const Recorded& call, const LibraryArguments& arguments, uintptr_t library);

}  // namespace prof::preload
