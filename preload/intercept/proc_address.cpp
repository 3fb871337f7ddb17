// The two forms of cuGetProcAddress: 4 arguments (CUDA 11.3) and 5 (12.0). cudart requests every driver function here.
// It requests cuGetProcAddress itself first and then uses that answer, so that answer must be ours, too. These calls
// are never recorded.
#include "preload/intercept/proc_address.h"

#include "preload/intercept/records/toolkit.h"
#include "preload/intercept/records/unhooked.h"
#include "preload/intercept/resolve.h"
#include "preload/record/thread_local.h"

namespace prof::preload {
namespace {

CUresult route(CUresult result, const char* symbol, void** function, int cuda_version, cuuint64_t flags) {
  if (result != CUDA_SUCCESS || function == nullptr || *function == nullptr || inside_our_calls()) return result;
  note_requested_version(cuda_version);
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  if (void* const hook = hook_of_pointer(*function, symbol, per_thread); hook != nullptr) {
    *function = hook;
  } else if (symbol != nullptr) {
    notice_unhooked(symbol);
  }
  return result;
}

}  // namespace

CUresult get_proc_address(const char* symbol, void** function, int cuda_version, cuuint64_t flags) {
  return route(real_of<Api::cuGetProcAddress>()(symbol, function, cuda_version, flags), symbol, function, cuda_version,
               flags);
}

CUresult get_proc_address_v2(const char* symbol, void** function, int cuda_version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  return route(real_of<Api::cuGetProcAddress_v2>()(symbol, function, cuda_version, flags, status), symbol, function,
               cuda_version, flags);
}

}  // namespace prof::preload
