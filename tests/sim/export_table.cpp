// cuGetExportTable: the CUDA runtime's undocumented interface of the driver. This driver has no such table.
//
// The real runtime (static cudart 13.0) completes loading and all of its cuGetProcAddress requests without one. After
// that it requires proof that the driver is NVIDIA's own. That proof is not imitated here, so its first API call ends
// with cudaErrorSymbolNotFound. Programs that need a runtime use the simulated one (cudart.cpp), shared or static.
#include <cstdio>

#include "tests/sim/api_call.h"
#include "tests/sim/script.h"

SIM_API(cuGetExportTable)(const void** ppExportTable, const CUuuid* pExportTableId) {
  if (ppExportTable == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *ppExportTable = nullptr;
  if (!script().request_log.empty()) {
    if (FILE* file = fopen(script().request_log.c_str(), "a")) {
      fputs("export_table ", file);
      for (const char byte : pExportTableId->bytes)
        fprintf(file, "%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
      fputc('\n', file);
      fclose(file);
    }
  }
  return CUDA_ERROR_NOT_FOUND;
}
