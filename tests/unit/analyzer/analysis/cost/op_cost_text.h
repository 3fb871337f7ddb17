// Operators for tests: as a trace contains them, with checks of their expected cost.
#pragma once

#include "analyzer/analysis/cost/op_cost.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace prof::tests {

using namespace analyzer;

inline constexpr std::string_view kBf16 = "\"c10::BFloat16\"", kFloat = "\"float\"";

// "Input type" of `tensors` tensors and of arguments that are no tensors.
inline std::string types_of(std::string_view type, size_t tensors, size_t others = 0) {
  std::string text = "[";
  for (size_t i = 0; i < tensors + others; ++i) {
    if (i != 0) text += ',';
    text += i < tensors ? type : std::string_view("\"Scalar\"");
  }
  return text + "]";
}

// `dims`, `types`, `concrete`: as in the arguments of a trace's event.
inline OpCost cost(std::string_view op, std::string_view dims, const std::string& types,
                   std::string_view concrete = "") {
  return op_cost(op, OpInputs(dims, types, concrete));
}

// For an operator that multiplies matrices.
inline void expect(const OpCost& cost, uint64_t flops, uint64_t useful, uint64_t bytes) {
  EXPECT_EQ(cost.flops, std::optional(flops));
  EXPECT_EQ(cost.useful_flops, std::optional(useful));
  EXPECT_EQ(cost.bytes, std::optional(bytes));
  EXPECT_EQ(cost.no_flops, NoCost::None);
  EXPECT_TRUE(cost.matrix);
}

}  // namespace prof::tests
