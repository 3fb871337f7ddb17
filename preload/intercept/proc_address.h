// The hooks of cuGetProcAddress (proc_address.cpp).
#pragma once

#include "preload/driver/api.h"

namespace prof::preload {

CUresult get_proc_address(const char* symbol, void** function, int cuda_version, cuuint64_t flags);
CUresult get_proc_address_v2(const char* symbol, void** function, int cuda_version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status);

}  // namespace prof::preload
