// A program that launches in every common way and prints its counts as one JSON object; the recorder's log and CUPTI's
// count must be the same. Built with the static cudart. Nothing printed depends on time, so that runs can be compared.
//
//   mixed [--divide N] [--exit STATUS]     N: fewer repetitions
#include "check.cuh"

#include <cooperative_groups.h>
#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Counts {
  std::mutex mutex;
  std::map<std::string, long> kernels;  // runs by mangled name
  std::atomic<long> kernel_launches{0}, captured_launches{0}, graph_launches{0}, copies{0}, fills{0}, host_functions{0};
} g_counts;

unsigned long long* g_total = nullptr;  // on the device: how many threads of `count_up` ran

}  // namespace

__global__ void spin_long() { spin_for(500'000); }
__global__ void spin_short() { spin_for(20'000); }
extern "C" __global__ void count_up(unsigned long long* total) { atomicAdd(total, 1ull); }
template <class T> __global__ void scale(T* values, T factor, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] *= factor;
}
namespace nested {
__global__ void captured(unsigned long long* total) { atomicAdd(total, 1ull); }
}  // namespace nested
__global__ void graph_node(unsigned long long* total) { atomicAdd(total, 1ull); }
__global__ void whole_grid(unsigned long long* total) {
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(total, 1ull);
}
__global__ void dependent(unsigned long long* total) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
  atomicAdd(total, 1ull);
}

namespace {

std::string name_of(const void* kernel) {
  const char* name = nullptr;
  return cudaFuncGetName(&name, kernel) == cudaSuccess && name != nullptr ? name : "?";
}

void ran(const void* kernel, long times) {
  const std::string name = name_of(kernel);
  const std::lock_guard lock(g_counts.mutex);
  g_counts.kernels[name] += times;
}

template <class... Params, class... Args>
void launch(long times, cudaStream_t stream, dim3 grid, dim3 block, void (*kernel)(Params...), Args... args) {
  for (long i = 0; i < times; ++i) {
    kernel<<<grid, block, 0, stream>>>(args...);
  }
  CHECK(cudaGetLastError());
  g_counts.kernel_launches += times;
  ran(reinterpret_cast<const void*>(kernel), times);
}

// Kernels of fixed length: two runs of the program must agree in their total GPU time.
void fixed_lengths(long divide) {
  nvtxRangePushA("fixed_lengths");
  launch(400 / divide, nullptr, 1, 32, spin_long);
  launch(2000 / divide, nullptr, 1, 32, spin_short);
  CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
}

void one_stream(long divide) {
  nvtxRangePushA("one_stream");
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  launch(20000 / divide, stream, 1, 1, count_up, g_total);
  CHECK(cudaStreamSynchronize(stream));
  launch(100 / divide, cudaStreamPerThread, 1, 1, count_up, g_total);
  CHECK(cudaStreamSynchronize(cudaStreamPerThread));
  CHECK(cudaStreamDestroy(stream));
  nvtxRangePop();
}

void copies(long divide) {
  nvtxRangePushA("copies");
  constexpr int kCount = 1 << 18;
  float *host, *device, *other;
  std::vector<float> pageable(kCount, 1.0f);
  CHECK(cudaMallocHost(&host, kCount * sizeof(float)));
  CHECK(cudaMalloc(&device, kCount * sizeof(float)));
  CHECK(cudaMalloc(&other, kCount * sizeof(float)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (int i = 0; i < kCount; ++i) host[i] = 2.0f;
  for (long i = 0; i < 50 / divide; ++i) {
    CHECK(cudaMemcpyAsync(device, host, kCount * sizeof(float), cudaMemcpyHostToDevice, stream));
    launch(1, stream, kCount / 256, 256, scale<float>, device, 1.5f, kCount);
    CHECK(cudaMemcpyAsync(other, device, kCount * sizeof(float), cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaMemcpyAsync(host, other, kCount * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpy2DAsync(other, 1024, device, 2048, 1024, 256, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaMemsetAsync(device, 0, kCount * sizeof(float), stream));
    CHECK(cudaMemset2DAsync(other, 2048, 0, 1024, 256, stream));
    g_counts.copies += 4;
    g_counts.fills += 2;
    CHECK(cudaStreamSynchronize(stream));
    host[0] = 2.0f;
  }
  CHECK(cudaMemcpy(device, pageable.data(), 1024, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(pageable.data(), device, 1024, cudaMemcpyDeviceToHost));
  CHECK(cudaMemset(device, 1, 4096));
  g_counts.copies += 2;
  ++g_counts.fills;
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(device));
  CHECK(cudaFree(other));
  CHECK(cudaFreeHost(host));
  nvtxRangePop();
}

void streams_and_events(long divide) {
  nvtxRangePushA("streams_and_events");
  constexpr int kStreams = 4;
  cudaStream_t streams[kStreams];
  cudaEvent_t events[kStreams];
  for (int i = 0; i < kStreams; ++i) {
    CHECK(cudaStreamCreateWithPriority(&streams[i], cudaStreamNonBlocking, i % 2 == 0 ? 0 : -1));
    CHECK(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
  }
  for (long round = 0; round < 200 / divide; ++round) {
    for (int i = 0; i < kStreams; ++i) {
      launch(2, streams[i], 1, 1, count_up, g_total);
      CHECK(cudaEventRecord(events[i], streams[i]));
      CHECK(cudaStreamWaitEvent(streams[(i + 1) % kStreams], events[i], 0));
    }
    if (cudaEventQuery(events[0]) == cudaErrorNotReady) (void)cudaGetLastError();
  }
  for (int i = 0; i < kStreams; ++i) {
    CHECK(cudaEventSynchronize(events[i]));
    CHECK(cudaStreamSynchronize(streams[i]));
    CHECK(cudaEventDestroy(events[i]));
    CHECK(cudaStreamDestroy(streams[i]));
  }
  void* from_pool;
  for (int i = 0; i < 10; ++i) {
    CHECK(cudaMallocAsync(&from_pool, 1 << 16, cudaStreamPerThread));
    CHECK(cudaFreeAsync(from_pool, cudaStreamPerThread));
  }
  CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
}

void captured_graph(long divide) {
  nvtxRangePushA("captured_graph");
  constexpr int kKernels = 10;
  const long replays = 100 / divide;
  int *from, *to;
  CHECK(cudaMalloc(&from, 4096));
  CHECK(cudaMalloc(&to, 4096));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kKernels; ++i) nested::captured<<<1, 1, 0, stream>>>(g_total);
  CHECK(cudaMemcpyAsync(to, from, 4096, cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaMemsetAsync(from, 0, 4096, stream));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (long i = 0; i < replays; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  g_counts.captured_launches += kKernels + 2;
  g_counts.graph_launches += replays;
  g_counts.copies += replays;
  g_counts.fills += replays;
  ran(reinterpret_cast<const void*>(nested::captured), kKernels * replays);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
  nvtxRangePop();
}

void explicit_graph(long divide) {
  nvtxRangePushA("explicit_graph");
  const long replays = 50 / divide;
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  void* args[] = {&g_total};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(graph_node);
  params.gridDim = dim3(1);
  params.blockDim = dim3(1);
  params.kernelParams = args;
  cudaGraphNode_t first, second;
  CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &params));
  CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &params));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (long i = 0; i < replays; ++i) CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
  g_counts.graph_launches += replays;
  ran(reinterpret_cast<const void*>(graph_node), 2 * replays);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  nvtxRangePop();
}

void special_launches(long divide) {
  nvtxRangePushA("special_launches");
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const long cooperative = 20 / divide, dependents = 100 / divide;
  void* args[] = {&g_total};
  for (long i = 0; i < cooperative; ++i) {
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(whole_grid), dim3(4), dim3(32), args, 0, stream));
  }
  g_counts.kernel_launches += cooperative;
  ran(reinterpret_cast<const void*>(whole_grid), cooperative);

  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  for (long i = 0; i < dependents; ++i) CHECK(cudaLaunchKernelEx(&config, dependent, g_total));
  g_counts.kernel_launches += dependents;
  ran(reinterpret_cast<const void*>(dependent), dependents);

  for (int i = 0; i < 5; ++i) {
    CHECK(cudaLaunchHostFunc(stream, [](void*) {}, nullptr));
    ++g_counts.host_functions;
  }
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(stream));
  nvtxRangePop();
}

// Four threads on separate streams, then two threads on one stream.
void threads(long divide) {
  nvtxRangePushA("threads");
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t) {
    all.emplace_back([divide] {
      CHECK(cudaSetDevice(0));
      cudaStream_t stream;
      CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      launch(2000 / divide, stream, 1, 1, count_up, g_total);
      CHECK(cudaStreamSynchronize(stream));
      CHECK(cudaStreamDestroy(stream));
    });
  }
  for (std::thread& thread : all) thread.join();
  all.clear();
  cudaStream_t shared;
  CHECK(cudaStreamCreateWithFlags(&shared, cudaStreamNonBlocking));
  for (int t = 0; t < 2; ++t) {
    all.emplace_back([shared, divide] {
      CHECK(cudaSetDevice(0));
      launch(1000 / divide, shared, 1, 1, count_up, g_total);
    });
  }
  for (std::thread& thread : all) thread.join();
  CHECK(cudaStreamSynchronize(shared));
  CHECK(cudaStreamDestroy(shared));
  nvtxRangePop();
}

void print(unsigned long long total) {
  std::printf("{\"kernel_launches\": %ld, \"captured_launches\": %ld, \"graph_launches\": %ld, \"copies\": %ld, ",
              g_counts.kernel_launches.load(), g_counts.captured_launches.load(), g_counts.graph_launches.load(),
              g_counts.copies.load());
  std::printf("\"fills\": %ld, \"host_functions\": %ld, \"total\": %llu, \"kernels\": {", g_counts.fills.load(),
              g_counts.host_functions.load(), total);
  const char* comma = "";
  for (const auto& [name, count] : g_counts.kernels) {
    std::printf("%s\"%s\": %ld", comma, name.c_str(), count);
    comma = ", ";
  }
  std::printf("}}\n");
}

}  // namespace

int main(int argc, char** argv) {
  long divide = 1;
  int status = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--divide") == 0) divide = std::atol(argv[i + 1]);
    if (std::strcmp(argv[i], "--exit") == 0) status = std::atoi(argv[i + 1]);
  }
  CHECK(cudaMalloc(&g_total, sizeof *g_total));
  CHECK(cudaMemset(g_total, 0, sizeof *g_total));
  ++g_counts.fills;
  fixed_lengths(divide);
  one_stream(divide);
  copies(divide);
  streams_and_events(divide);
  captured_graph(divide);
  explicit_graph(divide);
  special_launches(divide);
  threads(divide);
  unsigned long long total = 0;
  CHECK(cudaMemcpy(&total, g_total, sizeof total, cudaMemcpyDeviceToHost));
  ++g_counts.copies;
  CHECK(cudaDeviceSynchronize());
  print(total);
  return status;
}
