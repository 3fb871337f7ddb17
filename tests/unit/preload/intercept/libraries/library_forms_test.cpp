// The positions of the arguments of library functions, compared with the libraries' own headers, if the machine has
// them.
#include "preload/intercept/libraries/library_forms.h"
#include "preload/intercept/libraries/library_plans.h"
#include "tests/unit/preload/intercept/libraries/function_arguments.h"

#include <gtest/gtest.h>

#include <type_traits>

#if __has_include(<cublas_v2.h>) && __has_include(<cublasLt.h>)
#include <cublasLt.h>
#include <cublas_v2.h>
#define PROF_HAS_CUBLAS (CUBLAS_VER_MAJOR >= 12)
#endif
#if __has_include(<cudnn.h>)
#include <cudnn.h>
#define PROF_HAS_CUDNN_9 (CUDNN_MAJOR >= 9)
#endif
#if __has_include(<nccl.h>)
#include <nccl.h>
#define PROF_HAS_NCCL 1
#endif

namespace prof::preload {
namespace {

#if PROF_HAS_CUBLAS
template <class Function> void gemm(const char* name, const LibraryForm& form) {
  SCOPED_TRACE(name);
  const auto size = [&](int at) { return form.wide ? is<Function, int64_t>(at) : is<Function, int>(at); };
  EXPECT_TRUE(all_words<Function>());
  EXPECT_LE(ArgumentsOf<Function>::kCount, kMostArguments);
  EXPECT_TRUE((is<Function, cublasHandle_t>(0)));
  EXPECT_TRUE((is<Function, cublasOperation_t>(form.transpose_a)));
  EXPECT_TRUE((is<Function, cublasOperation_t>(form.transpose_b)));
  for (const int at : {form.m, form.n, form.k, form.batch}) EXPECT_TRUE(size(at)) << at;
  for (const int at : {form.type_a, form.type_b, form.type_c}) EXPECT_TRUE((is<Function, cudaDataType>(at))) << at;
  for (const int at : {form.stride_a, form.stride_b})
    EXPECT_TRUE((is<Function, long long>(at) || is<Function, int64_t>(at))) << at;
  EXPECT_TRUE(is_pointer<Function>(form.beta));
  if (form.beta >= 0) {
    EXPECT_TRUE(is_pointer<Function>(form.beta + 1)) << "the result comes behind its factor";
  }
  if (form.real_beta) {
    EXPECT_TRUE((is<Function, const float*>(form.beta) || is<Function, const double*>(form.beta)));
  }
  EXPECT_TRUE((is<Function, cublasSideMode_t>(form.side)));
  EXPECT_TRUE((is<Function, cublasFillMode_t>(form.fill)));
  EXPECT_TRUE((is<Function, cublasDiagType_t>(form.diagonal)));
  EXPECT_TRUE((is<Function, cublasComputeType_t>(form.compute)));
  EXPECT_TRUE((is<Function, cublasGemmAlgo_t>(form.algorithm)));
}

// C++ overloads these names: one form has a cudaDataType for the compute type, as in CUDA 10.
template <class Size>
using GemmExFunction = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, Size, Size, Size,
                                      const void*, const void*, cudaDataType, Size, const void*, cudaDataType, Size,
                                      const void*, void*, cudaDataType, Size, cublasComputeType_t, cublasGemmAlgo_t);
template <class Size, class Stride>
using GemmStridedExFunction = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, Size, Size, Size,
                                             const void*, const void*, cudaDataType, Size, Stride, const void*,
                                             cudaDataType, Size, Stride, const void*, void*, cudaDataType, Size, Stride,
                                             Size, cublasComputeType_t, cublasGemmAlgo_t);
template <class Size>
using GemmBatchedExFunction = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, Size, Size, Size,
                                             const void*, const void* const[], cudaDataType, Size, const void* const[],
                                             cudaDataType, Size, const void*, void* const[], cudaDataType, Size, Size,
                                             cublasComputeType_t, cublasGemmAlgo_t);
template <class Function> constexpr bool exists(Function*) { return true; }

TEST(LibraryForms, ProductsAreAsInTheHeadersOfCublas) {
#define CHECK_Gemm(name, which) gemm<decltype(name)>(#name, form::k##which);
#define CHECK_Gemm64 CHECK_Gemm
#define CHECK_GemmStrided CHECK_Gemm
#define CHECK_GemmStrided64 CHECK_Gemm
#define CHECK_GemmBatched CHECK_Gemm
#define CHECK_GemmBatched64 CHECK_Gemm
#define CHECK_GemmTyped CHECK_Gemm
#define CHECK_GemmTyped64 CHECK_Gemm
#define CHECK_Gemv CHECK_Gemm
#define CHECK_Gemv64 CHECK_Gemm
#define CHECK_GemvStrided CHECK_Gemm
#define CHECK_GemvStrided64 CHECK_Gemm
#define CHECK_GemvStridedToFp32 CHECK_Gemm
#define CHECK_GemvStridedToFp32Wide CHECK_Gemm
#define CHECK_GemvBatched CHECK_Gemm
#define CHECK_GemvBatched64 CHECK_Gemm
#define CHECK_GemvBatchedToFp32 CHECK_Gemm
#define CHECK_GemvBatchedToFp32Wide CHECK_Gemm
#define CHECK_Symm CHECK_Gemm
#define CHECK_Symm64 CHECK_Gemm
#define CHECK_Syrk CHECK_Gemm
#define CHECK_Syrk64 CHECK_Gemm
#define CHECK_Herk CHECK_Gemm
#define CHECK_Herk64 CHECK_Gemm
#define CHECK_Syr2k CHECK_Gemm
#define CHECK_Syr2k64 CHECK_Gemm
#define CHECK_Her2k CHECK_Gemm
#define CHECK_Her2k64 CHECK_Gemm
#define CHECK_Syrkx CHECK_Gemm
#define CHECK_Syrkx64 CHECK_Gemm
#define CHECK_Herkx CHECK_Gemm
#define CHECK_Herkx64 CHECK_Gemm
#define CHECK_Trmm CHECK_Gemm
#define CHECK_Trmm64 CHECK_Gemm
#define CHECK_Trsm CHECK_Gemm
#define CHECK_Trsm64 CHECK_Gemm
#define CHECK_TrsmBatched CHECK_Gemm
#define CHECK_TrsmBatched64 CHECK_Gemm
#define CHECK_AS(name, which, ...)           \
  static_assert(exists<__VA_ARGS__>(&name)); \
  gemm<__VA_ARGS__>(#name, form::k##which);
#define CHECK_GemmEx(name, which) CHECK_AS(name, which, GemmExFunction<int>)
#define CHECK_GemmEx64(name, which) CHECK_AS(name, which, GemmExFunction<int64_t>)
#define CHECK_GemmStridedEx(name, which) CHECK_AS(name, which, GemmStridedExFunction<int, long long>)
#define CHECK_GemmStridedEx64(name, which) CHECK_AS(name, which, GemmStridedExFunction<int64_t, long long>)
#define CHECK_GemmBatchedEx(name, which) CHECK_AS(name, which, GemmBatchedExFunction<int>)
#define CHECK_GemmBatchedEx64(name, which) CHECK_AS(name, which, GemmBatchedExFunction<int64_t>)
#undef CHECK_CUBLAS
#define CHECK_CUBLAS(name, which) CHECK_##which(name, which)
#define LIBRARY_API(library, name, which, type) CHECK_##library(name, which)
#include "preload/intercept/libraries/library_api.def"
#undef LIBRARY_API
#undef CHECK_CUBLAS
#define CHECK_CUBLAS(name, which)
}

TEST(LibraryForms, AMatmulOfCublasLtHasItsDescriptorsWhereTheyAreLookedFor) {
  using Matmul = decltype(cublasLtMatmul);
  EXPECT_TRUE(all_words<Matmul>());
  EXPECT_TRUE((is<Matmul, cublasLtMatmulDesc_t>(1)));
  for (const int at : {4, 6, 11}) EXPECT_TRUE((is<Matmul, cublasLtMatrixLayout_t>(at))) << at;
  EXPECT_TRUE((is<Matmul, const void*>(7)));
  EXPECT_TRUE((is<Matmul, const cublasLtMatmulAlgo_t*>(12)));
  EXPECT_EQ(sizeof(cublasLtMatrixLayoutOpaque_t), 64u);
  EXPECT_EQ(sizeof(cublasLtMatmulAlgo_t), 64u);
  using Algorithm = decltype(cublasLtMatmulAlgoConfigGetAttribute);
  EXPECT_TRUE((is<Algorithm, const cublasLtMatmulAlgo_t*>(0)));
  EXPECT_TRUE((is<Algorithm, void*>(2)));
  EXPECT_TRUE((is<Algorithm, size_t>(3)));
  EXPECT_EQ(CUBLASLT_ALGO_CONFIG_ID, 0);
  EXPECT_EQ(CUBLASLT_ALGO_CONFIG_TILE_ID, 1);
  EXPECT_EQ(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 2);
  EXPECT_EQ(CUBLASLT_ALGO_CONFIG_STAGES_ID, 6);
  EXPECT_EQ(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 0);
  EXPECT_EQ(CUBLASLT_MATMUL_DESC_SCALE_TYPE, 1);
  EXPECT_EQ(CUBLASLT_MATMUL_DESC_POINTER_MODE, 2);
  EXPECT_EQ(CUBLASLT_MATMUL_DESC_TRANSA, 3);
  EXPECT_EQ(CUBLASLT_MATMUL_DESC_TRANSB, 4);
  EXPECT_EQ(CUBLASLT_MATRIX_LAYOUT_TYPE, 0);
  EXPECT_EQ(CUBLASLT_MATRIX_LAYOUT_ROWS, 2);
  EXPECT_EQ(CUBLASLT_MATRIX_LAYOUT_COLS, 3);
  EXPECT_EQ(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 5);
  EXPECT_EQ(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 6);
}
#endif

#if PROF_HAS_NCCL
template <class Function> void collective(const char* name, const LibraryForm& form) {
  SCOPED_TRACE(name);
  EXPECT_TRUE(all_words<Function>());
  EXPECT_TRUE((is<Function, size_t>(form.count)));
  EXPECT_TRUE((is<Function, ncclDataType_t>(form.type)));
  EXPECT_TRUE((is<Function, ncclRedOp_t>(form.operation)));
  EXPECT_TRUE((is<Function, int>(form.peer)));
  EXPECT_TRUE((is<Function, ncclComm_t>(form.communicator)));
}

// The functions that make communicators are not in every release, so only their forms are compared.
using InitRank = ncclResult_t(ncclComm_t*, int, ncclUniqueId, int);
static_assert(std::is_same_v<decltype(ncclCommInitRank), InitRank> && sizeof(ncclUniqueId) == 128);

TEST(LibraryForms, CollectivesAreAsInTheHeaderOfNccl) {
#undef CHECK_NCCL
#define CHECK_NCCL(name, which) CHECK_NCCL_##which(name, which)
#define CHECK_CALL(name, which) collective<decltype(name)>(#name, form::k##which);
#define CHECK_NCCL_AllReduce CHECK_CALL
#define CHECK_NCCL_AllGather CHECK_CALL
#define CHECK_NCCL_Reduce CHECK_CALL
#define CHECK_NCCL_ReduceScatter CHECK_CALL
#define CHECK_NCCL_Broadcast CHECK_CALL
#define CHECK_NCCL_Bcast CHECK_CALL
#define CHECK_NCCL_PointToPoint CHECK_CALL
#define CHECK_NCCL_NameOnly CHECK_CALL
#define CHECK_NCCL_CommInitRank(name, which)
#define CHECK_NCCL_CommInitScalable(name, which)
#define CHECK_NCCL_CommSplit(name, which)
#define CHECK_NCCL_CommInitAll(name, which)
#define CHECK_NCCL_CommDestroy(name, which)
#define LIBRARY_API(library, name, which, type) CHECK_##library(name, which)
#include "preload/intercept/libraries/library_api.def"
#undef LIBRARY_API
}
#endif

#if PROF_HAS_CUDNN_9
TEST(LibraryForms, AttributesOfGraphsAreAsInTheHeaderOfCudnn) {
  EXPECT_EQ(kHeuristicsGraph + 0, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH + 0);
  EXPECT_EQ(kHeuristicsResults + 0, CUDNN_ATTR_ENGINEHEUR_RESULTS + 0);
  EXPECT_EQ(kConfigurationEngine + 0, CUDNN_ATTR_ENGINECFG_ENGINE + 0);
  EXPECT_EQ(kPlanConfiguration + 0, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG + 0);
  EXPECT_EQ(kForwardW + 0, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W + 0);
  EXPECT_EQ(kForwardX + 0, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X + 0);
  EXPECT_EQ(kForwardY + 0, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y + 0);
  EXPECT_EQ(kInputGradientW + 0, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W + 0);
  EXPECT_EQ(kInputGradientX + 0, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX + 0);
  EXPECT_EQ(kInputGradientY + 0, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY + 0);
  EXPECT_EQ(kWeightGradientW + 0, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW + 0);
  EXPECT_EQ(kWeightGradientX + 0, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X + 0);
  EXPECT_EQ(kWeightGradientY + 0, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY + 0);
  EXPECT_EQ(kGraphOperations + 0, CUDNN_ATTR_OPERATIONGRAPH_OPS + 0);
  EXPECT_EQ(kTensorType + 0, CUDNN_ATTR_TENSOR_DATA_TYPE + 0);
  EXPECT_EQ(kTensorSizes + 0, CUDNN_ATTR_TENSOR_DIMENSIONS + 0);
  EXPECT_EQ(kTensorVector + 0, CUDNN_ATTR_TENSOR_VECTOR_COUNT + 0);
  EXPECT_EQ(kEngineGraph + 0, CUDNN_ATTR_ENGINE_OPERATION_GRAPH + 0);
  EXPECT_EQ(kEngineIndex + 0, CUDNN_ATTR_ENGINE_GLOBAL_INDEX + 0);
  EXPECT_EQ(kMatMulA + 0, CUDNN_ATTR_OPERATION_MATMUL_ADESC + 0);
  EXPECT_EQ(kMatMulB + 0, CUDNN_ATTR_OPERATION_MATMUL_BDESC + 0);
  EXPECT_EQ(kMatMulC + 0, CUDNN_ATTR_OPERATION_MATMUL_CDESC + 0);
  EXPECT_EQ(CUDNN_DATA_FLOAT, 0);
  EXPECT_EQ(CUDNN_DATA_HALF, 2);
  EXPECT_EQ(CUDNN_DATA_BFLOAT16, 9);
  EXPECT_EQ(CUDNN_DATA_FP8_E4M3, 12);
  EXPECT_TRUE((is<decltype(cudnnBackendExecute), cudnnBackendDescriptor_t>(1)));
  EXPECT_TRUE((is<decltype(cudnnBackendSetAttribute), int64_t>(3)));
  EXPECT_TRUE((is<decltype(cudnnBackendSetAttribute), const void*>(4)));
  EXPECT_TRUE((is<decltype(cudnnBackendGetAttribute), int64_t>(3)));
  EXPECT_TRUE((is<decltype(cudnnBackendGetAttribute), void*>(5)));
}
#endif

// This test needs no headers.
TEST(LibraryForms, TheLongestCallFitsWhatIsCopied) {
  for (const LibraryForm& form : {form::kGemm, form::kGemmStrided, form::kGemmBatched, form::kGemmTyped, form::kGemmEx,
                                  form::kGemmStridedEx, form::kGemmBatchedEx, form::kAllReduce, form::kReduce}) {
    for (const int at : {form.batch, form.compute, form.algorithm, form.communicator}) EXPECT_LT(at, kMostArguments);
  }
}

}  // namespace
}  // namespace prof::preload
