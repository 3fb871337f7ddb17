// A small cuBLASLt: libcublasLt.so.13 (with the symbol versions of the real one). Descriptors store what was set; a
// product launches "gemm_lt" and, if k is large, "splitKreduce".
#include "tests/sim/libraries.h"

#include <cstring>

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))

struct SimLayout {  // eight words, like the real one
  uint32_t type, order;
  uint64_t rows, columns;
  int64_t leading;
  uint32_t batch, unused;
  int64_t stride;
  uint64_t more[2];
};
static_assert(sizeof(SimLayout) == 64);
struct SimMatmul {
  int32_t values[8];
};
static_assert(sizeof(SimAlgorithm) == 64);

namespace {

template <class T> int give(const T& from, void* value, size_t bytes, size_t* written) {
  if (bytes != sizeof from) return 7;
  std::memcpy(value, &from, sizeof from);
  if (written != nullptr) *written = sizeof from;
  return 0;
}

}  // namespace

SIM_EXPORT int cublasLtMatrixLayoutCreate(SimLayout** made, int type, uint64_t rows, uint64_t columns,
                                          int64_t leading) {
  *made = new SimLayout{static_cast<uint32_t>(type), 0, rows, columns, leading, 1, 0, 0, {}};
  return 0;
}
SIM_EXPORT int cublasLtMatrixLayoutDestroy(SimLayout* layout) {
  delete layout;
  return 0;
}
SIM_EXPORT int cublasLtMatrixLayoutSetAttribute(SimLayout* layout, int what, const void* value, size_t bytes) {
  if (what == 5 && bytes == 4) std::memcpy(&layout->batch, value, 4);
  if (what == 6 && bytes == 8) std::memcpy(&layout->stride, value, 8);
  return 0;
}
SIM_EXPORT int cublasLtMatrixLayoutGetAttribute(const SimLayout* layout, int what, void* value, size_t bytes,
                                                size_t* written) {
  switch (what) {
    case 0: return give(layout->type, value, bytes, written);
    case 2: return give(layout->rows, value, bytes, written);
    case 3: return give(layout->columns, value, bytes, written);
    case 5: return give(layout->batch, value, bytes, written);
    case 6: return give(layout->stride, value, bytes, written);
    default: return 7;
  }
}
SIM_EXPORT int cublasLtMatmulDescCreate(SimMatmul** made, int compute, int scale) {
  *made = new SimMatmul{{compute, scale}};
  return 0;
}
SIM_EXPORT int cublasLtMatmulDescDestroy(SimMatmul* matmul) {
  delete matmul;
  return 0;
}
SIM_EXPORT int cublasLtMatmulDescSetAttribute(SimMatmul* matmul, int what, const void* value, size_t bytes) {
  if (what < 0 || what >= 8 || bytes != 4) return 7;
  std::memcpy(&matmul->values[what], value, 4);
  return 0;
}
SIM_EXPORT int cublasLtMatmulDescGetAttribute(const SimMatmul* matmul, int what, void* value, size_t bytes,
                                              size_t* written) {
  return what < 0 || what >= 8 ? 7 : give(matmul->values[what], value, bytes, written);
}
SIM_EXPORT int cublasLtMatmulAlgoConfigSetAttribute(SimAlgorithm* algorithm, int what, const void* value,
                                                    size_t bytes) {
  if (what < 0 || what >= 16 || bytes != 4) return 7;
  std::memcpy(&algorithm->values[what], value, 4);
  return 0;
}
SIM_EXPORT int cublasLtMatmulAlgoConfigGetAttribute(const SimAlgorithm* algorithm, int what, void* value, size_t bytes,
                                                    size_t* written) {
  return what < 0 || what >= 16 ? 7 : give(algorithm->values[what], value, bytes, written);
}
SIM_EXPORT int cublasLtMatmul(void*, SimMatmul* matmul, const void*, const void*, SimLayout* a, const void*,
                              SimLayout* b, const void*, const void*, SimLayout*, void*, SimLayout* d, const void*,
                              void*, size_t, CUstream stream) {
  if (matmul == nullptr || a == nullptr || b == nullptr || d == nullptr) return 7;
  if (d->rows == 0 || d->columns == 0) return 0;  // nothing to do
  if (const int status = sim_libraries::launch("gemm_lt", stream); status != 0) return status;
  const uint64_t k = matmul->values[3] == 0 ? a->columns : a->rows;
  return k > 4096 ? sim_libraries::launch("splitKreduce", stream) : 0;
}
