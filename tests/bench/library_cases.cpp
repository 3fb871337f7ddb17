// Calls of CUDA's libraries with PROF_LIBS=1, of simulated libraries that return at once: directly and through the hook
// in turn.
#include "tests/bench/hook_measures.h"
#include "tests/sim/libraries.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace prof::bench {
namespace {

// The function in the library itself.
template <class Function> Function* direct_of(const char* library, Function*, const char* name) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  auto* const found = handle != nullptr ? reinterpret_cast<Function*>(direct_symbol(handle, name)) : nullptr;
  if (found == nullptr) fail(name);
  return found;
}
// The hooked call is first, because cuDNN's functions keep the functions that they find in the sublibraries.
#define BOTH_WAYS(library, function, call)                                \
  {                                                                       \
    call(&function);                                                      \
    const auto direct = direct_of(library, &function, #function);         \
    compare(                                                              \
        Plan{}, result, [&] { call(direct); }, [&] { call(&function); }); \
  }

// Calls with nothing to do, for which the simulated libraries return at once.
void bench_product(Comparison& result) {
  SimBlas* blas = nullptr;
  cublasCreate_v2(&blas);
  const float one = 1;
  const auto call = [&](decltype(&cublasSgemm_v2) function) {
    function(blas, 0, 1, 0, 32, 64, &one, nullptr, 1, nullptr, 32, &one, nullptr, 1);
  };
  BOTH_WAYS("libcublas.so.13", cublasSgemm_v2, call)
}

void bench_lt_product(Comparison& result) {
  SimMatmul* matmul = nullptr;
  SimLayout *a = nullptr, *b = nullptr, *d = nullptr;
  const float one = 1;
  const SimAlgorithm algorithm = {{21, 20}};
  cublasLtMatmulDescCreate(&matmul, 68, 0);
  cublasLtMatrixLayoutCreate(&a, 14, 0, 64, 1);
  cublasLtMatrixLayoutCreate(&b, 14, 64, 32, 64);
  cublasLtMatrixLayoutCreate(&d, 14, 0, 32, 1);
  const auto call = [&](decltype(&cublasLtMatmul) function) {
    function(nullptr, matmul, &one, nullptr, a, nullptr, b, &one, nullptr, d, nullptr, d, &algorithm, nullptr, 0,
             nullptr);
  };
  BOTH_WAYS("libcublasLt.so.13", cublasLtMatmul, call)
}

void bench_sparse_product(Comparison& result) {
  SimSparse *handle = nullptr, *a = nullptr, *b = nullptr, *c = nullptr;
  const float one = 1;
  cusparseCreate(&handle);
  cusparseCreateCsr(&a, 0, 64, 0, nullptr, nullptr, nullptr, 2, 2, 0, 0);
  cusparseCreateDnMat(&b, 64, 32, 64, nullptr, 0, 1);
  cusparseCreateDnMat(&c, 0, 32, 1, nullptr, 0, 1);
  const auto call = [&](decltype(&cusparseSpMM) function) {
    function(handle, 0, 0, &one, a, b, &one, c, 0, 0, nullptr);
  };
  BOTH_WAYS("libcusparse.so.12", cusparseSpMM, call)
}

void bench_convolution(Comparison& result) {
  SimTensor *x = nullptr, *w = nullptr, *y = nullptr;
  const float one = 1;
  for (SimTensor** const each : {&x, &w, &y}) cudnnCreateTensorDescriptor(each);
  cudnnSetTensor4dDescriptor(x, 0, 0, 0, 64, 56, 56);
  cudnnSetFilter4dDescriptor(w, 0, 0, 64, 64, 3, 3);
  cudnnSetTensor4dDescriptor(y, 0, 0, 0, 64, 56, 56);
  const auto call = [&](decltype(&cudnnConvolutionForward) function) {
    function(nullptr, &one, x, nullptr, w, nullptr, nullptr, 1, nullptr, 0, &one, y, nullptr);
  };
  BOTH_WAYS("libcudnn.so.9", cudnnConvolutionForward, call)
}

void bench_descriptor(Comparison& result) {
  SimTensor* tensor = nullptr;
  cudnnCreateTensorDescriptor(&tensor);
  const auto call = [&](decltype(&cudnnSetTensor4dDescriptor) function) { function(tensor, 0, 0, 8, 64, 56, 56); };
  BOTH_WAYS("libcudnn.so.9", cudnnSetTensor4dDescriptor, call)
}

void bench_plan(Comparison& result) {
  const auto made = [](int type) {
    SimDescriptor* descriptor = nullptr;
    cudnnBackendCreateDescriptor(type, &descriptor);
    return descriptor;
  };
  const auto set = [](SimDescriptor* descriptor, int attribute, SimDescriptor* other) {
    cudnnBackendSetAttribute(descriptor, attribute, 15, 1, &other);
  };
  SimDescriptor *const operation = made(0), *const graph = made(0), *const configuration = made(0),
                       *const plan = made(kSimPlanOfNothing);
  const int type = 0;
  const int64_t sizes[] = {8, 16, 32, 32};
  for (const int attribute : {1520, 1521, 1522}) {
    SimDescriptor* const tensor = made(0);
    cudnnBackendSetAttribute(tensor, 901, 1, 1, &type);
    cudnnBackendSetAttribute(tensor, 902, 3, 4, sizes);
    set(operation, attribute, tensor);
  }
  set(graph, 801, operation), set(configuration, 1300, graph), set(plan, 401, configuration);
  const auto call = [&](decltype(&cudnnBackendExecute) function) { function(nullptr, plan, nullptr); };
  BOTH_WAYS("libcudnn.so.9", cudnnBackendExecute, call)
}

void bench_transform(Comparison& result) {
  int plan = 0;
  cufftPlan1d(&plan, 1024, 41, 16);
  const auto call = [&](decltype(&cufftExecC2C) function) { function(plan, kSimNothing, kSimNothing, -1); };
  BOTH_WAYS("libcufft.so.12", cufftExecC2C, call)
}

void bench_collective(Comparison& result) {
  SimComm* ranks[2] = {};
  ncclCommInitAll(ranks, 2, nullptr);
  const auto call = [&](decltype(&ncclAllReduce) function) { function(nullptr, nullptr, 0, 7, 0, ranks[0], nullptr); };
  BOTH_WAYS("libnccl.so.2", ncclAllReduce, call)
}

}  // namespace

void bench_library(const Case& which) {
  constexpr struct {
    std::string_view name;
    void (*run)(Comparison& result);
  } kFunctions[] = {{"library_lt", bench_lt_product},
                    {"library_sparse", bench_sparse_product},
                    {"library_convolution", bench_convolution},
                    {"library_descriptors", bench_descriptor},
                    {"library_plan", bench_plan},
                    {"library_fft", bench_transform},
                    {"library_collective", bench_collective}};
  Gpu gpu;  // a recorder starts with the first CUDA event
  Gpu::check(gpu.hooked(gpu.function, 1, 1, 1, 32, 1, 1, 0, gpu.stream(), nullptr, nullptr));
  const auto* const found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                         [&](const auto& each) { return each.name == which.name; });
  Comparison result;
  (found == std::end(kFunctions) ? bench_product : found->run)(result);
  print_row("added to a call", spread(result.added_ns));
  print_added(result);
}

}  // namespace prof::bench
