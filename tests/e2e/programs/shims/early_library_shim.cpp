// A library whose constructor launches kernels.
#include "tests/sim/sim_program.h"

static int launches = 0;

__attribute__((constructor)) static void early() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("early");
  for (int i = 0; i < 3; ++i) launches += sim_program::launch(function) == CUDA_SUCCESS ? 1 : 0;
}

extern "C" __attribute__((visibility("default"))) int early_launches() { return launches; }
