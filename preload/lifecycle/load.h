// What happened when libprof.so was loaded into this process.
#pragma once

namespace prof::preload {

// What NVTX_INJECTION64_PATH named before we took it (another tool to call as well); empty: nobody.
const char* chained_nvtx_injection();

}  // namespace prof::preload
