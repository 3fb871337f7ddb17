// Element types: the names in traces and the numbers of PyTorch.
#include "analyzer/analysis/cost/op_inputs.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

TEST(OpInputs, TypesAsTracesSpellThem) {
  EXPECT_EQ(data_type("c10::Half"), DataType::Fp16);
  EXPECT_EQ(data_type("c10::Float8_e4m3fn"), DataType::Fp8);
  EXPECT_EQ(data_type("c10::Float8_e5m2fnuz"), DataType::Fp8);
  EXPECT_EQ(data_type("c10::Float4_e2m1fn_x2"), DataType::Fp4);
  EXPECT_EQ(data_type("fp4"), DataType::Fp4);
  EXPECT_EQ(data_type("unsigned char"), DataType::Int8);
  EXPECT_EQ(data_type("long int"), DataType::Int64);
  EXPECT_EQ(data_type("ScalarList"), DataType::Unknown);
  EXPECT_EQ(data_type(""), DataType::Unknown);
  EXPECT_EQ(bytes_of(DataType::Unknown), 0u);
  EXPECT_EQ(bytes_of(DataType::Complex128), 16u);
  EXPECT_EQ(bytes_of(DataType::Fp4), 1u);
  EXPECT_EQ(values_in(DataType::Fp4), 2u);
  EXPECT_EQ(values_in(DataType::Fp8), 1u);
  EXPECT_EQ(data_type_name(DataType::Fp4), "fp4");
  EXPECT_EQ(data_type_name(DataType::Complex128), "complex128");
}

TEST(OpInputs, TypesAsPyTorchNumbersThem) {
  EXPECT_EQ(scalar_type(5), DataType::Fp16);
  EXPECT_EQ(scalar_type(6), DataType::Fp32);
  EXPECT_EQ(scalar_type(15), DataType::Bf16);
  EXPECT_EQ(scalar_type(24), DataType::Fp8);
  EXPECT_EQ(scalar_type(45), DataType::Fp4);
  EXPECT_EQ(scalar_type(12), DataType::Unknown);
  EXPECT_EQ(scalar_type(46), DataType::Unknown);
}

}  // namespace
}  // namespace prof::analyzer
