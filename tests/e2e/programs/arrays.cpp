// Arrays are memory: their creation and destruction are recorded with the bytes computed from the descriptor, joined by
// their handles.
// Env: PROF_GPU=off
// Expect: status 0
// Expect: log 1: 1 alloc_call(cuArrayCreate_v2), 1 alloc_call(cuArray3DCreate_v2), 1 alloc_call(cuMipmappedArrayCreate), whole, 0 lost
// Expect: log 1: 2 alloc_call(cuArrayDestroy), 1 alloc_call(cuMipmappedArrayDestroy), text bytes=32768, text bytes=4194304, text bytes=87380
// Expect: report memory: ,device 0,,CUDA calls,3,4314452,3,4314452,0,4314452,.*,0,0,
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  CUDA_ARRAY_DESCRIPTOR flat{};
  flat.Width = 128, flat.Height = 64, flat.Format = CU_AD_FORMAT_HALF, flat.NumChannels = 2;
  CUarray two, three;
  SIM_CHECK(cuArrayCreate(&two, &flat));
  CUDA_ARRAY3D_DESCRIPTOR deep{};
  deep.Width = deep.Height = deep.Depth = 64, deep.Format = CU_AD_FORMAT_FLOAT, deep.NumChannels = 4;
  SIM_CHECK(cuArray3DCreate(&three, &deep));
  CUDA_ARRAY3D_DESCRIPTOR image{};
  image.Width = image.Height = 128, image.Format = CU_AD_FORMAT_UNSIGNED_INT8, image.NumChannels = 4;
  CUmipmappedArray levels;
  SIM_CHECK(cuMipmappedArrayCreate(&levels, &image, 100));  // eight is the maximum
  SIM_CHECK(cuArrayDestroy(three));
  SIM_CHECK(cuArrayDestroy(two));
  SIM_CHECK(cuMipmappedArrayDestroy(levels));
  return 0;
}
