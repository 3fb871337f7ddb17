// A small cuSPARSE: libcusparse.so.12 (with the symbol versions of the real one). Descriptors store their arguments; a
// product launches "csrmm", "csrmv" or "sddmm", and nothing if there are no rows. A getter for another kind of matrix
// prints an error on stderr, like the real ones.
#include "tests/sim/libraries.h"

#include <cstdio>

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))

enum Kind { kHandle = 0, kCsr = 1, kCsc = 2, kCoo = 3, kBlockedEll = 5, kDense = 100, kVector };
struct SimSparse {
  int kind;
  int64_t rows, columns, nonzeros;
  int offset_type, index_type, type, batch = 1, mode = 0;
  int64_t distance = 0;
};

namespace {

bool is(const SimSparse* object, int kind, const char* asked) {
  if (object != nullptr && object->kind == kind) return true;
  std::fprintf(stderr, " ** On entry to %s() parameter number 1 had an illegal value\n", asked);
  return false;
}

int made(SimSparse** to, const SimSparse& object) {
  *to = new SimSparse(object);
  return 0;
}

int run(const char* kernel, const SimSparse* handle, const SimSparse* a, const SimSparse* b, const SimSparse* c,
        int algorithm) {
  if (handle == nullptr || a == nullptr || b == nullptr || c == nullptr || algorithm < 0) return 3;
  if (c->rows == 0) return 0;
  return sim_libraries::launch(kernel, nullptr);
}

}  // namespace

SIM_EXPORT int cusparseCreate(SimSparse** to) { return made(to, {kHandle, 0, 0, 0, 0, 0, 0}); }
SIM_EXPORT int cusparseDestroy(SimSparse* handle) {
  delete handle;
  return 0;
}
SIM_EXPORT int cusparseGetPointerMode(SimSparse* handle, int* mode) {
  *mode = handle->mode;
  return 0;
}
SIM_EXPORT int cusparseSetPointerMode(SimSparse* handle, int mode) {
  handle->mode = mode;
  return 0;
}
SIM_EXPORT int cusparseCreateCsr(SimSparse** to, int64_t rows, int64_t columns, int64_t nonzeros, void*, void*, void*,
                                 int offset_type, int index_type, int, int type) {
  return made(to, {kCsr, rows, columns, nonzeros, offset_type, index_type, type});
}
SIM_EXPORT int cusparseCreateCsc(SimSparse** to, int64_t rows, int64_t columns, int64_t nonzeros, void*, void*, void*,
                                 int offset_type, int index_type, int, int type) {
  return made(to, {kCsc, rows, columns, nonzeros, offset_type, index_type, type});
}
SIM_EXPORT int cusparseCreateCoo(SimSparse** to, int64_t rows, int64_t columns, int64_t nonzeros, void*, void*, void*,
                                 int index_type, int, int type) {
  return made(to, {kCoo, rows, columns, nonzeros, 0, index_type, type});
}
SIM_EXPORT int cusparseCreateBlockedEll(SimSparse** to, int64_t rows, int64_t columns, int64_t, int64_t, void*, void*,
                                        int index_type, int, int type) {
  return made(to, {kBlockedEll, rows, columns, 0, 0, index_type, type});
}
SIM_EXPORT int cusparseCreateDnMat(SimSparse** to, int64_t rows, int64_t columns, int64_t, void*, int type, int) {
  return made(to, {kDense, rows, columns, 0, 0, 0, type});
}
SIM_EXPORT int cusparseCreateDnVec(SimSparse** to, int64_t size, void*, int type) {
  return made(to, {kVector, size, 1, 0, 0, 0, type});
}
SIM_EXPORT int cusparseCsrSetStridedBatch(SimSparse* matrix, int batch, int64_t, int64_t) {
  matrix->batch = batch;
  return 0;
}
SIM_EXPORT int cusparseDnMatSetStridedBatch(SimSparse* matrix, int batch, int64_t distance) {
  matrix->batch = batch, matrix->distance = distance;
  return 0;
}
SIM_EXPORT int cusparseSpMatGetFormat(const SimSparse* matrix, int* format) {
  *format = matrix->kind;
  return 0;
}
SIM_EXPORT int cusparseSpMatGetStridedBatch(const SimSparse* matrix, int* batch) {
  *batch = matrix->batch;
  return 0;
}
static int compressed(const SimSparse* matrix, int64_t* rows, int64_t* columns, int64_t* nonzeros, int* offset_type,
                      int* index_type, int* type) {
  *rows = matrix->rows, *columns = matrix->columns, *nonzeros = matrix->nonzeros;
  *offset_type = matrix->offset_type, *index_type = matrix->index_type, *type = matrix->type;
  return 0;
}
SIM_EXPORT int cusparseCsrGet(const SimSparse* matrix, int64_t* rows, int64_t* columns, int64_t* nonzeros, void**,
                              void**, void**, int* offset_type, int* index_type, int*, int* type) {
  if (!is(matrix, kCsr, __func__)) return 3;
  return compressed(matrix, rows, columns, nonzeros, offset_type, index_type, type);
}
SIM_EXPORT int cusparseCscGet(const SimSparse* matrix, int64_t* rows, int64_t* columns, int64_t* nonzeros, void**,
                              void**, void**, int* offset_type, int* index_type, int*, int* type) {
  if (!is(matrix, kCsc, __func__)) return 3;
  return compressed(matrix, rows, columns, nonzeros, offset_type, index_type, type);
}
SIM_EXPORT int cusparseCooGet(const SimSparse* matrix, int64_t* rows, int64_t* columns, int64_t* nonzeros, void**,
                              void**, void**, int* index_type, int*, int* type) {
  int offset_type = 0;
  if (!is(matrix, kCoo, __func__)) return 3;
  return compressed(matrix, rows, columns, nonzeros, &offset_type, index_type, type);
}
SIM_EXPORT int cusparseDnMatGet(const SimSparse* matrix, int64_t* rows, int64_t* columns, int64_t*, void**, int* type,
                                int*) {
  if (!is(matrix, kDense, __func__)) return 3;
  *rows = matrix->rows, *columns = matrix->columns, *type = matrix->type;
  return 0;
}
SIM_EXPORT int cusparseDnMatGetStridedBatch(const SimSparse* matrix, int* batch, int64_t* distance) {
  if (!is(matrix, kDense, __func__)) return 3;
  *batch = matrix->batch, *distance = matrix->distance;
  return 0;
}
SIM_EXPORT int cusparseDnVecGet(const SimSparse* vector, int64_t* size, void**, int* type) {
  if (!is(vector, kVector, __func__)) return 3;
  *size = vector->rows, *type = vector->type;
  return 0;
}
SIM_EXPORT int cusparseSpMM(SimSparse* handle, int, int, const void*, const SimSparse* a, const SimSparse* b,
                            const void*, SimSparse* c, int, int algorithm, void*) {
  return run("csrmm", handle, a, b, c, algorithm);
}
SIM_EXPORT int cusparseSpMV(SimSparse* handle, int, const void*, const SimSparse* a, const SimSparse* x, const void*,
                            SimSparse* y, int, int algorithm, void*) {
  return run("csrmv", handle, a, x, y, algorithm);
}
SIM_EXPORT int cusparseSDDMM(SimSparse* handle, int, int, const void*, const SimSparse* a, const SimSparse* b,
                             const void*, SimSparse* c, int, int algorithm, void*) {
  return run("sddmm", handle, a, b, c, algorithm);
}
