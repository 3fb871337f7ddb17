// The program that scripts/demo records: a small training loop on the driver API with named kernels, NVTX ranges, three
// streams and copies. It runs on a real GPU (its kernels are PTX, compiled by the driver) and on the simulated one. It
// has two faults that the trace shows: every fourth batch is late, and the copy of the loss to the host waits for the
// whole device. Usage: demo_app [STEPS]
// Link: none
// Expect: status 0
// Expect: stdout demo_app: 20 steps
// Expect: log 1: 440 kernel_launch, 80 kernel_launch(gemm_f32_128x64), 25 memory_launch, 440 kernel_run, 24 copy_run
// Expect: log 1: 264 nvtx_push, 264 nvtx_pop, 4 nvtx_push(read loss), 0 lost, whole
#include <cuda.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

// cuda.h renames some of these (cuMemAlloc is cuMemAlloc_v2); the list is expanded after that, so names match.
// clang-format 14 indents such a list again at each run.
// clang-format off
#define DEMO_FUNCTIONS(X)                                                                                         \
  X(cuInit)                                                                                                       \
  X(cuDeviceGet) X(cuDeviceGetName) X(cuCtxCreate) X(cuCtxSynchronize) X(cuModuleLoadData) X(cuModuleGetFunction) \
      X(cuMemAlloc) X(cuMemFree) X(cuMemHostAlloc) X(cuMemFreeHost) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync)     \
          X(cuMemsetD32Async) X(cuStreamCreate) X(cuStreamSynchronize) X(cuStreamWaitEvent) X(cuStreamDestroy)    \
              X(cuEventCreate) X(cuEventRecord) X(cuEventSynchronize) X(cuEventDestroy) X(cuLaunchKernel)         \
                  X(cuModuleUnload) X(cuCtxDestroy)
// clang-format on
#define DEMO_TEXT(name) #name

struct Driver {
#define DEMO_MEMBER(name) decltype(&::name) name = nullptr;
  DEMO_FUNCTIONS(DEMO_MEMBER)
#undef DEMO_MEMBER

  Driver() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) fail("no CUDA driver", dlerror());
#define DEMO_LOAD(name)                                                     \
  name = reinterpret_cast<decltype(name)>(dlsym(library, DEMO_TEXT(name))); \
  if (name == nullptr) fail("the driver lacks", DEMO_TEXT(name));
    DEMO_FUNCTIONS(DEMO_LOAD)
#undef DEMO_LOAD
  }

  [[noreturn]] static void fail(const char* what, const char* detail) {
    std::fprintf(stderr, "demo_app: %s: %s\n", what, detail);
    std::exit(1);
  }
};

void check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) Driver::fail(what, std::to_string(result).c_str());
}

struct Range {
  explicit Range(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

// One kernel of the module: `rounds` multiply-adds on each of the elements of `data`.
std::string ptx_of(const char* kernel) {
  return std::string(".visible .entry ") + kernel + R"((.param .u64 data, .param .u32 count, .param .u32 rounds) {
  .reg .pred %p<2>; .reg .b32 %r<7>; .reg .f32 %f<1>; .reg .b64 %d<4>;
  ld.param.u64 %d0, [data]; ld.param.u32 %r0, [count]; ld.param.u32 %r1, [rounds];
  cvta.to.global.u64 %d1, %d0;
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p0, %r5, %r0; @%p0 bra DONE;
  mul.wide.u32 %d2, %r5, 4; add.u64 %d3, %d1, %d2; ld.global.f32 %f0, [%d3]; mov.u32 %r6, 0;
LOOP:
  setp.ge.u32 %p1, %r6, %r1; @%p1 bra STORE;
  fma.rn.f32 %f0, %f0, 0f3F7F0000, 0f3C000000; add.u32 %r6, %r6, 1; bra LOOP;
STORE:
  st.global.f32 [%d3], %f0;
DONE:
  ret;
}
)";
}

enum Kernel : uint8_t { Preprocess, Gemm, BiasRelu, SoftmaxLoss, GemmGradInput, GemmGradWeights, Adam, kKernelCount };
struct KernelInfo {
  const char* name;
  unsigned rounds;  // rounds of multiply-adds; the simulated GPU takes its times from demo_app.sim instead
};
constexpr std::array<KernelInfo, kKernelCount> kKernels = {{{"preprocess_batch", 2000},
                                                            {"gemm_f32_128x64", 12000},
                                                            {"bias_relu_f32", 300},
                                                            {"softmax_cross_entropy_f32", 900},
                                                            {"gemm_f32_128x64_grad_input", 12000},
                                                            {"gemm_f32_128x64_grad_weights", 13000},
                                                            {"adam_update_f32", 1500}}};
constexpr unsigned kElements = 1u << 18;
constexpr size_t kBytes = kElements * sizeof(float);
constexpr int kLayers = 4;

class Training {
 public:
  Training() {
    check(cu_.cuInit(0), "cuInit");
    check(cu_.cuDeviceGet(&device_, 0), "cuDeviceGet");
    check(cu_.cuDeviceGetName(device_name_.data(), static_cast<int>(device_name_.size()), device_), "cuDeviceGetName");
    check(cu_.cuCtxCreate(&context_, nullptr, 0, device_), "cuCtxCreate");
    std::string ptx = ".version 6.4\n.target sm_75\n.address_size 64\n";
    for (const KernelInfo& kernel : kKernels) ptx += ptx_of(kernel.name);
    check(cu_.cuModuleLoadData(&module_, ptx.c_str()), "cuModuleLoadData");
    for (int k = 0; k < kKernelCount; ++k) {
      check(cu_.cuModuleGetFunction(&functions_[k], module_, kKernels[k].name), kKernels[k].name);
    }
    for (CUstream* stream : {&compute_, &copy_in_, &copy_out_}) {
      check(cu_.cuStreamCreate(stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    }
    for (CUevent* event : {&batch_ready_, &batch_used_, &loss_ready_}) {
      check(cu_.cuEventCreate(event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    }
    check(cu_.cuMemAlloc(&batch_, kBytes), "cuMemAlloc");
    check(cu_.cuMemAlloc(&weights_, kBytes), "cuMemAlloc");
    check(cu_.cuMemHostAlloc(&host_, kBytes, 0), "cuMemHostAlloc");
    check(cu_.cuMemsetD32Async(weights_, 0x3c000000, kElements, compute_), "cuMemsetD32Async");
    check(cu_.cuCtxSynchronize(), "cuCtxSynchronize");
    nvtxNameOsThreadA(0, "training loop");
  }

  ~Training() {
    cu_.cuCtxSynchronize();
    cu_.cuMemFreeHost(host_);
    for (const CUdeviceptr memory : {batch_, weights_}) cu_.cuMemFree(memory);
    for (CUevent event : {batch_ready_, batch_used_, loss_ready_}) cu_.cuEventDestroy(event);
    for (CUstream stream : {compute_, copy_in_, copy_out_}) cu_.cuStreamDestroy(stream);
    cu_.cuModuleUnload(module_);
    cu_.cuCtxDestroy(context_);
  }
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  const char* device_name() const { return device_name_.data(); }

  void step(int number) {
    const Range range("step " + std::to_string(number));
    load_batch(number);
    forward();
    backward();
    {
      const Range optimizer("optimizer");
      for (int layer = 0; layer < kLayers; ++layer) launch(Adam, compute_, weights_);
    }
    if (number % 5 == 4) read_loss();
  }

 private:
  void load_batch(int number) {
    const Range range("load batch");
    // A slow disk: every fourth batch is late, and the GPU becomes idle.
    std::this_thread::sleep_for(std::chrono::microseconds(number % 4 == 3 ? 3000 : 200));
    check(cu_.cuStreamWaitEvent(copy_in_, batch_used_, 0), "cuStreamWaitEvent");
    check(cu_.cuMemcpyHtoDAsync(batch_, host_, kBytes, copy_in_), "cuMemcpyHtoDAsync");
    launch(Preprocess, copy_in_, batch_);
    check(cu_.cuEventRecord(batch_ready_, copy_in_), "cuEventRecord");
    check(cu_.cuStreamWaitEvent(compute_, batch_ready_, 0), "cuStreamWaitEvent");
  }

  void forward() {
    const Range range("forward");
    for (int layer = 0; layer < kLayers; ++layer) {
      const Range one("layer " + std::to_string(layer));
      launch(Gemm, compute_, batch_);
      launch(BiasRelu, compute_, batch_);
    }
    launch(SoftmaxLoss, compute_, batch_);
    check(cu_.cuEventRecord(loss_ready_, compute_), "cuEventRecord");
  }

  void backward() {
    const Range range("backward");
    for (int layer = kLayers; layer-- > 0;) {
      const Range one("layer " + std::to_string(layer));
      launch(GemmGradInput, compute_, batch_);
      launch(GemmGradWeights, compute_, weights_);
    }
    check(cu_.cuEventRecord(batch_used_, compute_), "cuEventRecord");
  }

  void read_loss() {
    const Range range("read loss");
    check(cu_.cuStreamWaitEvent(copy_out_, loss_ready_, 0), "cuStreamWaitEvent");
    check(cu_.cuMemcpyDtoHAsync(host_, batch_, sizeof(float), copy_out_), "cuMemcpyDtoHAsync");
    check(cu_.cuCtxSynchronize(), "cuCtxSynchronize");  // waits for the optimizer too, which the loss does not need
  }

  void launch(Kernel kernel, CUstream stream, CUdeviceptr data) {
    unsigned count = kElements;
    unsigned rounds = kKernels[kernel].rounds;
    std::array<void*, 3> arguments = {&data, &count, &rounds};
    check(
        cu_.cuLaunchKernel(functions_[kernel], kElements / 256, 1, 1, 256, 1, 1, 0, stream, arguments.data(), nullptr),
        kKernels[kernel].name);
  }

  Driver cu_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  std::array<CUfunction, kKernelCount> functions_{};
  CUstream compute_ = nullptr, copy_in_ = nullptr, copy_out_ = nullptr;
  CUevent batch_ready_ = nullptr, batch_used_ = nullptr, loss_ready_ = nullptr;
  CUdeviceptr batch_ = 0, weights_ = 0;
  void* host_ = nullptr;
  std::array<char, 128> device_name_{};
};

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 20;
  Training training;
  for (int number = 0; number < steps; ++number) training.step(number);
  std::printf("demo_app: %d steps on %s\n", steps, training.device_name());
}
