// What the CUDA runtime asks of cuGetExportTable. The tables are undocumented; see the comment at each.
#include "api_call.h"

SIM_API(cuGetExportTable)(const void** ppExportTable, const CUuuid*) {
  if (ppExportTable == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *ppExportTable = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}
