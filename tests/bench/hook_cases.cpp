// What runs under libprof.so: direct and hooked calls in turn in one process, and what each costs.
#include "tests/bench/hook_cases.h"

#include "tests/bench/direct_symbol.h"
#include "tests/sim/libraries.h"

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace prof::bench {
namespace {

struct Gpu {
  using Launch = decltype(&cuLaunchKernel);
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  Launch hooked = nullptr, direct = nullptr;
  CUfunction function = nullptr;
  CUcontext context = nullptr;

  template <class F> F get(const char* name) {
    const F found = reinterpret_cast<F>(dlsym(library, name));
    if (found == nullptr) fail(name);
    return found;
  }
  static void check(CUresult result) {
    if (result != CUDA_SUCCESS) fail("a call of the simulated driver failed");
  }
  Gpu() {
    if (library == nullptr) fail("no simulated driver");
    hooked = get<Launch>("cuLaunchKernel");
    direct = reinterpret_cast<Launch>(direct_symbol(library, "cuLaunchKernel"));
    if (direct == nullptr || direct == hooked) fail("cuLaunchKernel is not hooked: nothing to measure");
    CUdevice device = 0;
    CUmodule module = nullptr;
    check(get<decltype(&cuInit)>("cuInit")(0));
    check(get<decltype(&cuDeviceGet)>("cuDeviceGet")(&device, 0));
    check(get<decltype(&cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(&context, device));
    make_current();
    check(get<decltype(&cuModuleLoadData)>("cuModuleLoadData")(&module, "image"));
    check(get<decltype(&cuModuleGetFunction)>("cuModuleGetFunction")(&function, module, "bench_kernel"));
  }
  void make_current() { check(get<decltype(&cuCtxSetCurrent)>("cuCtxSetCurrent")(context)); }
  CUstream stream() {
    CUstream made = nullptr;
    check(get<decltype(&cuStreamCreate)>("cuStreamCreate")(&made, CU_STREAM_NON_BLOCKING));
    return made;
  }
};

void print_row(const char* what, const Spread& s) {
  std::printf("  %-34s %8.1f ns   (10-90 %%: %.1f-%.1f)\n", what, s.median, s.low, s.high);
}

// p99.9 of single calls includes one reading of the clock and the driver itself; the median of direct calls is taken off.
void print_singles(const Comparison& c) {
  const double ns = ns_per_tick();
  const auto at = [ns](const Histogram& h, double share) { return static_cast<double>(h.quantile(share)) * ns; };
  std::printf("  single calls, ns %19s %8s %8s %8s %10s\n", "p50", "p99", "p99.9", "p99.99", "largest");
  for (const auto& [name, h] : {std::pair<const char*, const Histogram*>{"direct", &c.direct}, {"hooked", &c.hooked}}) {
    std::printf("    %-30s %8.0f %8.0f %8.0f %8.0f %10.0f\n", name, at(*h, 0.5), at(*h, 0.99), at(*h, 0.999),
                at(*h, 0.9999), static_cast<double>(h->largest()) * ns);
  }
  std::printf("#tail %.1f\n", at(c.hooked, 0.999) - at(c.direct, 0.5));
}

template <class Body> void on_threads(int count, Body&& body) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      body(i, [&] {
        ++ready;
        while (ready.load() < count) std::this_thread::yield();
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void print_comparison(const Plan& plan, const Comparison& all) {
  const Spread direct = spread(all.direct_ns), hooked = spread(all.hooked_ns), added = spread(all.added_ns);
  print_row("direct", direct);
  print_row("hooked", hooked);
  print_row("the hook adds", added);
  std::printf("  %-34s %8.2f\n", "hooked / direct", hooked.median / direct.median);
  double mean = 0;
  for (const double ns : all.added_ns) mean += ns / static_cast<double>(all.added_ns.size());
  print_singles(all);
  std::printf("#mean %.2f\n#calls %llu\n", mean, static_cast<unsigned long long>(all.hooked_calls));
  std::printf("#faults %.8f\n",
              static_cast<double>(all.hooked_faults) / (static_cast<double>(all.added_ns.size()) * plan.batch));
}

// Calls `body` below so many more frames, in one of 64 places: the level from the top where a bit of `place` is set has another
// return address than where it is not.
template <class Body> __attribute__((noinline)) void below(int frames, unsigned place, Body& body) {
  if (frames == 0) {
    body();
  } else if ((place & 1) != 0) {
    below(frames - 1, place >> 1, body);
  } else {
    below(frames - 1, place >> 1, body);
    asm volatile("nop");
  }
  asm volatile("" ::: "memory");
}

void bench_launch(const Case& which) {
  Gpu gpu;
  const CUstream shared = gpu.stream();
  Plan plan;
  if (which.threads > 1) plan.rounds = 30, plan.single_batches = 100;
  std::vector<Comparison> results(static_cast<size_t>(which.threads));
  on_threads(which.threads, [&](int index, auto wait) {
    gpu.make_current();
    const CUstream stream = which.one_stream ? shared : gpu.stream();
    const auto launch = [&](Gpu::Launch function) {
      Gpu::check(function(gpu.function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
    };
    wait();
    if (which.places > 1) {  // both ways go down to the same place
      unsigned direct = 0, hooked = 0;
      const auto in_turn = [&](Gpu::Launch function, unsigned& place) {
        auto body = [&] { launch(function); };
        below(which.frames, place++ % static_cast<unsigned>(which.places), body);
      };
      compare(
          plan, results[static_cast<size_t>(index)], [&] { in_turn(gpu.direct, direct); },
          [&] { in_turn(gpu.hooked, hooked); });
      return;
    }
    auto body = [&] {
      compare(
          plan, results[static_cast<size_t>(index)], [&] { launch(gpu.direct); }, [&] { launch(gpu.hooked); });
    };
    below(which.frames, 0, body);
  });
  Comparison all;
  for (const Comparison& one : results) all.merge(one);
  print_comparison(plan, all);
}

// Nothing to call directly: without a tool, NVTX is a test of a pointer. The empty loop is the baseline.
void bench_nvtx() {
  Gpu gpu;  // a recorder may start with the first CUDA event only
  Gpu::check(gpu.hooked(gpu.function, 1, 1, 1, 32, 1, 1, 0, gpu.stream(), nullptr, nullptr));
  Comparison result;
  if (nvtxRangePushA("probe") < 0 || nvtxRangePop() < 0) fail("NVTX is not connected to libprof.so");
  compare(
      Plan{}, result,
      [] {
        asm volatile("" ::: "memory");
      },
      [] {
        nvtxRangePushA("forward");
        nvtxRangePop();
      });
  print_row("push + pop", spread(result.added_ns));
  print_singles(result);
  double mean = 0;
  for (const double ns : result.added_ns) mean += ns / static_cast<double>(result.added_ns.size());
  std::printf("#mean %.2f\n#calls %llu\n", mean, static_cast<unsigned long long>(result.hooked_calls));
}

// The function that the library has itself.
template <class Function> Function* direct_of(const char* library, Function*, const char* name) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  auto* const found = handle != nullptr ? reinterpret_cast<Function*>(direct_symbol(handle, name)) : nullptr;
  if (found == nullptr) fail(name);
  return found;
}
// Hooked first: what cuDNN's functions look up in its parts they keep.
#define BOTH_WAYS(library, function, call)                                \
  {                                                                       \
    call(&function);                                                      \
    const auto direct = direct_of(library, &function, #function);         \
    compare(                                                              \
        Plan{}, result, [&] { call(direct); }, [&] { call(&function); }); \
  }

// What the stand-ins have nothing to do for: they return at once.
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
  print_singles(result);
  double mean = 0;
  for (const double ns : result.added_ns) mean += ns / static_cast<double>(result.added_ns.size());
  std::printf("#mean %.2f\n#calls %llu\n", mean, static_cast<unsigned long long>(result.hooked_calls));
}

void bench_everything() {
  Gpu gpu;
  const CUstream stream = gpu.stream();
  const auto synchronize = gpu.get<decltype(&cuStreamSynchronize)>("cuStreamSynchronize");
  constexpr int kLaunches = 200'000;
  const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  for (int i = 0; i < kLaunches; ++i) {
    Gpu::check(gpu.hooked(gpu.function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
    if (i % 1000 == 999) Gpu::check(synchronize(stream));
  }
  std::printf("  %-34s %8.0f ns   (most of it is the simulated GPU)\n", "a launch",
              static_cast<double>(clock_ns(CLOCK_MONOTONIC) - begin) / kLaunches);
  std::printf("#calls %d\n", kLaunches);
}

// What a short thread pays: its first launch opens its part of the log and, with stacks, learns where its stack is.
void print_quantiles(std::initializer_list<std::pair<const char*, const Histogram*>> rows) {
  const double ns = ns_per_tick();
  std::printf("  single calls, ns %19s %8s %8s\n", "p50", "p99", "largest");
  for (const auto& [name, h] : rows) {
    std::printf("    %-30s %8.0f %8.0f %8.0f\n", name, static_cast<double>(h->quantile(0.5)) * ns,
                static_cast<double>(h->quantile(0.99)) * ns, static_cast<double>(h->largest()) * ns);
  }
}

void bench_threads(const Case& which) {
  Gpu gpu;
  const CUstream stream = gpu.stream();
  Histogram first, second;
  constexpr int kThreads = 3000;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([&] {
      gpu.make_current();
      auto body = [&] {
        for (Histogram* const into : {&first, &second}) {
          const uint64_t begin = ticks();
          Gpu::check(gpu.hooked(gpu.function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
          into->add(ticks() - begin);
        }
      };
      below(which.frames, 0, body);
    }).join();
  }
  print_quantiles({{"first", &first}, {"second", &second}});
  std::printf("#first %.1f\n#calls %d\n", static_cast<double>(first.quantile(0.5)) * ns_per_tick(), 2 * kThreads);
}

// A place in code for each number.
template <int number, class Body> __attribute__((noinline)) void at_place(Body& body) {
  body();
  asm volatile("" ::"i"(number) : "memory");
}
template <class Body, int... numbers> void at_places(Body& body, std::integer_sequence<int, numbers...>) {
  for (void (*const place)(Body&) : {at_place<numbers, Body>...}) place(body);
}

// Single launches whose stack nobody has seen: of places that are known, in another order each; and with one new place each.
void bench_first_sights(const Case& which) {
  Gpu gpu;
  gpu.make_current();
  const CUstream stream = gpu.stream();
  Histogram again, new_stack, new_place;
  Histogram* into = &again;
  auto launch = [&] {
    const uint64_t begin = ticks();
    Gpu::check(gpu.hooked(gpu.function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
    into->add(ticks() - begin);
  };
  constexpr unsigned kStacks = 20000;
  constexpr int kPlaces = 1500;
  for (const unsigned place : {0u, ~0u}) below(which.frames, place, launch);  // now both ways down are known
  again = {};
  for (unsigned i = 0; i < kStacks; ++i) below(which.frames, 0, launch);
  into = &new_stack;
  for (unsigned i = 0; i < kStacks; ++i) below(which.frames, i + 1, launch);
  into = &new_place;
  auto everywhere = [&] { at_places(launch, std::make_integer_sequence<int, kPlaces>()); };
  below(which.frames, 0, everywhere);
  print_quantiles(
      {{"a stack that is known", &again}, {"a new stack of known places", &new_stack}, {"a new place", &new_place}});
  std::printf("#calls %u\n", 2 * kStacks + kPlaces);
}

}  // namespace

int run_case(const Case& which) {
  ns_per_tick();
  wake_processor();
  switch (which.what) {
    case Case::Launch: bench_launch(which); break;
    case Case::Nvtx: bench_nvtx(); break;
    case Case::Library: bench_library(which); break;
    case Case::Everything: bench_everything(); break;
    case Case::Threads: bench_threads(which); break;
    case Case::FirstSights: bench_first_sights(which); break;
  }
  return 0;
}

}  // namespace prof::bench
