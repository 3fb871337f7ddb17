// PyTorch's own FLOPs formulas, computed by hand.
#include "analyzer/analysis/cost/torch_flops.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

TEST(TorchFlops, CountsMatrixProductsTwiceTheInnerDimension) {
  EXPECT_EQ(torch_flops("aten::mm", "[[2,3],[3,5]]", ""), 2u * 2 * 3 * 5);
  EXPECT_EQ(torch_flops("aten::addmm", "[[1000],[1,2048],[2048,1000],[],[],[1,1000]]", ""), 4'096'000u);
  EXPECT_EQ(torch_flops("aten::bmm", "[[7, 2, 3], [7, 3, 5]]", ""), 2u * 7 * 2 * 3 * 5);
  EXPECT_EQ(torch_flops("aten::baddbmm", "[[7,2,5],[7,2,3],[7,3,5],[],[]]", ""), 2u * 7 * 2 * 3 * 5);
}

TEST(TorchFlops, CountsAConvolutionWithStridePaddingDilationAndGroups) {
  const char* const dims = "[[1,3,224,224],[64,3,7,7],[],[],[],[],[]]";
  EXPECT_EQ(torch_flops("aten::conv2d", dims, R"(["","","","[2, 2]","[3, 3]","[1, 1]","1"])"), 236'027'904u);
  // dilation 2: the kernel spans 13, the output is 109 wide; 2*64*3*49*109*109
  EXPECT_EQ(torch_flops("aten::conv2d", dims, R"(["","","","[2, 2]","[3, 3]","[2, 2]","1"])"),
            2u * 64 * 3 * 49 * 109 * 109);
  // PyTorch multiplies by all input channels and divides by the groups: a depthwise 3x3 on 8 channels, 10x10
  EXPECT_EQ(torch_flops("aten::conv2d", "[[1,8,12,12],[8,1,3,3],[],[],[],[],[]]",
                        R"(["","","","[1, 1]","[0, 0]","[1, 1]","8"])"),
            2u * 8 * 9 * 8 / 8 * 10 * 10);
}

TEST(TorchFlops, CountsTheFirstOperandOfMulAndAdd) {
  EXPECT_EQ(torch_flops("aten::mul", "[[4,256],[1]]", ""), 1024u);
  EXPECT_EQ(torch_flops("aten::add", "[[],[8],[]]", ""), 1u);
}

TEST(TorchFlops, SaysNothingWhereThereIsNoFormulaOrNoShape) {
  EXPECT_EQ(torch_flops("aten::relu", "[[4]]", ""), 0u);
  EXPECT_EQ(torch_flops("mm", "[[2,3],[3,5]]", ""), 0u);
  for (const char* dims : {"", "[]", "[[2,3]]", "[[],[]]", "[[2,0],[0,5]]", "[[[2,3]],[[3,5]]]", "[[2,-3],[3,5]]",
                           "[[2,3],[3,5", "]]]]", "[[[[[[", "null", "[[1e9],[2]]", "[\"a,]b\",[3]]"}) {
    EXPECT_EQ(torch_flops("aten::bmm", dims, ""), 0u) << dims;
    EXPECT_EQ(torch_flops("aten::mm", dims, ""), 0u) << dims;
  }
  EXPECT_EQ(torch_flops("aten::conv2d", "[[1,3,4,4],[1,3,9,9],[]]", R"(["","","","[1]","[0]","[1]","1"])"), 0u);
  EXPECT_EQ(torch_flops("aten::conv2d", "[[1,3,9,9],[1,3,3,3],[]]", R"(["","","","[0, 0]","same","[1, 1]","0"])"), 0u);
}

TEST(TorchFlops, SaysNothingWhereTheNumberDoesNotFit) {
  EXPECT_EQ(torch_flops("aten::mul", "[[4294967296,4294967296,2]]", ""), 0u);
  EXPECT_EQ(torch_flops("aten::mm", "[[4294967296,4294967296],[4294967296,4]]", ""), 0u);
  EXPECT_EQ(torch_flops("aten::mm", "[[4294967296,4294967296,4],[4,1]]", ""), 0u);
  EXPECT_EQ(torch_flops("aten::bmm", "[[4294967296,4294967296,4],[4294967296,4,1]]", ""), 0u);
  const char* const wide = "[[4294967296,4294967296,4,4],[4294967296,1,1,1],[],[],[],[],[]]";
  EXPECT_EQ(torch_flops("aten::conv2d", wide, R"(["","","","[1, 1]","[0, 0]","[1, 1]","64"])"), 0u);
  const char* const small = "[[1,1,4,4],[1,1,1,1],[],[],[],[],[]]";
  EXPECT_EQ(torch_flops("aten::conv2d", small, R"(["","","","[1, 1]","[9223372036854775807, 0]","[1, 1]","1"])"), 0u);
}

TEST(TorchFlops, ShowsShapesAsPythonPrintsThem) {
  EXPECT_EQ(torch_shapes("[[2,3],[],[[4,1],[2]]]"), "[[2, 3], [], []]");
  EXPECT_EQ(torch_shapes("[[2, 3], []]"), "[[2, 3], []]");
  EXPECT_EQ(torch_shapes(""), "[]");
}

}  // namespace
}  // namespace prof::analyzer
