// Whose FLOPs are they? An operator's numbers go to its main kernel once, whatever else ran for it; rates are sums over sums.
#include "analyzer/analysis/kernel_cost.h"

#include "analyzer/analysis/kernel_peaks.h"
#include "analyzer/analysis/peak_rates.h"
#include "analyzer/command/inputs.h"
#include "tests/unit/analyzer/kineto_text.h"
#include "tests/unit/analyzer/shared_traces.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace prof::analyzer {
namespace {

// Operators on one thread, each with kernels launched inside it.
class TraceText {
 public:
  // Times in µs; `arguments`: members of args.
  TraceText& op(std::string_view name, int begin, int end, std::string_view arguments = "") {
    return event("cpu_op", name, begin, end, 11, fmt::format("\"External id\":{}{}", ++ids_, arguments));
  }
  TraceText& kernel(std::string_view name, int launched, int start, int end, int device = 0,
                    std::string_view arguments = "") {
    ++ids_;
    event("cuda_runtime", "cudaLaunchKernel", launched, launched + 1, 11,
          fmt::format(",\"correlation\":{}", ids_).substr(1));
    text_ += fmt::format(
        R"(,{{"ph":"X","cat":"kernel","name":"{}","pid":{},"tid":7,"ts":{},"dur":{},"args":{{"correlation":{},)"
        R"("device":{},"stream":7,"grid":[1,1,1],"block":[32,1,1]{}}}}})",
        name, device, start, end - start, ids_, device, arguments);
    return *this;
  }
  std::unique_ptr<Trace> import(std::string_view device = "NVIDIA H200") const {
    return tests::import_text(fmt::format(
        R"({{"deviceProperties":[{{"id":0,"name":"{}","numSms":132}}],"traceEvents":[{}]}})", device, text_.substr(1)));
  }

 private:
  TraceText& event(std::string_view category, std::string_view name, int begin, int end, int tid,
                   std::string_view arguments) {
    text_ += fmt::format(R"(,{{"ph":"X","cat":"{}","name":"{}","pid":10,"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                         category, name, tid, begin, end - begin, arguments);
    return *this;
  }
  std::string text_;
  int ids_ = 0;
};

constexpr std::string_view kMm =
    R"(,"Input Dims":[[64,32],[32,16]],"Input type":["float","float"],"Concrete Inputs":["",""])";
constexpr uint64_t kMmFlops = 2 * 64 * 32 * 16, kMmBytes = (64 * 32 + 32 * 16 + 64 * 16) * 4;

std::map<std::string, KernelCost> costs_by_name(const Trace& trace, DataType assumed = DataType::Unknown) {
  const Views views(trace);
  const KernelCosts costs(trace, views, assumed);
  std::map<std::string, KernelCost> found;
  for (uint32_t row = 0; row < trace.operations.size(); ++row)
    found[std::string(views.names().name(trace.operations[row], NameForm::Full))] = costs.of(row);
  return found;
}

TEST(KernelCost, TheMainKernelHasTheFlopsAndItsHelpersNone) {
  const auto trace = TraceText()
                         .op("aten::mm", 0, 50, kMm)
                         .kernel("sm80_xmma_gemm_f32f32_tf32f32", 1, 100, 110)
                         .kernel("void cublasLt::splitKreduce_kernel<32>()", 5, 110, 160)
                         .import();
  const auto costs = costs_by_name(*trace);
  const KernelCost& main = costs.at("sm80_xmma_gemm_f32f32_tf32f32");
  EXPECT_EQ(main.flops, kMmFlops);
  EXPECT_EQ(main.bytes, kMmBytes);
  EXPECT_EQ(main.peak, PeakType::Tf32);
  EXPECT_EQ(main.flops_source, CostSource::Shapes);
  const KernelCost& helper = costs.at("void cublasLt::splitKreduce_kernel<32>()");
  EXPECT_FALSE(helper.flops);
  EXPECT_FALSE(helper.bytes);
  EXPECT_EQ(helper.no_flops, NoCost::Helper);
}

TEST(KernelCost, WhereNoOperatorHasShapesThatIsTheReasonAndARemedyIsSaid) {
  const auto bare = TraceText().op("aten::mm", 0, 50).kernel("gemm", 1, 100, 110).import();
  const Views views(*bare);
  const KernelCosts costs(*bare, views);
  EXPECT_EQ(costs.of(0).no_flops, NoCost::NoShapes);
  EXPECT_NE(costs.remedy().find("record_shapes=True"), std::string_view::npos);

  const auto shaped = TraceText().op("aten::mm", 0, 50, kMm).kernel("gemm", 1, 100, 110).kernel("own", 60, 120, 130);
  const auto trace = shaped.import();
  const Views views_of_shaped(*trace);
  EXPECT_EQ(KernelCosts(*trace, views_of_shaped).remedy(), "");

  const auto unknown = TraceText().op("my::op", 0, 50, kMm).kernel("own", 1, 100, 110).import();
  const Views views_of_unknown(*unknown);
  const KernelCosts none(*unknown, views_of_unknown);
  EXPECT_EQ(none.of(0).no_flops, NoCost::NoFormula);
  EXPECT_NE(none.remedy().find("a formula is known"), std::string_view::npos);
}

TEST(KernelCost, AnOperatorAroundACountedOneHasNothingOfItsOwn) {
  const auto trace =
      TraceText()
          .op("aten::linear", 0, 50, R"(,"Input Dims":[[64,32],[16,32],[16]],"Input type":["float","float","float"])")
          .op("aten::mm", 10, 40, kMm)
          .kernel("gemm", 11, 100, 110)
          .kernel("fill", 45, 120, 130)
          .import();
  const auto costs = costs_by_name(*trace);
  EXPECT_EQ(costs.at("gemm").flops, kMmFlops);
  EXPECT_FALSE(costs.at("fill").flops);
  EXPECT_EQ(costs.at("fill").no_flops, NoCost::CountedInside);
}

TEST(KernelCost, LaunchesOfOneKernelShareByTimeAndAddUp) {
  const auto trace =
      TraceText().op("aten::mm", 0, 50, kMm).kernel("gemm", 1, 100, 110).kernel("gemm", 5, 110, 140).import();
  const Views views(*trace);
  const KernelCosts costs(*trace, views);
  ASSERT_EQ(trace->operations.size(), 2u);
  EXPECT_EQ(costs.of(0).flops, kMmFlops / 4);
  EXPECT_EQ(*costs.of(0).flops + *costs.of(1).flops, kMmFlops);
  EXPECT_EQ(*costs.of(0).bytes + *costs.of(1).bytes, kMmBytes);
}

TEST(KernelCost, GradientsOfAConvolutionGoToTheirOwnKernels) {
  constexpr std::string_view kBackward =
      R"(,"Input Dims":[[2,5,4,4],[2,3,8,8],[5,3,3,3],[],[],[],[],[],[],[],[]],"Input type":["float","float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar","ScalarList"],"Concrete Inputs":["","","","[0]","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1","[True, True, False]"])";
  const auto trace = TraceText()
                         .op("aten::convolution_backward", 0, 90, kBackward)
                         .kernel("nchwToNhwcKernel", 1, 100, 190)
                         .kernel("sm90_xmma_dgrad_implicit_gemm", 5, 200, 210)
                         .kernel("sm80_xmma_gemm", 9, 210, 215)
                         .kernel("winogradWgradData4x4", 12, 215, 235)
                         .import();
  const auto costs = costs_by_name(*trace);
  EXPECT_EQ(costs.at("sm90_xmma_dgrad_implicit_gemm").flops, 8640u);
  EXPECT_EQ(costs.at("sm80_xmma_gemm").flops, 8640u);
  EXPECT_FALSE(costs.at("nchwToNhwcKernel").flops);
  EXPECT_FALSE(costs.at("winogradWgradData4x4").flops);
}

TEST(KernelCost, TorchCompilesNumbersAreTakenWhereShapesSayNothing) {
  const auto trace = TraceText()
                         .op("triton_poi_fused_add_0", 0, 20, R"(,"kernel_flop":0,"kernel_num_gb":0.002)")
                         .kernel("triton_poi_fused_add_0", 1, 100, 110)
                         .op("extern_kernels.mm", 30, 50, R"(,"kernel_flop":4000,"kernel_num_gb":0.001)")
                         .kernel("gemm", 31, 120, 130)
                         .import();
  const auto costs = costs_by_name(*trace);
  EXPECT_EQ(costs.at("triton_poi_fused_add_0").bytes, 2'000'000u);
  EXPECT_FALSE(costs.at("triton_poi_fused_add_0").flops);
  EXPECT_EQ(costs.at("triton_poi_fused_add_0").no_flops, NoCost::NotCounted);
  EXPECT_EQ(costs.at("triton_poi_fused_add_0").bytes_source, CostSource::Inductor);
  EXPECT_EQ(costs.at("gemm").flops, 4000u);
  EXPECT_FALSE(costs.at("gemm").peak);  // of what type, the trace does not say
  EXPECT_EQ(costs_by_name(*trace, DataType::Bf16).at("gemm").peak, PeakType::Bf16);
  EXPECT_TRUE(costs_by_name(*trace, DataType::Bf16).at("gemm").assumed);
}

TEST(KernelCost, AProductOfFp4IsComparedWithThePeakOfFp4) {
  constexpr std::string_view kScaled =
      R"(,"Input Dims":[[128,64],[64,256],[1024],[2048],[],[],[],[]],"Input type":["c10::Float4_e2m1fn_x2","c10::Float4_e2m1fn_x2","c10::Float8_e4m3fn","c10::Float8_e4m3fn","","","Scalar","Scalar"],"Concrete Inputs":["","","","","","","15","False"])";
  const auto trace = TraceText()
                         .op("aten::_scaled_mm", 0, 50, kScaled)
                         .kernel("nvjet_qqtst_128x128", 1, 100, 110)
                         .import("NVIDIA B200");
  const KernelCost cost = costs_by_name(*trace).at("nvjet_qqtst_128x128");
  EXPECT_EQ(cost.flops, 2u * 128 * 256 * 128);
  EXPECT_EQ(cost.peak, PeakType::Fp4);
  EXPECT_EQ(cost.type, DataType::Fp4);
}

TEST(KernelCost, AnEinsumIsTheProductItWasReducedTo) {
  const auto trace =
      TraceText()
          .op("aten::einsum", 0, 60,
              R"(,"Input Dims":[[],[[4,2,3],[4,3,5]],[]],"Input type":["","TensorList",""],"Concrete Inputs":["bij,bjk->bik","",""])")
          .op("aten::bmm", 10, 40, R"(,"Input Dims":[[4,2,3],[4,3,5]],"Input type":["float","float"])")
          .kernel("gemm", 11, 100, 110)
          .import();
  const KernelCost cost = costs_by_name(*trace).at("gemm");
  EXPECT_EQ(cost.flops, 2u * 4 * 2 * 3 * 5);
  EXPECT_EQ(cost.flops_source, CostSource::Shapes);
}

TEST(KernelCost, AComplexProductIsComparedWithThePeakOfItsParts) {
  const auto peak = [](std::string_view type) {
    const auto trace =
        TraceText()
            .op("aten::mm", 0, 50, fmt::format(R"(,"Input Dims":[[64,32],[32,16]],"Input type":["{0}","{0}"])", type))
            .kernel("gemm", 1, 100, 110)
            .import();
    return costs_by_name(*trace).at("gemm").peak;
  };
  EXPECT_EQ(peak("c10::complex<float>"), PeakType::Fp32);
  EXPECT_EQ(peak("c10::complex<double>"), PeakType::Fp64Matrix);
  EXPECT_EQ(peak("c10::complex<c10::Half>"), std::nullopt);
}

TEST(KernelCost, AProductWithAVectorIsComparedWithTheVectorUnits) {
  const auto trace = TraceText()
                         .op("aten::mv", 0, 20, R"(,"Input Dims":[[3,5],[5]],"Input type":["float","float"])")
                         .kernel("gemv2T_kernel_val_tf32", 1, 100, 110)
                         .op("aten::mv", 30, 50, R"(,"Input Dims":[[3,5],[5]],"Input type":["c10::Half","c10::Half"])")
                         .kernel("gemv_half", 31, 120, 130)
                         .import();
  const auto costs = costs_by_name(*trace);
  EXPECT_EQ(costs.at("gemv2T_kernel_val_tf32").peak, PeakType::Fp32);
  EXPECT_EQ(costs.at("gemv_half").flops, 30u);
  EXPECT_EQ(costs.at("gemv_half").peak, std::nullopt);
}

TEST(KernelCost, NumbersOfAKernelsOwnEventCountWhereNothingElseHasThem) {
  constexpr std::string_view kOwn = R"(,"kernel_flop":5000.0,"kernel_num_gb":2e-6)";
  const auto trace = TraceText()
                         .op("aten::mm", 0, 50, kMm)
                         .kernel("gemm", 1, 100, 110, 0, kOwn)
                         .kernel("void cublasLt::splitKreduce_kernel<32>()", 5, 110, 120, 0, kOwn)
                         .op("my::op", 52, 58)
                         .kernel("mine", 53, 120, 130, 0, kOwn)
                         .kernel("alone", 60, 130, 140, 0, kOwn)
                         .kernel("only_bytes", 70, 140, 150, 0, R"(,"kernel_num_gb":"3e-6")")
                         .kernel("odd", 80, 150, 160, 0, R"(,"kernel_flop":"many","kernel_num_gb":-1)")
                         .import();
  const auto costs = costs_by_name(*trace);
  EXPECT_EQ(costs.at("gemm").flops, kMmFlops);
  EXPECT_EQ(costs.at("gemm").flops_source, CostSource::Shapes);
  EXPECT_FALSE(costs.at("void cublasLt::splitKreduce_kernel<32>()").flops);
  for (const char* name : {"mine", "alone"}) {
    EXPECT_EQ(costs.at(name).flops, 5000u) << name;
    EXPECT_EQ(costs.at(name).bytes, 2000u) << name;
    EXPECT_EQ(costs.at(name).flops_source, CostSource::Event) << name;
    EXPECT_EQ(costs.at(name).bytes_source, CostSource::Event) << name;
    EXPECT_EQ(costs.at(name).peak, std::nullopt) << name;
  }
  EXPECT_EQ(costs.at("only_bytes").bytes, 3000u);
  EXPECT_FALSE(costs.at("only_bytes").flops);
  EXPECT_EQ(costs.at("only_bytes").no_flops, NoCost::NoLaunch);
  EXPECT_FALSE(costs.at("odd").flops);
  EXPECT_FALSE(costs.at("odd").bytes);
  const KernelCost assumed = costs_by_name(*trace, DataType::Bf16).at("alone");
  EXPECT_EQ(assumed.peak, PeakType::Bf16);
  EXPECT_TRUE(assumed.assumed);
}

TEST(KernelCost, TheTypeOfListsIsTheUsersThoughTheTraceHasTypes) {
  const auto trace =
      TraceText()
          .op("aten::cat", 0, 50, R"(,"Input Dims":[[[4,8],[4,8]],[]],"Input type":["TensorList","Scalar"])")
          .kernel("CatArrayBatchedCopy", 1, 100, 110)
          .import();
  EXPECT_EQ(costs_by_name(*trace).at("CatArrayBatchedCopy").no_bytes, NoCost::NoType);
  const KernelCost assumed = costs_by_name(*trace, DataType::Bf16).at("CatArrayBatchedCopy");
  EXPECT_EQ(assumed.bytes, 2u * 64 * 2);
  EXPECT_TRUE(assumed.assumed);
}

TEST(KernelCost, CausalAttentionIsSaidAndItsUsefulPartMissesWithAReason) {
  const auto attention = [](std::string_view concrete) {
    const auto trace =
        TraceText()
            .op("aten::_scaled_dot_product_flash_attention", 0, 50,
                R"(,"Input Dims":[[2,3,4,8],[2,3,4,8],[2,3,4,8],[],[]],"Input type":["float","float","float","Scalar","Scalar"])" +
                    std::string(concrete))
            .kernel("flash_fwd_kernel", 1, 100, 110)
            .import();
    PeakSums sums;
    sums.add(costs_by_name(*trace).at("flash_fwd_kernel"), 10'000, DevicePeaks{});
    return sums;
  };
  const PeakSums causal = attention(R"(,"Concrete Inputs":["","","","0.","True"])");
  EXPECT_EQ(causal.note(), "causal");
  EXPECT_EQ(causal.useful_note(), "");
  EXPECT_EQ(causal.useful_flops * 2, causal.flops);
  const PeakSums full = attention(R"(,"Concrete Inputs":["","","","0.","False"])");
  EXPECT_EQ(full.note(), "");
  EXPECT_EQ(full.useful_flops, full.flops);
  const PeakSums unknown = attention("");
  EXPECT_EQ(unknown.with_useful, 0u);
  EXPECT_EQ(unknown.useful_note(), "useful FLOPs: stride, padding or other arguments are not in the trace");
  PeakSums both = causal;
  both.add_all(unknown);
  EXPECT_EQ(both.note(), "causal: 1 of 2 launches");
  EXPECT_EQ(both.useful_note(), "no useful FLOPs of 1 of 2 launches");
}

TEST(KernelCost, ShapesOfEmitNvtxCountToo) {
  const auto trace =
      TraceText().op("aten::mm, seq = 3, sizes = [[64, 32], [32, 16]]", 0, 50).kernel("gemm", 1, 100, 110).import();
  Trace& changed = *trace;
  for (uint32_t row = 0; row < changed.ranges.size(); ++row)
    changed.ranges[row].kind = RangeKind::Nvtx, changed.ranges[row].payload = 0;
  EXPECT_EQ(costs_by_name(*trace).at("gemm").flops, kMmFlops);
  EXPECT_EQ(costs_by_name(*trace).at("gemm").no_bytes, NoCost::NoType);
  EXPECT_EQ(costs_by_name(*trace, DataType::Fp32).at("gemm").bytes, kMmBytes);
}

TEST(KernelCost, WhatHasNoOperatorHasNoNumber) {
  const auto trace = TraceText().op("aten::mm", 0, 50, kMm).kernel("gemm", 60, 100, 110).import();
  EXPECT_EQ(costs_by_name(*trace).at("gemm").no_flops, NoCost::NoLaunch);
}

// A vision transformer on an H100, with the numbers another tool has for it. Its GEMM rows count the bias as m·n more FLOPs, its
// normalisation two floats of each channel where each row's mean and deviation are written.
TEST(KernelCost, AgreesWithTraceLensOnARecordedInference) {
  PROF_NEEDS_SHARED_DATA();
  const std::string file =
      (prof::tests::shared_data() / "h100" / "Falconsai_nsfw_image_detection__1016002.json.gz").string();
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  const std::unique_ptr<Trace> trace = read_inputs({file});
  const Views views(*trace);
  const KernelCosts costs(*trace, views);
  struct Sum {
    uint64_t count = 0, flops = 0, bytes = 0;
    int64_t ns = 0;
  };
  std::map<std::string, Sum> by_op;
  for (uint32_t row = 0; row < trace->operations.size(); ++row) {
    const KernelCost& cost = costs.of(row);
    if (cost.op == kNone || (!cost.flops && !cost.bytes)) continue;
    const Range& op = trace->ranges[cost.op];
    Sum& sum = by_op[fmt::format("{} {}", trace->range_name(op), trace->text(trace->detail(op)->dims))];
    ++sum.count, sum.flops += cost.flops.value_or(0), sum.bytes += cost.bytes.value_or(0);
    sum.ns += trace->operations[row].duration_ns();
  }
  std::map<std::string, Sum> by_kind;
  for (const auto& [op, sum] : by_op) by_kind[op.substr(0, op.find(' '))].count += sum.count;
  EXPECT_EQ(by_kind["aten::addmm"].count, 48u + 12 + 12 + 1);
  const auto find = [&](std::string_view op, std::initializer_list<uint64_t> first) {
    for (const auto& [name, sum] : by_op) {
      const size_t space = name.find(' ');
      if (name.substr(0, space) != op) continue;
      const std::vector<std::string_view> arguments = json_elements(std::string_view(name).substr(space + 1));
      const size_t tensor = op == "aten::addmm" ? 1 : 0;
      const std::optional<Shape> a = json_shape(arguments[tensor]), b = json_shape(arguments[tensor + 1]);
      Shape both = a.value_or(Shape{});
      if (op == "aten::addmm" || op == "aten::add" || op == "aten::add_") both.insert(both.end(), b->begin(), b->end());
      if (both == Shape(first)) return sum;
    }
    ADD_FAILURE() << "no " << op;
    return Sum{};
  };
  // GEMM.csv: GFLOPS less m·n of the bias, and "Data Moved" in 2^20 bytes.
  const Sum qkv = find("aten::addmm", {788, 768, 768, 768});
  EXPECT_EQ(qkv.count, 48u);
  EXPECT_EQ(qkv.flops, 48ull * (930'167'808 - 788 * 768));
  EXPECT_EQ(qkv.bytes, 48ull * 3'601'920);
  EXPECT_NEAR(static_cast<double>(qkv.ns) * 1e-3, 399.13671875, 0.05);
  const Sum up = find("aten::addmm", {788, 768, 768, 3072});
  EXPECT_EQ(up.flops, 12ull * (3'720'671'232 - 788 * 3072));
  EXPECT_EQ(up.bytes, 12ull * 10'776'576);
  const Sum down = find("aten::addmm", {788, 3072, 3072, 768});
  EXPECT_EQ(down.flops, 12ull * (3'718'855'680 - 788 * 768));
  EXPECT_EQ(down.bytes, 12ull * 10'771'968);
  const Sum head = find("aten::addmm", {4, 768, 768, 768});
  EXPECT_EQ(head.flops, 4'721'664u - 4 * 768);
  EXPECT_EQ(head.bytes, 1'193'472u);
  // CONV_fwd.csv has it at aten::convolution with a bias, which another kernel adds.
  const Sum conv = find("aten::cudnn_convolution", {4, 3, 224, 224});
  EXPECT_EQ(conv.flops, 924'844'032u);
  EXPECT_EQ(conv.bytes, 3'588'096u);
  // SDPA_fwd.csv
  const Sum attention = find("aten::_flash_attention_forward", {4, 197, 12, 64});
  EXPECT_EQ(attention.flops, 12ull * 476'884'992);
  EXPECT_EQ(attention.bytes, 12u * 4'841'472);
  EXPECT_NEAR(static_cast<double>(attention.ns) * 1e-3, 122.84814453125, 0.02);
  // BinaryElementwise.csv
  EXPECT_EQ(find("aten::add", {4, 197, 768, 4, 197, 768}).bytes, 24u * 3'631'104);
  EXPECT_EQ(find("aten::add", {4, 197, 768, 1, 197, 768}).bytes, 2'723'328u);
  EXPECT_EQ(find("aten::add_", {4, 768, 14, 14, 1, 768, 1, 1}).bytes, 2'409'984u);
  // Normalization.csv: 2·2·605184 + 2·2·768 and 6144 of its own.
  EXPECT_EQ(find("aten::native_layer_norm", {4, 197, 768}).bytes, 25u * (2'429'952 - 6144 + 788 * 8));
}

uint64_t flops_of(const std::string& file) {
  const std::unique_ptr<Trace> trace = read_inputs({file});
  const Views views(*trace);
  const KernelCosts costs(*trace, views);
  uint64_t sum = 0;
  for (uint32_t row = 0; row < trace->operations.size(); ++row) sum += costs.of(row).flops.value_or(0);
  return sum;
}

// Every product of two recorded trainings, counted once: the sum is that of the models' formulas, to the FLOP.
TEST(KernelCost, CountsTwoRecordedTrainingsExactly) {
  PROF_NEEDS_SHARED_DATA();
  const std::filesystem::path folder = prof::tests::shared_data() / "h200";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  // ResNet-18, two steps of 8 images of 224 x 224: its convolutions are 1,813,561,344 multiply-adds, forward and two
  // gradients; the first has no gradient of its input. The last layer is 512 x 1000, three times.
  const uint64_t convolutions = 2 * 1'813'561'344ull, first = 236'027'904, last = 2 * 512 * 1000;
  EXPECT_EQ(flops_of((folder / "resnet18.plain.trace.json.gz").string()),
            2 * 8 * (3 * convolutions - first + 3 * last));
  // GPT-2 of 4 layers, width 512, 8 heads of 64, vocabulary 8192; two steps of 4 x 256 tokens.
  const uint64_t tokens = 4 * 256, width = 512, scores = 4 * 8 * 256 * 256;
  const uint64_t products = 2 * tokens * (4 * 12 * width * width + width * 8192);
  const uint64_t attention = 4 * 2 * scores * (64 + 64), backward = 4 * 2 * scores * (3 * 64 + 2 * 64);
  EXPECT_EQ(flops_of((folder / "gpt2.plain.trace.json.gz").string()), 2 * (3 * products + attention + backward));
}

}  // namespace
}  // namespace prof::analyzer
