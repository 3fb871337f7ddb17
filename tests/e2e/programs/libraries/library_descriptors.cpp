// Sizes of cuDNN's tensors are recorded when they are set, and a convolution has the sizes that its descriptors have at
// that time: set again in another form, refused, set by a function that is not hooked after one that is, derived, made
// again at the same address, among a thousand others, and by the getters if setting was not seen. Each has another
// number of input channels.
// Env: PROF_LIBS=1
// Link: libraries
// Expect: status 0
// Expect: log 1: 7 library_call, 0 lost, whole, 7 kernel_launch(fprop)
// Expect: log 1: 1 library_call(cudnnConvolutionForward(op=conv_forward, x=2x8x10x10, w=6x8x3x3, y=2x6x8x8, A=fp32, B=fp32, C=fp32, operations=1, algorithm=1))
// Expect: log 1: 1 library_call(cudnnConvolutionForward(op=conv_forward, x=2x9x10x10, w=6x9x3x3, y=2x6x8x8, A=fp16, B=bf16, C=fp32, operations=1, algorithm=1))
// Expect: log 1: 1 library_call(cudnnConvolutionForward(op=conv_forward, x=2x9x10x10, w=6x9x3x3, y=2x6x8x8, A=fp16, B=bf16, C=fp32, operations=1, algorithm=2))
// Expect: log 1: 1 library_call(cudnnConvolutionForward(op=conv_forward, x=1x9x1x1, w=6x9x3x3, y=2x6x8x8, A=fp32, B=bf16, C=fp32, operations=1, algorithm=3))
// Expect: log 1: 1 library_call(cudnnConvolutionForward(op=conv_forward, x=2x11x10x10, w=6x9x3x3, y=2x6x8x8, A=fp16, B=bf16, C=fp32, operations=1, algorithm=4))
// Expect: log 1: 1 library_call(cudnnConvolutionForward(op=conv_forward, x=2x777x10x10, w=6x9x3x3, y=2x6x8x8, A=fp32, B=bf16, C=fp32, operations=1, algorithm=5))
// Expect: log 1: 1 library_call(cudnnConvolutionForward(op=conv_forward, x=2x1x10x10, w=6x9x3x3, y=2x6x8x8, A=fp32, B=bf16, C=fp32, operations=1, algorithm=6))
#include "tests/e2e/programs/libraries/library_program.h"

#include <dlfcn.h>

#include <vector>

constexpr int kFp32 = 0, kFp16 = 2, kBf16 = 9;

static SimTensor* made() {
  SimTensor* tensor = nullptr;
  if (cudnnCreateTensorDescriptor(&tensor) != 0) exit(50);
  return tensor;
}

int main() {
  sim_program::make_context();
  const float one = 1;
  float data = 0;
  SimTensor *x = made(), *const w = made(), *const y = made(), *const derived = made();
  const auto forward = [&](SimTensor* from, int algorithm) {
    if (cudnnConvolutionForward(nullptr, &one, from, nullptr, w, nullptr, nullptr, algorithm, nullptr, 0, &one, y,
                                &data) != 0)
      exit(51);
  };
  const int distances[] = {900, 100, 10, 1};
  cudnnSetTensor4dDescriptor(x, 0, kFp32, 2, 8, 10, 10);
  cudnnSetFilter4dDescriptor(w, kFp32, 0, 6, 8, 3, 3);
  cudnnSetTensor4dDescriptor(y, 0, kFp32, 2, 6, 8, 8);
  forward(x, 1);

  const int sizes[] = {2, 9, 10, 10}, filter[] = {6, 9, 3, 3}, too_few[] = {5, 5};
  cudnnSetTensorNdDescriptor(x, kFp16, 4, sizes, distances);
  cudnnSetFilterNdDescriptor(w, kBf16, 0, 4, filter);
  forward(x, 1);
  if (cudnnSetTensorNdDescriptor(x, kFp32, 2, too_few, distances) == 0) return 1;
  forward(x, 2);

  cudnnSetTensor4dDescriptor(derived, 0, kFp32, 3, 3, 3, 3);
  cudnnDeriveBNTensorDescriptor(derived, x, 1);
  forward(derived, 3);

  // The next descriptor reuses the memory of this one and is set by a function that libprof does not see.
  void* const part = dlopen("libcudnn_cnn.so.9", RTLD_NOW);
  const auto unseen = reinterpret_cast<decltype(&cudnnSetTensorNdDescriptor)>(
      dlvsym(part, "cudnnSetTensorNdDescriptor", "libcudnn_cnn.so.9"));
  if (unseen == nullptr) return 2;
  const int others[] = {2, 11, 10, 10};
  cudnnDestroyTensorDescriptor(x);
  x = made();
  unseen(x, kFp16, 4, others, distances);
  forward(x, 4);

  std::vector<SimTensor*> many;
  for (int i = 0; i < 1000; ++i) {
    many.push_back(made());
    cudnnSetTensor4dDescriptor(many.back(), 0, kFp32, 2, i, 10, 10);
  }
  forward(many[777], 5);
  forward(many[1], 6);
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
