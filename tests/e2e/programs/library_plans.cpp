// Plans of cuDNN's graphs are made before the recording begins, of descriptors that are gone when they run: each call has the sizes of its
// one convolution, and of several products, or of a plan that nobody saw made, none. 2·(8·32·32·32)·(16·3·3) = 75497472 FLOPs.
// Env: PROF_LIBS=1 PROF_START=profiler
// Link: libraries
// Expect: status 0
// Expect: log 1: 5 library_call, 0 lost, whole, 5 kernel_launch(fprop), 5 kernel_launch(nchwToNhwc)
// Expect: log 1: 1 library_call(cudnnBackendExecute(op=conv_forward, x=8x16x32x32, w=32x16x3x3, y=8x32x32x32, A=fp32, B=fp32, C=fp32, operations=1))
// Expect: log 1: 1 library_call(cudnnBackendExecute(op=conv_forward, x=8x16x32x32, w=32x16x3x3, y=8x32x32x32, A=bf16, B=bf16, C=bf16, operations=2))
// Expect: log 1: 1 library_call(cudnnBackendExecute(op=conv_weight_gradient, x=8x16x32x32, w=32x16x3x3, y=8x32x32x32, A=fp32, B=fp32, C=fp32, operations=1))
// Expect: log 1: 2 library_call(cudnnBackendExecute())
// Expect: trace: 3 x "name":"fprop",.*"kernel_flop":75497472[,}].*"flops from":"library"
// Expect: trace: 0 x "name":"nchwToNhwc",.*"kernel_flop"
#include "tests/e2e/programs/library_program.h"

#include <cudaProfiler.h>

#include <vector>

static SimDescriptor* made() {
  SimDescriptor* descriptor = nullptr;
  if (cudnnBackendCreateDescriptor(0, &descriptor) != 0) exit(50);
  return descriptor;
}
static void set(SimDescriptor* descriptor, int name, SimDescriptor* other) {
  if (cudnnBackendSetAttribute(descriptor, name, 15, 1, &other) != 0) exit(51);
}
static SimDescriptor* tensor(int type, std::vector<int64_t> sizes) {
  SimDescriptor* const descriptor = made();
  cudnnBackendSetAttribute(descriptor, 901, 1, 1, &type);
  cudnnBackendSetAttribute(descriptor, 902, 3, static_cast<int64_t>(sizes.size()), sizes.data());
  return descriptor;
}

// `attribute`: of W, the first of the operation's three; X and Y are behind it, in the gradient of the weight before it.
static SimDescriptor* convolution(int attribute, int type) {
  SimDescriptor* const operation = made();
  SimDescriptor* const tensors[] = {tensor(type, {32, 16, 3, 3}), tensor(type, {8, 16, 32, 32}),
                                    tensor(type, {8, 32, 32, 32})};
  for (int i = 0; i < 3; ++i) set(operation, attribute + i, tensors[i]);
  for (SimDescriptor* const each : tensors) cudnnBackendDestroyDescriptor(each);
  return operation;
}

static SimDescriptor* plan_of(std::vector<SimDescriptor*> operations, bool by_heuristics) {
  SimDescriptor *const graph = made(), *const chooser = made(), *plan = made();
  SimDescriptor* configuration = made();
  cudnnBackendSetAttribute(graph, 801, 15, static_cast<int64_t>(operations.size()), operations.data());
  if (by_heuristics) {
    int64_t given = 0;
    set(chooser, 201, graph);
    cudnnBackendGetAttribute(chooser, 202, 15, 1, &given, &configuration);
  } else {
    set(chooser, 1300, graph);
    set(configuration, 300, chooser);
  }
  set(plan, 401, configuration);
  for (SimDescriptor* const each : {graph, chooser, configuration}) cudnnBackendDestroyDescriptor(each);
  for (SimDescriptor* const each : operations) cudnnBackendDestroyDescriptor(each);
  return plan;
}

int main() {
  sim_program::make_context();
  SimDescriptor* const plans[] = {plan_of({convolution(703, 0)}, true), plan_of({convolution(703, 9), made()}, false),
                                  plan_of({convolution(715, 0)}, true),
                                  plan_of({convolution(703, 0), convolution(703, 0)}, true), made()};
  SIM_CHECK(cuProfilerStart());
  for (SimDescriptor* const plan : plans) {
    if (cudnnBackendExecute(nullptr, plan, nullptr) != 0) return 1;
  }
  SIM_CHECK(cuCtxSynchronize());
  SIM_CHECK(cuProfilerStop());
  for (SimDescriptor* const plan : plans) cudnnBackendDestroyDescriptor(plan);
  return 0;
}
