// NVTX's own types, without its implementation. The implementation is in the program's objects and calls libprof.so.
#pragma once

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
