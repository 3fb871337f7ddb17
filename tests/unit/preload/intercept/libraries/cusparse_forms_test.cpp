// The positions of the arguments of cuSPARSE's functions and getters, compared with its own header, if the machine has
// it.
#include "preload/intercept/libraries/library.h"
#include "tests/unit/preload/intercept/libraries/function_arguments.h"

#include <gtest/gtest.h>

#if __has_include(<cusparse.h>)
#include <cusparse.h>
#define PROF_HAS_CUSPARSE (CUSPARSE_VER_MAJOR >= 12)
#endif

#if PROF_HAS_CUSPARSE
namespace prof::preload {
namespace {

template <class Function, class Descriptor> void product(const char* name, const LibraryForm& form) {
  SCOPED_TRACE(name);
  EXPECT_TRUE(all_words<Function>());
  EXPECT_TRUE((is<Function, cusparseHandle_t>(0)));
  EXPECT_TRUE((is<Function, cusparseOperation_t>(form.transpose_a)));
  EXPECT_TRUE((is<Function, cusparseOperation_t>(form.transpose_b)));
  EXPECT_TRUE((is<Function, const void*>(form.beta)));
  EXPECT_TRUE((is<Function, Descriptor>(form.operand_c)));
  EXPECT_TRUE((is<Function, cudaDataType>(form.compute)));
  EXPECT_LT(form.algorithm, ArgumentsOf<Function>::kCount - 1) << "a buffer comes last";
}

// A getter with the same number of arguments, all of them pointers; enumerations are ints.
template <class Function, class... Args> bool fits(int (*)(const void*, Args...)) {
  return ArgumentsOf<Function>::kCount == 1 + sizeof...(Args) && all_words<Function>();
}

TEST(CusparseForms, AreAsInItsHeader) {
  product<decltype(cusparseSpMM), cusparseDnMatDescr_t>("cusparseSpMM", form::kSparseMatrix);
  product<decltype(cusparseSpMV), cusparseDnVecDescr_t>("cusparseSpMV", form::kSparseVector);
  product<decltype(cusparseSDDMM), cusparseSpMatDescr_t>("cusparseSDDMM", form::kSampledProduct);
  EXPECT_TRUE((is<decltype(cusparseSpMM), cusparseConstSpMatDescr_t>(form::kSparseMatrix.operand_a)));
  EXPECT_TRUE((is<decltype(cusparseSpMM), cusparseConstDnMatDescr_t>(form::kSparseMatrix.operand_b)));
  EXPECT_TRUE((is<decltype(cusparseSpMV), cusparseConstSpMatDescr_t>(form::kSparseVector.operand_a)));
  EXPECT_TRUE((is<decltype(cusparseSpMV), cusparseConstDnVecDescr_t>(form::kSparseVector.operand_b)));
  EXPECT_TRUE((is<decltype(cusparseSDDMM), cusparseConstDnMatDescr_t>(form::kSampledProduct.operand_a)));
  EXPECT_TRUE((is<decltype(cusparseSDDMM), cusparseConstDnMatDescr_t>(form::kSampledProduct.operand_b)));
  EXPECT_EQ(CUSPARSE_FORMAT_CSR, 1);
  EXPECT_EQ(CUSPARSE_FORMAT_CSC, 2);
  EXPECT_EQ(CUSPARSE_FORMAT_COO, 3);
  EXPECT_EQ(CUSPARSE_FORMAT_BLOCKED_ELL, 5);
  EXPECT_EQ(CUSPARSE_INDEX_32I, 2);
  EXPECT_EQ(CUSPARSE_INDEX_64I, 3);
  EXPECT_EQ(CUSPARSE_POINTER_MODE_HOST, 0);
  EXPECT_EQ(CUSPARSE_OPERATION_TRANSPOSE, 1);
}

TEST(CusparseForms, GettersTakeWhatTheyAreGiven) {
  const LibraryGetters getters = {};
  EXPECT_TRUE((fits<decltype(cusparseCsrGet)>(getters.sparse_csr.load())));
  EXPECT_TRUE((fits<decltype(cusparseCscGet)>(getters.sparse_csc.load())));
  EXPECT_TRUE((fits<decltype(cusparseCooGet)>(getters.sparse_coo.load())));
  EXPECT_TRUE((fits<decltype(cusparseDnMatGet)>(getters.dense_matrix.load())));
  EXPECT_TRUE((fits<decltype(cusparseDnVecGet)>(getters.dense_vector.load())));
  EXPECT_TRUE((fits<decltype(cusparseSpMatGetFormat)>(getters.sparse_format.load())));
  EXPECT_TRUE((fits<decltype(cusparseSpMatGetStridedBatch)>(getters.sparse_batch.load())));
  EXPECT_TRUE((fits<decltype(cusparseDnMatGetStridedBatch)>(getters.dense_batch.load())));
  // The values are the last of three arrays; the argument after it gives its type.
  EXPECT_TRUE((is<decltype(cusparseCsrGet), cusparseIndexType_t*>(7)));
  EXPECT_TRUE((is<decltype(cusparseCsrGet), cusparseIndexType_t*>(8)));
  EXPECT_TRUE((is<decltype(cusparseCsrGet), cudaDataType*>(10)));
  EXPECT_TRUE((is<decltype(cusparseCooGet), cusparseIndexType_t*>(7)));
  EXPECT_TRUE((is<decltype(cusparseCooGet), cudaDataType*>(9)));
  EXPECT_TRUE((is<decltype(cusparseDnMatGet), cudaDataType*>(5)));
  EXPECT_TRUE((is<decltype(cusparseDnVecGet), cudaDataType*>(3)));
}

}  // namespace
}  // namespace prof::preload
#endif
