// Numbers in payloads: the floating-point formats that C++ has no type for, by their bits (IEEE 754, bfloat16).
#include "analyzer/input/log/nvtx/nvtx_values.h"
#include "preload/format/nvtx_types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

namespace prof::analyzer {
namespace {

namespace nvtx = format::nvtx;

double real(uint64_t type, uint64_t low, uint64_t high = 0) {
  std::string bytes(16, '\0');
  std::memcpy(bytes.data(), &low, 8);
  std::memcpy(bytes.data() + 8, &high, 8);
  return payload_number(bytes, type).real.value_or(-1234);
}

TEST(NvtxValues, HalfPrecision) {
  EXPECT_EQ(real(nvtx::kFloat16, 0x3c00), 1);
  EXPECT_EQ(real(nvtx::kFloat16, 0xc100), -2.5);
  EXPECT_EQ(real(nvtx::kFloat16, 0x7bff), 65504);
  EXPECT_EQ(real(nvtx::kFloat16, 0x0400), 0x1p-14) << "the smallest normal number";
  EXPECT_EQ(real(nvtx::kFloat16, 0x03ff), 0x3ffp-24) << "the largest subnormal number";
  EXPECT_EQ(real(nvtx::kFloat16, 0x7c00), INFINITY);
  EXPECT_EQ(real(nvtx::kFloat16, 0xfc00), -INFINITY);
  EXPECT_TRUE(std::isnan(real(nvtx::kFloat16, 0x7c01)));
}

TEST(NvtxValues, QuadruplePrecision) {
  const auto quadruple = [](uint64_t high, uint64_t low = 0) { return real(nvtx::kFloat128, low, high); };
  EXPECT_EQ(quadruple(0x3fff000000000000), 1);
  EXPECT_EQ(quadruple(0xc000400000000000), -2.5);
  EXPECT_EQ(quadruple(0x3fff000000000000, uint64_t{1} << 60), 1 + 0x1p-52);
  EXPECT_EQ(quadruple(0), 0);
  EXPECT_EQ(quadruple(0x7fff000000000000), INFINITY);
  EXPECT_EQ(quadruple(0xffff000000000000), -INFINITY);
  EXPECT_TRUE(std::isnan(quadruple(0x7fff800000000000)));
  EXPECT_EQ(quadruple(0x7ffe000000000000), INFINITY) << "larger than a double";
}

TEST(NvtxValues, ShortenedSinglePrecision) {
  EXPECT_EQ(real(nvtx::kBfloat16, 0x3f80), 1);
  EXPECT_EQ(real(nvtx::kBfloat16, 0xc020), -2.5);
  EXPECT_EQ(real(nvtx::kBfloat16, 0x7f80), INFINITY);
  EXPECT_TRUE(std::isnan(real(nvtx::kBfloat16, 0x7fc0)));
  EXPECT_EQ(real(52, 0x3f801fff), 1) << "TF32 ignores the low 13 bits";
}

TEST(NvtxValues, ThatAreNotFiniteAreNoValue) {
  std::string bytes(16, '\0');
  bytes[1] = 0x7c;
  EXPECT_FALSE(payload_number(bytes, nvtx::kFloat16).value());
  bytes[1] = 0x3c;
  EXPECT_EQ(payload_number(bytes, nvtx::kFloat16).value(), 1);
}

}  // namespace
}  // namespace prof::analyzer
