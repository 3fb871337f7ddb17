// The purpose and the origin of kernels, by name; rules defined by the user.
#include "analyzer/analysis/kernel_categories.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

// "communication nccl": purpose and category of a kernel of that name.
std::string classified(std::string_view name, std::string_view rules = "") {
  HandTrace hand;
  hand.kernel(0, 1, 0, 0, name);
  hand.finish();
  const KernelNames names(hand.trace);
  const KernelCategories categories(hand.trace, names, parse_category_rules(rules, "my.rules"));
  const GpuOperation& kernel = hand.trace.operations[0];
  return std::string(categories.purpose(kernel) == Purpose::Communication ? "communication " : "compute ") +
         std::string(categories.category(kernel));
}

std::string error_of(std::string_view rules) {
  try {
    parse_category_rules(rules, "my.rules");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(KernelCategories, KnowTheKernelsOfTorchCompile) {
  EXPECT_EQ(classified("triton_poi_fused_add_cos_sin_0"), "compute pointwise");
  EXPECT_EQ(classified("triton_red_fused_sum_1"), "compute reduction");
  EXPECT_EQ(classified("triton_per_fused__softmax_2"), "compute persistent_reduction");
  EXPECT_EQ(classified("triton_tem_fused_mm_3"), "compute template");
  EXPECT_EQ(classified("triton_for_fused_4"), "compute foreach");
  EXPECT_EQ(classified("extern_kernels.mm"), "compute extern");
  EXPECT_EQ(classified("triton_"), "compute triton");
}

TEST(KernelCategories, KnowLibraries) {
  EXPECT_EQ(classified("nvjet_sm90_tst_128x128_64x6_2x1_v_bz_TNT"), "compute cublas");
  EXPECT_EQ(classified("ampere_sgemm_128x64_nn"), "compute cublas");
  EXPECT_EQ(classified("void cublasLt::splitKreduce_kernel<32, 16, int, float>(cublasSplitKParams<float>)"),
            "compute cublas");
  EXPECT_EQ(classified("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw"), "compute cudnn");
  EXPECT_EQ(classified("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7"), "compute cudnn");
  EXPECT_EQ(classified("void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688dgrad>(Params)"), "compute cudnn");
  EXPECT_EQ(classified("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm>(Params)"), "compute cutlass");
  EXPECT_EQ(classified("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64> >(Flash_fwd_params)"),
            "compute flash_attention");
  EXPECT_EQ(classified("void at_cuda_detail::cub::DeviceScanKernel<int>(int*)"), "compute cub");
  EXPECT_EQ(classified("void cub::DeviceReduceKernel<thrust::plus<int> >(int*)"), "compute cub");
  EXPECT_EQ(classified("void thrust::cuda_cub::core::_kernel_agent<int>(int)"), "compute thrust");
  EXPECT_EQ(classified("void at::native::reduce_kernel<512, 1>(at::native::ReduceOp<float>)"), "compute pytorch");
  EXPECT_EQ(classified("at::cuda::philox::unpack_cudnn(at::PhiloxCudaState, long*, long*)"), "compute pytorch");
  EXPECT_EQ(classified("input_reduce_fusion_2"), "compute xla");
  EXPECT_EQ(classified("Cijk_Alik_Bljk_SB_Bias_AS"), "compute rocblas");
  EXPECT_EQ(classified("my_kernel"), "compute other");
}

TEST(KernelCategories, KnowCommunicationWhateverTheLibrary) {
  EXPECT_EQ(classified("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            "communication nccl");
  EXPECT_EQ(classified("void nvshmemi_put_block(int)"), "communication nvshmem");
  EXPECT_EQ(classified("void (anonymous namespace)::multimem_all_reduce_kernel<16>(unsigned long)"),
            "communication symmetric_memory");
  EXPECT_EQ(classified("void vllm::cross_device_reduce_1stage<float, 8>(RankData*)"), "communication vllm");
  EXPECT_EQ(classified("void tensorrt_llm::kernels::oneShotAllReduceKernel<float>(Params)"), "communication tensorrt");
  EXPECT_EQ(classified("void (anonymous namespace)::two_shot_all_reduce_kernel<8>(int)"),
            "communication symmetric_memory");
  EXPECT_EQ(classified("void deep_ep::intranode::dispatch<8>(int)"), "communication other");
  // Named after what they read, or with a collective only in a template argument.
  EXPECT_EQ(classified("triton_poi_fused_all_gather_into_tensor_copy_3"), "compute pointwise");
  EXPECT_EQ(classified("void softmax<BlockAllReduce<4> >(float*)"), "compute other");
}

TEST(KernelCategories, TakeTheUsersRulesBeforeTheirOwn) {
  constexpr std::string_view kRules = "# ours\n\nattention  my_ns::attn\ncommunication ^my_ring_.*\r\nattention nvjet";
  EXPECT_EQ(classified("void my_ns::attn_fwd<float>(float*)", kRules), "compute attention");
  EXPECT_EQ(classified("my_ring_0", kRules), "communication other");
  EXPECT_EQ(classified("nvjet_sm90", kRules), "compute attention");
  EXPECT_EQ(classified("not_my_ns::attn", kRules), "compute other");
  EXPECT_EQ(classified("ncclDevKernel_Broadcast", "compute nccl"), "compute nccl");
}

TEST(KernelCategories, SayWhichRuleIsWrong) {
  EXPECT_EQ(error_of("a b\nmine ("), "my.rules:2: '(': Unmatched ( or \\(; a rule is: category pattern");
  EXPECT_EQ(error_of("\n\nmine"), "my.rules:3: category 'mine' has no pattern after it; a rule is: category pattern");
  EXPECT_EQ(error_of("a/b c"),
            "my.rules:1: category 'a/b': letters, digits, _ and - are allowed; a rule is: category pattern");
  EXPECT_THROW(read_category_rules({"/no/such/file"}), std::runtime_error);
  EXPECT_THROW(read_category_rules({"/"}), std::runtime_error);  // a folder
}

TEST(KernelCategories, SurviveNamesOfMegabytes) {
  const std::string long_name(2'000'000, 'x');
  EXPECT_EQ(classified(long_name, "mine (x+x+)+y"), "compute other");
  EXPECT_EQ(classified("nccl" + long_name), "communication nccl");
}

TEST(KernelCategories, NameCopiesAndMemsetsByKind) {
  HandTrace hand;
  hand.kernel(0, 1, 0, 0, "Memcpy");
  hand.copy(1, 2, 0, 8, 1);
  hand.fill(2, 3, 0, 8);
  hand.finish();
  const KernelCategories& categories = hand.views().categories();
  std::string text;
  for (const GpuOperation& operation : hand.trace.operations)
    text += categories.category_names()[categories.category_index(operation)] + " ";
  EXPECT_EQ(text, "other memcpy memset ");
}

TEST(KernelCategories, TakeKernelsOfOperatorsWithTritonsArgumentsForTritons) {
  HandTrace hand;
  hand.trace.details.push_back({});
  OperatorDetail detail;
  detail.other = hand.trace.strings.intern("\"num_warps\":4");
  hand.trace.details.push_back(detail);
  hand.range("my_kernel", 0, 10);
  hand.trace.ranges.back().payload = 1;
  hand.kernel(5, 6, 0, 0, "my_kernel");
  hand.kernel(6, 7, 0, 0, "your_kernel");
  hand.finish();
  EXPECT_EQ(hand.views().categories().category(hand.trace.operations[0]), "triton");
  EXPECT_EQ(hand.views().categories().category(hand.trace.operations[1]), "other");
}

}  // namespace
}  // namespace prof::analyzer
