// FLOPs and bytes of recorded trainings and of a recorded inference, compared with the models' formulas and another
// tool's tables.
#include "analyzer/analysis/cost/kernel_costs.h"

#include "analyzer/command/inputs.h"
#include "tests/unit/analyzer/shared_traces.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>

namespace prof::analyzer {
namespace {

// A vision transformer on an H100, with the numbers that another tool reports for it. Its GEMM rows count the bias as
// m·n additional FLOPs. Its normalisation rows count two floats per channel, although the mean and deviation of each
// row are written.
TEST(KernelCostRecorded, AgreesWithTraceLensOnARecordedInference) {
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
  // GEMM.csv: GFLOPS minus the m·n of the bias, and "Data Moved" in 2^20 bytes.
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
  // CONV_fwd.csv lists it under aten::convolution with a bias, which another kernel adds.
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
  // Normalization.csv: 2·2·605184 + 2·2·768, and 6144 that only that tool counts.
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

// Every product of two recorded trainings is counted once: the sum equals the models' formulas exactly.
TEST(KernelCostRecorded, CountsTwoRecordedTrainingsExactly) {
  PROF_NEEDS_SHARED_DATA();
  const std::filesystem::path folder = prof::tests::shared_data() / "h200";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  // ResNet-18, two steps of 8 images of 224 x 224. Its convolutions are 1,813,561,344 multiply-adds, for the forward
  // pass and for each of two gradients; the first convolution has no gradient of its input. The last layer is 512 x
  // 1000, three times.
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
