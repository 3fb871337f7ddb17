// Kernels whose time is known to be at certain places, for the step `pc_sampling` of scripts/gpu-check.
//
//   pc_sampling cases [DEVICE]   each for about a second: a kernel that waits for memory, a kernel with two loops of 90
//                                and 10 % of its time, a kernel replayed in a graph, a kernel compiled from PTX. Prints
//                                a checksum
//   pc_sampling unloads N        N times: load a module of PTX with a kernel of its own name, run it, unload it
//   pc_sampling loop N           N launches of an empty kernel, then 100 of the memory kernel: prints "us_per_launch X
//                                us_per_kernel Y", the medians of 20 batches each
//   pc_sampling own              samples PCs itself, after the first kernel: prints the results of its calls, and
//                                whether it got samples
#include "check.cuh"

#include <cuda.h>
#include <cupti_pcsampling.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

extern "C" __global__ void empty_kernel() {}

// Each load depends on the one before it.
extern "C" __global__ void memory_kernel(const unsigned* next, unsigned* out, unsigned count, int steps) {
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 977u % count;
  for (int i = 0; i < steps; ++i) at = next[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

// The two loops have the same body of dependent operations, which the compiler cannot join.
extern "C" __global__ void loops_kernel(float* out, int long_steps, int short_steps) {
  float x = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < long_steps; ++i) asm volatile("fma.rn.f32 %0, %0, %0, 0f3f000000;" : "+f"(x));
#pragma unroll 1
  for (int i = 0; i < short_steps; ++i) asm volatile("fma.rn.f32 %0, %0, %0, 0f3e800000;" : "+f"(x));
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

extern "C" __global__ void graph_kernel(unsigned long long ns) { spin_for(ns); }

#define DRIVER(call)                                                                  \
  do {                                                                                \
    const CUresult driver_result = (call);                                            \
    if (driver_result != CUDA_SUCCESS) {                                              \
      std::fprintf(stderr, "%s: error %d\n", #call, static_cast<int>(driver_result)); \
      std::exit(101);                                                                 \
    }                                                                                 \
  } while (0)

// libcuda is opened, because programs are not linked with it.
static void* driver_function(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  return dlsym(library, name);
}
template <class Function> static Function* driver(const char* name) {
  return reinterpret_cast<Function*>(driver_function(name));
}

// The kernel runs until its argument of cycles are over.
static std::string ptx(const std::string& name) {
  return ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry " + name +
         "(.param .u32 cycles)\n{\n.reg .u32 %r<4>;\n.reg .pred %p<2>;\nld.param.u32 %r1, [cycles];\n"
         "mov.u32 %r2, %clock;\nL:\nmov.u32 %r3, %clock;\nsub.u32 %r3, %r3, %r2;\nsetp.lt.u32 %p1, %r3, %r1;\n"
         "@%p1 bra L;\nret;\n}\n";
}

static void run_ptx(const std::string& name, unsigned cycles, bool unload) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  DRIVER(driver<decltype(cuModuleLoadData)>("cuModuleLoadData")(&module, ptx(name).c_str()));
  DRIVER(driver<decltype(cuModuleGetFunction)>("cuModuleGetFunction")(&function, module, name.c_str()));
  void* arguments[] = {&cycles};
  DRIVER(driver<decltype(cuLaunchKernel)>("cuLaunchKernel")(function, 256, 1, 1, 128, 1, 1, 0, nullptr, arguments,
                                                            nullptr));
  CHECK(cudaDeviceSynchronize());
  if (unload) DRIVER(driver<decltype(cuModuleUnload)>("cuModuleUnload")(module));
}

static double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
template <class Run> static void for_a_second(Run&& run) {
  for (const double end = seconds() + 1; seconds() < end;) {
    run();
    CHECK(cudaDeviceSynchronize());
  }
}

constexpr unsigned kCount = 64u << 20;
static unsigned *g_next, *g_out;

static void launch_memory(int steps) { memory_kernel<<<1024, 128>>>(g_next, g_out, kCount, steps); }

static void make_memory() {
  CHECK(cudaMalloc(&g_next, kCount * sizeof *g_next));
  CHECK(cudaMalloc(&g_out, size_t{1024} * 128 * sizeof *g_out));
  std::vector<unsigned> next(kCount);
  for (unsigned i = 0; i < kCount; ++i) next[i] = (i * 1664525u + 1013904223u) % kCount;
  CHECK(cudaMemcpy(g_next, next.data(), kCount * sizeof *g_next, cudaMemcpyHostToDevice));
}

static void run_cases() {
  for_a_second([] { launch_memory(200); });
  for_a_second([] { loops_kernel<<<512, 128>>>(reinterpret_cast<float*>(g_out), 90'000, 10'000); });
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 10; ++i) graph_kernel<<<64, 128, 0, stream>>>(200'000ull);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for_a_second([&] { CHECK(cudaGraphLaunch(exec, stream)); });
  for_a_second([] { run_ptx("jit_kernel", 1'000'000, false); });
  unsigned last = 0;
  CHECK(cudaMemcpy(&last, g_out, sizeof last, cudaMemcpyDeviceToHost));
  std::printf("checksum %u\n", last);
}

template <class Run> static double median_us(int batches, int times, Run&& run) {
  std::vector<double> each;
  for (int b = 0; b < batches; ++b) {
    CHECK(cudaDeviceSynchronize());
    const double begin = seconds();
    for (int i = 0; i < times; ++i) run();
    CHECK(cudaDeviceSynchronize());
    each.push_back((seconds() - begin) / times * 1e6);
  }
  std::sort(each.begin(), each.end());
  return each[each.size() / 2];
}

struct PcBuffer {
  static constexpr int kPcs = 256;
  CUpti_PCSamplingStallReason stalls[kPcs][64]{};
  CUpti_PCSamplingPCData pcs[kPcs]{};
  CUpti_PCSamplingData data{};
  PcBuffer() {
    for (int i = 0; i < kPcs; ++i) pcs[i].size = sizeof pcs[i], pcs[i].stallReason = stalls[i];
    data.size = sizeof data;
    data.collectNumPcs = kPcs;
    data.pPcData = pcs;
  }
};

static void sample_own() {
  CUcontext context = nullptr;
  DRIVER(driver<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent")(&context));
  void* const cupti = dlopen("libcupti.so", RTLD_NOW);
  void* const other = cupti != nullptr ? cupti : dlopen("libcupti.so.13", RTLD_NOW);
  const auto configure = reinterpret_cast<decltype(&cuptiPCSamplingSetConfigurationAttribute)>(
      dlsym(other, "cuptiPCSamplingSetConfigurationAttribute"));
  const auto enable = reinterpret_cast<decltype(&cuptiPCSamplingEnable)>(dlsym(other, "cuptiPCSamplingEnable"));
  const auto get = reinterpret_cast<decltype(&cuptiPCSamplingGetData)>(dlsym(other, "cuptiPCSamplingGetData"));
  const auto disable = reinterpret_cast<decltype(&cuptiPCSamplingDisable)>(dlsym(other, "cuptiPCSamplingDisable"));
  CUpti_PCSamplingEnableParams params{};
  params.size = CUpti_PCSamplingEnableParamsSize;
  params.ctx = context;
  std::printf("enable %d\n", enable(&params));
  static PcBuffer reads, last;  // CUPTI fills the second one when sampling ends, and needs it
  CUpti_PCSamplingConfigurationInfo attributes[2]{};
  attributes[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
  attributes[0].attributeData.samplingDataBufferData.samplingDataBuffer = &last.data;
  attributes[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
  attributes[1].attributeData.samplingPeriodData.samplingPeriod = 20;  // else the buffer of the GPU is full in a second
  CUpti_PCSamplingConfigurationInfoParams configuration{};
  configuration.size = CUpti_PCSamplingConfigurationInfoParamsSize;
  configuration.ctx = context;
  configuration.numAttributes = 2;
  configuration.pPCSamplingConfigurationInfo = attributes;
  std::printf("configure %d\n", configure(&configuration));
  size_t samples = 0;
  for (int round = 0; round < 10; ++round) {
    for_a_second([] { launch_memory(200); });
    CUpti_PCSamplingGetDataParams read{};
    read.size = CUpti_PCSamplingGetDataParamsSize;
    read.ctx = context;
    read.pcSamplingData = &reads.data;
    if (const CUptiResult result = get(&read); result != CUPTI_SUCCESS) std::printf("data %d\n", result);
    samples += reads.data.totalSamples;
    if (samples != 0) break;
  }
  CUpti_PCSamplingDisableParams end{};
  end.size = CUpti_PCSamplingDisableParamsSize;
  end.ctx = context;
  std::printf("samples %s\ndisable %d\n", samples != 0 ? "some" : "none", disable(&end));
}

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  const int number = count > 2 ? std::atoi(arguments[2]) : 0;
  if (what == "cases" && count > 2) CHECK(cudaSetDevice(number));
  make_memory();
  for_a_second([] { empty_kernel<<<1, 1>>>(); });  // samples are taken from here on
  if (what == "cases") {
    run_cases();
  } else if (what == "unloads") {
    for (int i = 0; i < number; ++i) run_ptx("unloaded_" + std::to_string(i % 50), 400'000, true);
    std::puts("unloaded");
  } else if (what == "loop") {
    const double launch = median_us(20, number / 20, [] { empty_kernel<<<1, 1>>>(); });
    const double kernel = median_us(20, 5, [] { launch_memory(200); });
    std::printf("us_per_launch %.4f us_per_kernel %.4f\n", launch, kernel);
  } else if (what == "own") {
    sample_own();
  }
}
