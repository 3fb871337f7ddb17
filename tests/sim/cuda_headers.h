// The CUDA headers as the driver itself sees them: every _v2 and _ptsz prototype, no macro renames.
#pragma once
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>
#define SIM_EXPORT __attribute__((visibility("default")))
