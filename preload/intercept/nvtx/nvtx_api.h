// NVTX's own types, without its implementation: libprof.so is what the implementation in the program's objects calls.
#pragma once

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
