// Prototypes of the simulated libraries on top of CUDA, as far as tests call them. They have the ABI of the real ones
// but do not use NVIDIA's headers, which not every machine has
// (tests/unit/preload/intercept/libraries/library_forms_test.cpp compares them if they are installed).
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" {
struct SimBlas;
int cublasCreate_v2(SimBlas** made);
int cublasDestroy_v2(SimBlas* handle);
int cublasSetStream_v2(SimBlas* handle, CUstream stream);
int cublasSetMathMode(SimBlas* handle, int mode);
int cublasGetMathMode(SimBlas* handle, int* mode);
int cublasSetPointerMode_v2(SimBlas* handle, int mode);
int cublasGetPointerMode_v2(SimBlas* handle, int* mode);
int cublasSgemm_v2(SimBlas* handle, int transa, int transb, int m, int n, int k, const float* alpha, const float* a,
                   int lda, const float* b, int ldb, const float* beta, float* c, int ldc);
int cublasSgemm_v2_64(SimBlas* handle, int transa, int transb, int64_t m, int64_t n, int64_t k, const float* alpha,
                      const float* a, int64_t lda, const float* b, int64_t ldb, const float* beta, float* c,
                      int64_t ldc);
int cublasZgemm_v2(SimBlas* handle, int transa, int transb, int m, int n, int k, const void* alpha, const void* a,
                   int lda, const void* b, int ldb, const void* beta, void* c, int ldc);
int cublasCgemm3m(SimBlas* handle, int transa, int transb, int m, int n, int k, const void* alpha, const void* a,
                  int lda, const void* b, int ldb, const void* beta, void* c, int ldc);
int cublasSgemv_v2(SimBlas* handle, int trans, int m, int n, const float* alpha, const float* a, int lda,
                   const float* x, int incx, const float* beta, float* y, int incy);
int cublasHSSgemvStridedBatched(SimBlas* handle, int trans, int m, int n, const float* alpha, const void* a, int lda,
                                long long stride_a, const void* x, int incx, long long stride_x, const float* beta,
                                float* y, int incy, long long stride_y, int batch);
int cublasSsymm_v2(SimBlas* handle, int side, int fill, int m, int n, const float* alpha, const float* a, int lda,
                   const float* b, int ldb, const float* beta, float* c, int ldc);
int cublasChemm_v2(SimBlas* handle, int side, int fill, int m, int n, const void* alpha, const void* a, int lda,
                   const void* b, int ldb, const void* beta, void* c, int ldc);
int cublasDsyrk_v2(SimBlas* handle, int fill, int trans, int n, int k, const double* alpha, const double* a, int lda,
                   const double* beta, double* c, int ldc);
int cublasCherk_v2(SimBlas* handle, int fill, int trans, int n, int k, const float* alpha, const void* a, int lda,
                   const float* beta, void* c, int ldc);
int cublasSsyr2k_v2_64(SimBlas* handle, int fill, int trans, int64_t n, int64_t k, const float* alpha, const float* a,
                       int64_t lda, const float* b, int64_t ldb, const float* beta, float* c, int64_t ldc);
int cublasCsyrkx(SimBlas* handle, int fill, int trans, int n, int k, const void* alpha, const void* a, int lda,
                 const void* b, int ldb, const void* beta, void* c, int ldc);
int cublasStrmm_v2(SimBlas* handle, int side, int fill, int trans, int diagonal, int m, int n, const float* alpha,
                   const float* a, int lda, const float* b, int ldb, float* c, int ldc);
int cublasStrsm_v2(SimBlas* handle, int side, int fill, int trans, int diagonal, int m, int n, const float* alpha,
                   const float* a, int lda, float* b, int ldb);
int cublasStrsmBatched(SimBlas* handle, int side, int fill, int trans, int diagonal, int m, int n, const float* alpha,
                       const float* const* a, int lda, float* const* b, int ldb, int batch);
int cublasGemmEx(SimBlas* handle, int transa, int transb, int m, int n, int k, const void* alpha, const void* a,
                 int a_type, int lda, const void* b, int b_type, int ldb, const void* beta, void* c, int c_type,
                 int ldc, int compute, int algorithm);
int cublasGemmStridedBatchedEx(SimBlas* handle, int transa, int transb, int m, int n, int k, const void* alpha,
                               const void* a, int a_type, int lda, long long stride_a, const void* b, int b_type,
                               int ldb, long long stride_b, const void* beta, void* c, int c_type, int ldc,
                               long long stride_c, int batch, int compute, int algorithm);

// The return address of this thread's last call of cublasSgemm_v2.
const void* sim_sgemm_caller();

struct SimLayout;
struct SimMatmul;
int cublasLtMatrixLayoutCreate(SimLayout** made, int type, uint64_t rows, uint64_t columns, int64_t leading);
int cublasLtMatrixLayoutDestroy(SimLayout* layout);
int cublasLtMatrixLayoutSetAttribute(SimLayout* layout, int what, const void* value, size_t bytes);
int cublasLtMatrixLayoutGetAttribute(const SimLayout* layout, int what, void* value, size_t bytes, size_t* written);
int cublasLtMatmulDescCreate(SimMatmul** made, int compute, int scale);
int cublasLtMatmulDescDestroy(SimMatmul* matmul);
int cublasLtMatmulDescSetAttribute(SimMatmul* matmul, int what, const void* value, size_t bytes);
int cublasLtMatmulDescGetAttribute(const SimMatmul* matmul, int what, void* value, size_t bytes, size_t* written);
struct SimAlgorithm {  // eight words, like the real one
  int32_t values[16];
};
int cublasLtMatmulAlgoConfigSetAttribute(SimAlgorithm* algorithm, int what, const void* value, size_t bytes);
int cublasLtMatmulAlgoConfigGetAttribute(const SimAlgorithm* algorithm, int what, void* value, size_t bytes,
                                         size_t* written);
int cublasLtMatmul(void* handle, SimMatmul* matmul, const void* alpha, const void* a, SimLayout* a_layout,
                   const void* b, SimLayout* b_layout, const void* beta, const void* c, SimLayout* c_layout, void* d,
                   SimLayout* d_layout, const void* algorithm, void* workspace, size_t workspace_bytes,
                   CUstream stream);

struct SimDescriptor;  // any descriptor of cuDNN's graphs
enum { kSimPlanOfNothing = -1 };
int cudnnBackendCreateDescriptor(int type, SimDescriptor** made);
int cudnnBackendDestroyDescriptor(SimDescriptor* descriptor);
int cudnnBackendSetAttribute(SimDescriptor* descriptor, int name, int type, int64_t count, const void* elements);
int cudnnBackendGetAttribute(SimDescriptor* descriptor, int name, int type, int64_t asked, int64_t* given,
                             void* elements);
int cudnnBackendExecute(void* handle, SimDescriptor* plan, SimDescriptor* tensors);

struct SimTensor;  // of a tensor, a filter or a convolution
int cudnnCreateTensorDescriptor(SimTensor** made);
int cudnnDestroyTensorDescriptor(SimTensor* tensor);
int cudnnSetTensorNdDescriptor(SimTensor* tensor, int type, int rank, const int* sizes, const int* distances);
int cudnnGetTensorNdDescriptor(const SimTensor* tensor, int most, int* type, int* rank, int* sizes, int* distances);
int cudnnSetTensor4dDescriptor(SimTensor* tensor, int format, int type, int n, int c, int h, int w);
int cudnnDeriveBNTensorDescriptor(SimTensor* derived, const SimTensor* x, int mode);
int cudnnSetFilter4dDescriptor(SimTensor* filter, int type, int format, int k, int c, int h, int w);
int cudnnSetFilterNdDescriptor(SimTensor* filter, int type, int order, int rank, const int* sizes);
int cudnnGetFilterNdDescriptor(const SimTensor* filter, int most, int* type, int* order, int* rank, int* sizes);
int cudnnConvolutionForward(void* handle, const void* alpha, SimTensor* x, const void* x_data, SimTensor* w,
                            const void* w_data, const void* convolution, int algorithm, void* work, size_t work_bytes,
                            const void* beta, SimTensor* y, void* y_data);
int cudnnConvolutionBackwardData(void* handle, const void* alpha, SimTensor* w, const void* w_data, SimTensor* dy,
                                 const void* dy_data, const void* convolution, int algorithm, void* work,
                                 size_t work_bytes, const void* beta, SimTensor* dx, void* dx_data);
int cudnnConvolutionBackwardFilter(void* handle, const void* alpha, SimTensor* x, const void* x_data, SimTensor* dy,
                                   const void* dy_data, const void* convolution, int algorithm, void* work,
                                   size_t work_bytes, const void* beta, SimTensor* dw, void* dw_data);
int cudnnConvolutionBiasActivationForward(void* handle, const void* alpha1, SimTensor* x, const void* x_data,
                                          SimTensor* w, const void* w_data, const void* convolution, int algorithm,
                                          void* work, size_t work_bytes, const void* alpha2, SimTensor* z,
                                          const void* z_data, SimTensor* bias, const void* bias_data,
                                          const void* activation, SimTensor* y, void* y_data);

inline void* const kSimNothing = reinterpret_cast<void*>(1);  // input of a transform without any data
int cufftCreate(int* plan);
int cufftDestroy(int plan);
int cufftSetStream(int plan, CUstream stream);
int cufftPlan1d(int* plan, int nx, int type, int batch);
int cufftPlan2d(int* plan, int nx, int ny, int type);
int cufftPlan3d(int* plan, int nx, int ny, int nz, int type);
int cufftPlanMany(int* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride,
                  int odist, int type, int batch);
int cufftMakePlan1d(int plan, int nx, int type, int batch, size_t* work);
int cufftMakePlanMany64(int plan, int rank, long long* n, long long* inembed, long long istride, long long idist,
                        long long* onembed, long long ostride, long long odist, int type, long long batch,
                        size_t* work);
int cufftXtMakePlanMany(int plan, int rank, long long* n, long long* inembed, long long istride, long long idist,
                        int input, long long* onembed, long long ostride, long long odist, int output, long long batch,
                        size_t* work, int execution);
int cufftExecC2C(int plan, void* input, void* output, int direction);
int cufftExecR2C(int plan, void* input, void* output);
int cufftExecZ2D(int plan, void* input, void* output);
int cufftXtExec(int plan, void* input, void* output, int direction);

struct SimSparse;  // a handle, and any descriptor of a matrix or vector
int cusparseCreate(SimSparse** made);
int cusparseDestroy(SimSparse* handle);
int cusparseGetPointerMode(SimSparse* handle, int* mode);
int cusparseSetPointerMode(SimSparse* handle, int mode);
int cusparseCreateCsr(SimSparse** made, int64_t rows, int64_t columns, int64_t nonzeros, void* offsets, void* indices,
                      void* values, int offset_type, int index_type, int base, int type);
int cusparseCreateCsc(SimSparse** made, int64_t rows, int64_t columns, int64_t nonzeros, void* offsets, void* indices,
                      void* values, int offset_type, int index_type, int base, int type);
int cusparseCreateCoo(SimSparse** made, int64_t rows, int64_t columns, int64_t nonzeros, void* row_indices,
                      void* column_indices, void* values, int index_type, int base, int type);
int cusparseCreateBlockedEll(SimSparse** made, int64_t rows, int64_t columns, int64_t block, int64_t ell_columns,
                             void* indices, void* values, int index_type, int base, int type);
int cusparseCreateDnMat(SimSparse** made, int64_t rows, int64_t columns, int64_t leading, void* values, int type,
                        int order);
int cusparseCreateDnVec(SimSparse** made, int64_t size, void* values, int type);
int cusparseCsrSetStridedBatch(SimSparse* matrix, int batch, int64_t offsets, int64_t values);
int cusparseDnMatSetStridedBatch(SimSparse* matrix, int batch, int64_t distance);
int cusparseSpMatGetFormat(const SimSparse* matrix, int* format);
int cusparseSpMatGetStridedBatch(const SimSparse* matrix, int* batch);
int cusparseCsrGet(const SimSparse* matrix, int64_t* rows, int64_t* columns, int64_t* nonzeros, void** offsets,
                   void** indices, void** values, int* offset_type, int* index_type, int* base, int* type);
int cusparseCscGet(const SimSparse* matrix, int64_t* rows, int64_t* columns, int64_t* nonzeros, void** offsets,
                   void** indices, void** values, int* offset_type, int* index_type, int* base, int* type);
int cusparseCooGet(const SimSparse* matrix, int64_t* rows, int64_t* columns, int64_t* nonzeros, void** row_indices,
                   void** column_indices, void** values, int* index_type, int* base, int* type);
int cusparseDnMatGet(const SimSparse* matrix, int64_t* rows, int64_t* columns, int64_t* leading, void** values,
                     int* type, int* order);
int cusparseDnMatGetStridedBatch(const SimSparse* matrix, int* batch, int64_t* distance);
int cusparseDnVecGet(const SimSparse* vector, int64_t* size, void** values, int* type);
int cusparseSpMM(SimSparse* handle, int transpose_a, int transpose_b, const void* alpha, const SimSparse* a,
                 const SimSparse* b, const void* beta, SimSparse* c, int compute, int algorithm, void* buffer);
int cusparseSpMV(SimSparse* handle, int transpose, const void* alpha, const SimSparse* a, const SimSparse* x,
                 const void* beta, SimSparse* y, int compute, int algorithm, void* buffer);
int cusparseSDDMM(SimSparse* handle, int transpose_a, int transpose_b, const void* alpha, const SimSparse* a,
                  const SimSparse* b, const void* beta, SimSparse* c, int compute, int algorithm, void* buffer);

struct SimComm;
int ncclCommInitAll(SimComm** made, int ranks, const int* devices);
struct SimUniqueId {
  char bytes[128];
};
int ncclCommInitRank(SimComm** made, int ranks, SimUniqueId id, int rank);
int ncclCommInitRankConfig(SimComm** made, int ranks, SimUniqueId id, int rank, void* config);
int ncclCommInitRankScalable(SimComm** made, int ranks, int rank, int ids, SimUniqueId* all, void* config);
int ncclCommSplit(SimComm* parent, int color, int key, SimComm** made, void* config);
int ncclCommDestroy(SimComm* communicator);
int ncclCommCount(SimComm* communicator, int* ranks);
int ncclCommUserRank(SimComm* communicator, int* rank);
int ncclAllReduce(const void* from, void* to, size_t count, int type, int operation, SimComm* communicator,
                  CUstream stream);
int ncclAllGather(const void* from, void* to, size_t count, int type, SimComm* communicator, CUstream stream);
int ncclBroadcast(const void* from, void* to, size_t count, int type, int root, SimComm* communicator, CUstream stream);
int ncclSend(const void* from, size_t count, int type, int peer, SimComm* communicator, CUstream stream);
int ncclRecv(void* to, size_t count, int type, int peer, SimComm* communicator, CUstream stream);
int ncclGroupStart();
int ncclGroupEnd();
}

namespace sim_libraries {

// Launches a kernel of the library under any name. It is loaded once, because a capture does not allow loading.
inline int launch(const char* name, CUstream stream) {
  struct Loaded {
    const char* name;
    CUfunction function;
  };
  static thread_local Loaded loaded[8];
  for (Loaded& each : loaded) {
    if (each.name == nullptr) {
      CUmodule module = nullptr;
      if (cuModuleLoadData(&module, "image") != CUDA_SUCCESS) return 14;
      if (cuModuleGetFunction(&each.function, module, name) != CUDA_SUCCESS) return 14;
      each.name = name;
    }
    if (std::strcmp(each.name, name) != 0) continue;
    return cuLaunchKernel(each.function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr) == CUDA_SUCCESS ? 0 : 13;
  }
  return 14;
}

}  // namespace sim_libraries
