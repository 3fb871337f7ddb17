// The positions of the arguments of cuDNN's legacy (pre-graph) functions, compared with cuDNN's own headers, if the
// machine has them.
#include "preload/intercept/libraries/library.h"
#include "preload/intercept/libraries/library_plans.h"
#include "tests/unit/preload/intercept/libraries/function_arguments.h"

#include <gtest/gtest.h>

#if __has_include(<cudnn.h>)
#include <cudnn.h>
#define PROF_HAS_CUDNN_8 (CUDNN_MAJOR >= 8)
#endif

#if PROF_HAS_CUDNN_8
namespace prof::preload {
namespace {

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

template <class Function, class X, class W, class Y>
void convolution(const char* name, const LibraryForm& form, PlanOperation product) {
  SCOPED_TRACE(name);
  EXPECT_TRUE(all_words<Function>());
  EXPECT_LE(ArgumentsOf<Function>::kCount, kMostArguments);
  EXPECT_TRUE((is<Function, X>(form.operand_a)));
  EXPECT_TRUE((is<Function, W>(form.operand_b)));
  EXPECT_TRUE((is<Function, Y>(form.operand_c)));
  EXPECT_TRUE((is<Function, cudnnConvolutionDescriptor_t>(form.algorithm - 1)));
  EXPECT_EQ(static_cast<PlanOperation>(form.product), product);
}

TEST(CudnnForms, ConvolutionsAreAsInItsHeaders) {
  using Tensor = cudnnTensorDescriptor_t;
  using Filter = cudnnFilterDescriptor_t;
  convolution<decltype(cudnnConvolutionForward), Tensor, Filter, Tensor>("Forward", form::kConvForward,
                                                                         PlanOperation::ConvForward);
  convolution<decltype(cudnnConvolutionBiasActivationForward), Tensor, Filter, Tensor>(
      "BiasActivationForward", form::kConvFused, PlanOperation::ConvForward);
  convolution<decltype(cudnnConvolutionBackwardData), Tensor, Filter, Tensor>("BackwardData", form::kConvInputGradient,
                                                                              PlanOperation::ConvInputGradient);
  convolution<decltype(cudnnConvolutionBackwardFilter), Tensor, Filter, Tensor>(
      "BackwardFilter", form::kConvWeightGradient, PlanOperation::ConvWeightGradient);
  EXPECT_TRUE((is<decltype(cudnnConvolutionForward), void*>(form::kConvForward.operand_c + 1))) << "the result";
  EXPECT_TRUE((is<decltype(cudnnConvolutionBackwardData), void*>(form::kConvInputGradient.operand_a + 1)));
  EXPECT_TRUE((is<decltype(cudnnConvolutionBackwardFilter), void*>(form::kConvWeightGradient.operand_b + 1)));
  EXPECT_TRUE((is<decltype(cudnnConvolutionBiasActivationForward), void*>(form::kConvFused.operand_c + 1)));
  EXPECT_EQ(CUDNN_DATA_INT8x4, 5);
  EXPECT_EQ(CUDNN_DATA_UINT8x4, 7);
  EXPECT_EQ(CUDNN_DATA_INT8x32, 8);
  EXPECT_EQ(CUDNN_DIM_MAX, PlanTensor::kMostDimensions);
}

template <class Function, class Descriptor> void setter(const char* name, const LibraryForm& form) {
  SCOPED_TRACE(name);
  EXPECT_TRUE(all_words<Function>());
  EXPECT_TRUE((is<Function, Descriptor>(0)));
  EXPECT_TRUE((is<Function, cudnnDataType_t>(form.type)));
  for (int i = 0; i < form.rank; ++i) EXPECT_TRUE((is<Function, int>(form.sizes + i))) << i;
  if (form.rank == 0) {
    EXPECT_TRUE((is<Function, int>(form.sizes - 1)));
    EXPECT_TRUE((is<Function, const int*>(form.sizes)));
  }
}

template <class Function> void changes(const char* name, const LibraryForm& form) {
  SCOPED_TRACE(name);
  EXPECT_TRUE(all_words<Function>());
  EXPECT_LE(ArgumentsOf<Function>::kCount, kMostArguments);
  for (const int at : {form.operand_a, form.operand_b, form.operand_c}) {
    if (at < 0) continue;
    EXPECT_TRUE((is<Function, cudnnTensorDescriptor_t>(at) || is<Function, cudnnFilterDescriptor_t>(at))) << at;
  }
}

TEST(CudnnForms, WhatSetsAndChangesDescriptorsIsAsInItsHeaders) {
  setter<decltype(cudnnSetTensor4dDescriptor), cudnnTensorDescriptor_t>("Tensor4d", form::kTensor4d);
  setter<decltype(cudnnSetTensor4dDescriptorEx), cudnnTensorDescriptor_t>("Tensor4dEx", form::kTensor4dEx);
  setter<decltype(cudnnSetTensorNdDescriptor), cudnnTensorDescriptor_t>("TensorNd", form::kTensorNd);
  setter<decltype(cudnnSetTensorNdDescriptorEx), cudnnTensorDescriptor_t>("TensorNdEx", form::kTensorNdEx);
  setter<decltype(cudnnSetFilter4dDescriptor), cudnnFilterDescriptor_t>("Filter4d", form::kFilter4d);
  setter<decltype(cudnnSetFilterNdDescriptor), cudnnFilterDescriptor_t>("FilterNd", form::kFilterNd);
  changes<decltype(cudnnDestroyTensorDescriptor)>("DestroyTensor", form::kTensorDestroyed);
  changes<decltype(cudnnDestroyFilterDescriptor)>("DestroyFilter", form::kTensorDestroyed);
  changes<decltype(cudnnDeriveBNTensorDescriptor)>("DeriveBN", form::kTensorDestroyed);
  changes<decltype(cudnnDeriveNormTensorDescriptor)>("DeriveNorm", form::kTensorsDerived);
  changes<decltype(cudnnInitTransformDest)>("InitTransformDest", form::kTensorOfTransform);
  changes<decltype(cudnnGetFoldedConvBackwardDataDescriptors)>("Folded", form::kTensorsFolded);
  changes<decltype(cudnnGetRNNWeightParams)>("RnnWeights", form::kTensorsOfRnn);
  changes<decltype(cudnnGetMultiHeadAttnWeights)>("Attention", form::kTensorOfAttention);
}

TEST(CudnnForms, GettersTakeWhatTheyAreGiven) {
  using GetTensor = decltype(cudnnGetTensorNdDescriptor);
  using GetFilter = decltype(cudnnGetFilterNdDescriptor);
  EXPECT_TRUE((is<GetTensor, int>(1)));
  EXPECT_TRUE((is<GetTensor, cudnnDataType_t*>(2)));
  for (const int at : {3, 4, 5}) EXPECT_TRUE((is<GetTensor, int*>(at))) << at;
  EXPECT_TRUE((is<GetFilter, int>(1)));
  EXPECT_TRUE((is<GetFilter, cudnnDataType_t*>(2)));
  EXPECT_TRUE((is<GetFilter, cudnnTensorFormat_t*>(3)));
  for (const int at : {4, 5}) EXPECT_TRUE((is<GetFilter, int*>(at))) << at;
}

}  // namespace
}  // namespace prof::preload
#endif
