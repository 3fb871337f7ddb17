// Arrays and mipmapped arrays: creation and destruction. They have no contents: reading and writing them is not
// simulated.
#include "tests/sim/api_call.h"
#include "tests/sim/device.h"

namespace sim {
namespace {

struct Array {
  uint64_t width;
};

template <class Handle> CUresult make(Handle* to, uint64_t width) {
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (to == nullptr || width == 0) return CUDA_ERROR_INVALID_VALUE;
  *to = handle_of<Handle>(new Array{width});
  return CUDA_SUCCESS;
}

template <class Handle> CUresult destroy(Handle handle) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  delete object<Array>(handle);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace sim

SIM_API(cuArrayCreate_v2)(CUarray* pHandle, const CUDA_ARRAY_DESCRIPTOR* pAllocateArray) {
  return make(pHandle, pAllocateArray == nullptr ? 0 : pAllocateArray->Width);
}
SIM_API(cuArray3DCreate_v2)(CUarray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pAllocateArray) {
  return make(pHandle, pAllocateArray == nullptr ? 0 : pAllocateArray->Width);
}
SIM_API(cuMipmappedArrayCreate)
(CUmipmappedArray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pMipmappedArrayDesc, unsigned int numMipmapLevels) {
  return make(pHandle, pMipmappedArrayDesc == nullptr || numMipmapLevels == 0 ? 0 : pMipmappedArrayDesc->Width);
}
SIM_API(cuArrayDestroy)(CUarray hArray) { return destroy(hArray); }
SIM_API(cuMipmappedArrayDestroy)(CUmipmappedArray hMipmappedArray) { return destroy(hMipmappedArray); }
