// cuGetProcAddress (both ABIs), error names and the export tables that the CUDA runtime requests.
#include <cstdio>
#include <cstring>

#include "tests/sim/api_call.h"
#include "tests/sim/device.h"
#include "tests/sim/script.h"

namespace sim {
namespace {

const ApiInfo* find(const char* symbol, int version, bool per_thread) {
  const ApiInfo* best = nullptr;
  for (const ApiInfo& one : kApiTable) {
    if (strcmp(one.base, symbol) != 0 || one.since > version) continue;
    if (one.per_thread && !per_thread) continue;
    if (best == nullptr || one.since > best->since || (one.since == best->since && one.per_thread)) best = &one;
  }
  // The per-thread form wins over an equally new plain one. The newest plain form wins over an older per-thread one
  // only if it has no per-thread form.
  if (best != nullptr && per_thread && !best->per_thread) {
    const size_t length = strlen(best->name);
    for (const ApiInfo& one : kApiTable) {
      if (one.per_thread && strncmp(one.name, best->name, length) == 0 && strlen(one.name) == length + 5) best = &one;
    }
  }
  return best;
}

// Functions of the graphics headers, which need GL, EGL or VDPAU to compile: they exist, and return that graphics is
// not supported.
CUresult no_graphics() { return CUDA_ERROR_NOT_SUPPORTED; }

bool is_graphics(const char* symbol) {
  for (const char* prefix : {"cuGL", "cuEGL", "cuVDPAU", "cuGraphicsGL", "cuGraphicsEGL", "cuGraphicsVDPAU",
                             "cuGraphicsResourceGetMappedEgl"}) {
    if (strncmp(symbol, prefix, strlen(prefix)) == 0) return true;
  }
  return false;
}

CUresult look_up(const char* symbol, void** pfn, int version, cuuint64_t flags,
                 CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || pfn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pfn = nullptr;
  if (status != nullptr) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  // The runtime's first request is for the empty string, to probe for this function.
  if (symbol[0] == '\0') return CUDA_ERROR_NOT_FOUND;
  if (script().is_absent(symbol)) return CUDA_ERROR_NOT_FOUND;
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const ApiInfo* found = find(symbol, std::min(version, script().driver_version), per_thread);
  if (found == nullptr && is_graphics(symbol)) {
    *pfn = reinterpret_cast<void*>(&no_graphics);
    if (status != nullptr) *status = CU_GET_PROC_ADDRESS_SUCCESS;
    return CUDA_SUCCESS;
  }
  if (found == nullptr) {
    if (status != nullptr && find(symbol, INT32_MAX, per_thread) != nullptr)
      *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    return CUDA_ERROR_NOT_FOUND;
  }
  *pfn = found->address;
  if (status != nullptr) *status = CU_GET_PROC_ADDRESS_SUCCESS;
  return CUDA_SUCCESS;
}

CUresult answer(const char* symbol, void** pfn, int version, cuuint64_t flags, CUdriverProcAddressQueryResult* status) {
  const CUresult result = look_up(symbol, pfn, version, flags, status);
  if (!script().request_log.empty()) {
    if (FILE* file = fopen(script().request_log.c_str(), "a")) {
      fprintf(file, "%s %d %llu %d\n", symbol != nullptr && *symbol != '\0' ? symbol : "-", version,
              static_cast<unsigned long long>(flags), static_cast<int>(result));
      fclose(file);
    }
  }
  return result;
}

}  // namespace
}  // namespace sim

SIM_API(cuGetProcAddress)(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags) {
  return answer(symbol, pfn, cudaVersion, flags, nullptr);
}

SIM_API(cuGetProcAddress_v2)
(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags, CUdriverProcAddressQueryResult* symbolStatus) {
  return answer(symbol, pfn, cudaVersion, flags, symbolStatus);
}

SIM_API(cuGetErrorName)(CUresult error, const char** pStr) {
  if (pStr == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pStr = nullptr;
  for (unsigned i = 0; i < kErrorCount; ++i) {
    if (kErrorTable[i].value == static_cast<int>(error)) *pStr = kErrorTable[i].name;
  }
  return *pStr != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_API(cuGetErrorString)(CUresult error, const char** pStr) { return impl_cuGetErrorName(error, pStr); }
