// Convolutions by cuDNN's legacy (pre-graph) functions: forward, both gradients, with two groups, fused with bias and
// activation, with vectors whose sizes do not give the FLOPs, and one that is refused. 2·(2·6·8·8)·(8·3·3) =
// 110592 FLOPs, half of it with two groups; 2·8·10·10·4 + 6·8·9·4 + 2·6·8·8·4 = 11200 bytes.
// Env: PROF_LIBS=1
// Link: libraries
// Expect: status 0
// Expect: log 1: 7 library_call, 0 lost, whole, 4 kernel_launch(fprop), 1 kernel_launch(dgrad), 1 kernel_launch(wgrad)
// Expect: log 1: 1 library_call(cudnnConvolutionForward(op=conv_forward, x=2x8x10x10, w=6x8x3x3, y=2x6x8x8, A=fp32, B=fp32, C=fp32, operations=1, algorithm=1))
// Expect: log 1: 1 library_call(cudnnConvolutionBackwardData(op=conv_input_gradient, x=2x8x10x10, w=6x8x3x3, y=2x6x8x8, A=fp32, B=fp32, C=fp32, operations=1, algorithm=0))
// Expect: log 1: 1 library_call(cudnnConvolutionBackwardFilter(op=conv_weight_gradient, x=2x8x10x10, w=6x8x3x3, y=2x6x8x8, A=fp32, B=fp32, C=fp32, operations=1, algorithm=3))
// Expect: log 1: 1 library_call(cudnnConvolutionForward(op=conv_forward, x=2x8x10x10, w=6x4x3x3, y=2x6x8x8, A=fp32, B=fp16, C=fp32, operations=1, algorithm=1))
// Expect: log 1: 1 library_call(cudnnConvolutionBiasActivationForward(op=conv_forward, x=2x8x10x10, w=6x8x3x3, y=2x6x8x8, A=fp32, B=fp32, C=fp32, algorithm=6))
// Expect: log 1: 1 library_call(cudnnConvolutionForward(op=conv_forward, x=?, w=6x8x3x3, y=2x6x8x8, A=5, B=fp32, C=fp32, operations=1, algorithm=1))
// Expect: log 1: 1 library_call(cudnnConvolutionForward()), text status=2000
// Expect: trace: 1 x "name":"fprop",.*"kernel_flop":110592,.*"kernel_num_gb":1.12e-05,.*"flops from":"library"
// Expect: trace: 1 x "name":"fprop",.*"kernel_flop":110592,"achieved flops %":[^,]*,"flops from":"library"
// Expect: trace: 1 x "name":"fprop",.*"kernel_flop":55296,
// Expect: trace: 1 x "name":"[dw]grad",.*"kernel_flop":110592,.*BackwardData
// Expect: trace: 1 x "name":"[dw]grad",.*"kernel_flop":110592,.*BackwardFilter
#include "tests/e2e/programs/libraries/library_program.h"

constexpr int kFp32 = 0, kFp16 = 2, kVectors = 5;

static SimTensor* tensor(int n, int c, int h, int w, int type = kFp32) {
  const int sizes[] = {n, c, h, w}, distances[] = {c * h * w, h * w, w, 1};
  SimTensor* made = nullptr;
  cudnnCreateTensorDescriptor(&made);
  if (cudnnSetTensorNdDescriptor(made, type, 4, sizes, distances) != 0) exit(50);
  return made;
}

int main() {
  sim_program::make_context();
  const float zero = 0, one = 1;
  float data = 0;
  SimTensor *const x = tensor(2, 8, 10, 10), *const w = tensor(6, 8, 3, 3), *const y = tensor(2, 6, 8, 8);
  const auto forward = [&](SimTensor* from, SimTensor* filter) {
    return cudnnConvolutionForward(nullptr, &one, from, nullptr, filter, nullptr, nullptr, 1, nullptr, 0, &zero, y,
                                   &data);
  };
  if (forward(x, w) != 0) return 1;
  if (cudnnConvolutionBackwardData(nullptr, &one, w, nullptr, y, nullptr, nullptr, 0, nullptr, 0, &zero, x, &data) != 0)
    return 2;
  if (cudnnConvolutionBackwardFilter(nullptr, &one, x, nullptr, y, nullptr, nullptr, 3, nullptr, 0, &zero, w, &data) !=
      0)
    return 3;
  if (forward(x, tensor(6, 4, 3, 3, kFp16)) != 0) return 4;
  if (cudnnConvolutionBiasActivationForward(nullptr, &one, x, nullptr, w, nullptr, nullptr, 6, nullptr, 0, &zero, y,
                                            nullptr, y, nullptr, nullptr, y, &data) != 0)
    return 5;
  if (forward(tensor(2, 8, 10, 10, kVectors), w) != 0) return 6;
  if (forward(nullptr, w) != 2000) return 7;
  SIM_CHECK(cuCtxSynchronize());
  return 0;
}
