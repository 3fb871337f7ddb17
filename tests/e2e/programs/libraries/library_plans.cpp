// Plans of cuDNN's graphs are made before the recording starts, from descriptors that no longer exist when the plans
// run. Each call has the sizes of its products. Plans with too many products, or whose creation was not seen, have
// none. An engine that the program chose is recorded. 2·(8·32·32·32)·(16·3·3) = 75497472 FLOPs. An attention is
// two products, of queries and keys, and of weights and values: 2·(2·4·128·128)·64 + 2·(2·4·128·64)·128 =
// 33554432. As one operation of cuDNN it has the same number, 2·2·4·128·128·(64 + 64), and its gradient
// 2·2·4·128·128·(3·64 + 2·64) = 83886080. If the keys are in pages, their number is unknown.
// Env: PROF_LIBS=1 PROF_START=profiler
// Link: libraries
// Expect: status 0
// Expect: log 1: 11 library_call, 0 lost, whole, 11 kernel_launch(fprop), 11 kernel_launch(nchwToNhwc)
// Expect: log 1: 1 library_call(cudnnBackendExecute(op=conv_forward, x=8x16x32x32, w=32x16x3x3, y=8x32x32x32, A=fp32, B=fp32, C=fp32, operations=1))
// Expect: log 1: 1 library_call(cudnnBackendExecute(op=conv_forward, x=8x16x32x32, w=32x16x3x3, y=8x32x32x32, A=bf16, B=bf16, C=bf16, operations=2, engine=38))
// Expect: log 1: 1 library_call(cudnnBackendExecute(op=conv_weight_gradient, x=8x16x32x32, w=32x16x3x3, y=8x32x32x32, A=fp32, B=fp32, C=fp32, operations=1))
// Expect: log 1: 1 library_call(cudnnBackendExecute(op=matmul, x=2x4x128x64, w=2x4x64x128, y=2x4x128x128, A=bf16, B=bf16, C=fp32, op=matmul, x=2x4x128x128, w=2x4x128x64, y=2x4x128x64, A=bf16, B=bf16, C=bf16, operations=3))
// Expect: log 1: 1 library_call(cudnnBackendExecute(op=conv_forward, x=8x16x32x32, w=32x16x3x3, y=8x32x32x32, A=fp32, B=fp32, C=fp32, op=conv_forward, x=8x16x32x32, w=32x16x3x3, y=8x32x32x32, A=fp32, B=fp32, C=fp32, op=conv_forward, x=8x16x32x32, w=32x16x3x3, y=8x32x32x32, A=fp32, B=fp32, C=fp32, op=conv_forward, x=8x16x32x32, w=32x16x3x3, y=8x32x32x32, A=fp32, B=fp32, C=fp32, op=conv_forward, x=8x16x32x32, w=32x16x3x3, y=8x32x32x32, A=fp32, B=fp32, C=fp32, operations=5))
// Expect: log 1: 1 library_call(cudnnBackendExecute(op=attention, x=2x4x128x64, w=2x2x128x64, v=2x2x128x64, y=2x4x128x64, A=bf16, B=bf16, V=bf16, C=bf16, operations=1))
// Expect: log 1: 1 library_call(cudnnBackendExecute(op=attention_gradient, x=2x4x128x64, w=2x2x128x64, v=2x2x128x64, y=2x4x128x64, A=bf16, B=bf16, V=bf16, C=bf16, operations=1))
// Expect: log 1: 1 library_call(cudnnBackendExecute(op=attention, x=2x4x128x64, w=?, v=?, y=2x4x128x64, A=bf16, B=bf16, V=bf16, C=bf16, operations=1))
// Expect: log 1: 3 library_call(cudnnBackendExecute())
// Expect: trace: 3 x "name":"fprop",.*"kernel_flop":75497472[,}].*"flops from":"library"
// Expect: trace: 2 x "name":"fprop",.*"kernel_flop":33554432[,}].*"flops from":"library"
// Expect: trace: 1 x "name":"fprop",.*"kernel_flop":83886080[,}].*"flops from":"library"
// Expect: trace: 1 x "name":"fprop",.*"kernel_flop":377487360[,}].*"flops from":"library"
// Expect: trace: 0 x "name":"nchwToNhwc",.*"kernel_flop"
#include "tests/e2e/programs/libraries/library_program.h"

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

// `attribute`: the attribute of W, the first of the operation's three. X and Y follow it; in the gradient of the weight
// they precede it.
static SimDescriptor* convolution(int attribute, int type) {
  SimDescriptor* const operation = made();
  SimDescriptor* const tensors[] = {tensor(type, {32, 16, 3, 3}), tensor(type, {8, 16, 32, 32}),
                                    tensor(type, {8, 32, 32, 32})};
  for (int i = 0; i < 3; ++i) set(operation, attribute + i, tensors[i]);
  for (SimDescriptor* const each : tensors) cudnnBackendDestroyDescriptor(each);
  return operation;
}

static SimDescriptor* product(std::vector<int64_t> a, std::vector<int64_t> b, std::vector<int64_t> c, int type_c) {
  SimDescriptor* const operation = made();
  set(operation, 1520, tensor(9, a)), set(operation, 1521, tensor(9, b)), set(operation, 1522, tensor(type_c, c));
  return operation;
}

// `attribute`: the attribute of the queries; keys, values and output follow it.
static SimDescriptor* attention(int attribute, bool paged = false) {
  SimDescriptor* const operation = made();
  SimDescriptor* const tensors[] = {tensor(9, {2, 4, 128, 64}), tensor(9, {2, 2, 128, 64}), tensor(9, {2, 2, 128, 64}),
                                    tensor(9, {2, 4, 128, 64})};
  for (int i = 0; i < 4; ++i) set(operation, attribute + i, tensors[i]);
  if (paged) set(operation, 2807, tensor(4, {2, 1, 8, 1}));
  for (SimDescriptor* const each : tensors) cudnnBackendDestroyDescriptor(each);
  return operation;
}

// With an engine that the program chose, or one that heuristics choose.
static SimDescriptor* plan_of(std::vector<SimDescriptor*> operations, int64_t engine = -1) {
  SimDescriptor *const graph = made(), *const chooser = made(), *plan = made();
  SimDescriptor* configuration = made();
  cudnnBackendSetAttribute(graph, 801, 15, static_cast<int64_t>(operations.size()), operations.data());
  if (engine < 0) {
    int64_t given = 0;
    set(chooser, 201, graph);
    cudnnBackendGetAttribute(chooser, 202, 15, 1, &given, &configuration);
  } else {
    cudnnBackendSetAttribute(chooser, 1301, 3, 1, &engine);
    set(chooser, 1300, graph);
    set(configuration, 300, chooser);
  }
  set(plan, 401, configuration);
  for (SimDescriptor* const each : {graph, chooser, configuration}) cudnnBackendDestroyDescriptor(each);
  for (SimDescriptor* const each : operations) cudnnBackendDestroyDescriptor(each);
  return plan;
}

static std::vector<SimDescriptor*> convolutions(int count) {
  std::vector<SimDescriptor*> operations;
  for (int i = 0; i < count; ++i) operations.push_back(convolution(703, 0));
  return operations;
}

int main() {
  sim_program::make_context();
  SimDescriptor* const composed = plan_of({product({2, 4, 128, 64}, {2, 4, 64, 128}, {2, 4, 128, 128}, 0), made(),
                                           product({2, 4, 128, 128}, {2, 4, 128, 64}, {2, 4, 128, 64}, 9)});
  SimDescriptor* const plans[] = {plan_of({convolution(703, 0)}),
                                  plan_of({convolution(703, 9), made()}, 38),
                                  plan_of({convolution(715, 0)}),
                                  composed,
                                  plan_of({attention(2800)}),
                                  plan_of({attention(2851)}),
                                  plan_of({attention(2800, true)}),
                                  plan_of(convolutions(5)),
                                  plan_of(convolutions(6)),
                                  plan_of({made()}),
                                  made()};
  SIM_CHECK(cuProfilerStart());
  for (SimDescriptor* const plan : plans) {
    if (cudnnBackendExecute(nullptr, plan, nullptr) != 0) return 1;
  }
  SIM_CHECK(cuCtxSynchronize());
  SIM_CHECK(cuProfilerStop());
  for (SimDescriptor* const plan : plans) cudnnBackendDestroyDescriptor(plan);
  return 0;
}
