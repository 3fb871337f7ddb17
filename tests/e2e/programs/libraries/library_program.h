// Code that programs about library calls share.
#pragma once

#include "tests/sim/libraries.h"
#include "tests/sim/sim_program.h"

namespace library_program {

// A product of fp16 and fp8 matrices, A the same for the whole batch, with factors in the device's memory and an
// algorithm.
inline int batched_matmul(uint64_t m, uint64_t n, uint64_t k, int32_t batch) {
  SimMatmul* matmul = nullptr;
  SimLayout *a = nullptr, *b = nullptr, *d = nullptr;
  const int32_t on_device = 1;
  const int64_t strides[] = {0, static_cast<int64_t>(k * n), static_cast<int64_t>(m * n)};
  cublasLtMatmulDescCreate(&matmul, 77, 0);
  cublasLtMatmulDescSetAttribute(matmul, 2, &on_device, sizeof on_device);
  cublasLtMatrixLayoutCreate(&a, 2, m, k, static_cast<int64_t>(m));
  cublasLtMatrixLayoutCreate(&b, 28, k, n, static_cast<int64_t>(k));
  cublasLtMatrixLayoutCreate(&d, 0, m, n, static_cast<int64_t>(m));
  SimLayout* const all[] = {a, b, d};
  for (int i = 0; i < 3; ++i) {
    cublasLtMatrixLayoutSetAttribute(all[i], 5, &batch, sizeof batch);
    cublasLtMatrixLayoutSetAttribute(all[i], 6, &strides[i], sizeof strides[i]);
  }
  SimAlgorithm algorithm = {};
  constexpr int32_t kChosen[][2] = {{0, 21}, {1, 20}, {2, 3}, {6, 11}};
  for (const auto& [what, value] : kChosen)
    cublasLtMatmulAlgoConfigSetAttribute(&algorithm, what, &value, sizeof value);
  const int status =
      cublasLtMatmul(nullptr, matmul, nullptr, nullptr, a, nullptr, b, reinterpret_cast<const void*>(0x10), nullptr, d,
                     nullptr, d, &algorithm, nullptr, 0, nullptr);
  for (SimLayout* const each : all) cublasLtMatrixLayoutDestroy(each);
  cublasLtMatmulDescDestroy(matmul);
  return status;
}

}  // namespace library_program
