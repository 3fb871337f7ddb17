// The table of hooks: one for every row of cuda_api.def.
#pragma once

#include "preload/driver/api.h"

namespace prof::preload {

extern void* const g_hooks[kApiCount];

}  // namespace prof::preload
