// What does the name of a kernel tell about its part in an operator?
#include "analyzer/analysis/cost/kernel_role.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

TEST(KernelRole, OfProductsIsMainAndOfTheirHelpersIsHelper) {
  EXPECT_EQ(kernel_role("sm90_xmma_gemm_bf16").part, KernelPart::Main);
  EXPECT_EQ(kernel_role("void flash_fwd_kernel<...>").part, KernelPart::Main);
  EXPECT_EQ(kernel_role("void cublasLt::splitKreduce_kernel<32>()").part, KernelPart::Helper);
  EXPECT_EQ(kernel_role("nchwToNhwcKernel").part, KernelPart::Helper);  // in any case
  EXPECT_EQ(kernel_role("vectorized_elementwise_kernel").part, KernelPart::Other);
}

TEST(KernelRole, OfHelpersHasNoGradient) {
  EXPECT_TRUE(kernel_role("sm90_xmma_dgrad_implicit_gemm").input_gradient);
  EXPECT_TRUE(kernel_role("cudnn_wgrad").weight_gradient);
  const KernelRole helper = kernel_role("winogradWgradData4x4");
  EXPECT_EQ(helper.part, KernelPart::Helper);
  EXPECT_FALSE(helper.weight_gradient);
}

TEST(KernelRole, TellsTf32FromFp32) {
  OpCost product;
  product.matrix = true;
  product.type = DataType::Fp32;
  EXPECT_EQ(kernel_peak(product, kernel_role("sm80_xmma_gemm_f32f32_tf32f32")), PeakType::Tf32);
  EXPECT_EQ(kernel_peak(product, kernel_role("sm80_xmma_gemm_f32f32")), PeakType::Fp32);
  product.type = DataType::Fp64;
  EXPECT_EQ(kernel_peak(product, {}), PeakType::Fp64Matrix);
  product.matrix = false;
  product.type = DataType::Fp32;
  EXPECT_EQ(kernel_peak(product, kernel_role("tf32")), PeakType::Fp32);  // vector units
  product.type = DataType::Unknown;
  EXPECT_EQ(kernel_peak(product, {}), std::nullopt);
}

}  // namespace
}  // namespace prof::analyzer
