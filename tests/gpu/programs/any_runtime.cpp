// A program of the CUDA runtime that is built without its headers, so that it links with each libcudart from CUDA 11.4
// on, shared or static, whatever toolkit compiles it. It registers its kernels by hand, as nvcc's generated code does.
// It launches, copies, fills and replays a graph on two threads, checks the sums on the device and prints the counts as
// one JSON object.
//
//   g++ -DKERNELS='"FATBIN"' any_runtime.cpp LIBCUDART -lpthread -ldl -lrt
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

extern "C" {
struct Dim3 {
  unsigned x, y, z;
};
using Stream = struct CUstream_st*;
using Graph = struct CUgraph_st*;
using GraphExec = struct CUgraphExec_st*;
int cudaMalloc(void**, size_t);
int cudaFree(void*);
int cudaStreamCreate(Stream*);
int cudaStreamSynchronize(Stream);
int cudaDeviceSynchronize();
int cudaMemcpy(void*, const void*, size_t, int kind);
int cudaMemcpyAsync(void*, const void*, size_t, int kind, Stream);
int cudaMemsetAsync(void*, int, size_t, Stream);
int cudaLaunchKernel(const void*, Dim3, Dim3, void**, size_t shared, Stream);
int cudaStreamBeginCapture(Stream, int mode);
int cudaStreamEndCapture(Stream, Graph*);
int cudaGraphInstantiateWithFlags(GraphExec*, Graph, unsigned long long);
int cudaGraphLaunch(GraphExec, Stream);
int cudaRuntimeGetVersion(int*);
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char* host, char* name, const char* device_name, int threads, void*, void*,
                            void*, void*, int*);
extern const unsigned char kernels[];
}

// NOLINTNEXTLINE(hicpp-no-assembler): the bytes of a file
asm(".pushsection .nv_fatbin, \"a\"\n.balign 8\n.global kernels\nkernels:\n.incbin \"" KERNELS "\"\n.popsection");

namespace {

constexpr int kToDevice = 1, kToHost = 2, kThreadLocal = 1;
constexpr int kLaunches = 300, kReplays = 40, kNodes = 5, kCopies = 20, kFills = 15;
constexpr Dim3 kOne{1, 1, 1}, kThreads{32, 1, 1};

// The contents of .nvFatBinSegment, as nvcc writes it.
struct FatBinary {
  int magic, version;
  const void* data;
  void* file;
};
__attribute__((aligned(8))) FatBinary g_binary{0x466243b1, 1, kernels, nullptr};
char g_count_up[] = "count_up", g_count_by[] = "count_by";  // their addresses identify the kernels on the host

void check(int result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "any_runtime: %s: error %d\n", what, result);
  std::exit(1);
}
#define CHECK(call) check(call, #call)

void register_kernels() {
  void** const handle = __cudaRegisterFatBinary(&g_binary);
  for (char* const name : {g_count_up, g_count_by}) {
    __cudaRegisterFunction(handle, name, name, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  }
  __cudaRegisterFatBinaryEnd(handle);
}

void launch(Stream stream, unsigned long long* total) {
  void* arguments[] = {&total};
  CHECK(cudaLaunchKernel(g_count_up, kOne, kThreads, arguments, 0, stream));
}

void launch_by(Stream stream, unsigned long long* total, unsigned long long by) {
  void* arguments[] = {&total, &by};
  CHECK(cudaLaunchKernel(g_count_by, kOne, kThreads, arguments, 0, stream));
}

// Launches, copies and fills on the thread's own stream; the resulting sum is kLaunches * 32.
void work(unsigned long long* total) {
  Stream stream = nullptr;
  CHECK(cudaStreamCreate(&stream));
  std::vector<unsigned char> host(1 << 16, 1);
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, host.size()));
  for (int i = 0; i < kLaunches; ++i) launch(stream, total);
  for (int i = 0; i < kFills; ++i) CHECK(cudaMemsetAsync(memory, i, host.size(), stream));
  for (int i = 0; i < kCopies; ++i) CHECK(cudaMemcpyAsync(memory, host.data(), host.size(), kToDevice, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaFree(memory));
}

void replay(unsigned long long* total) {
  Stream stream = nullptr;
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, kThreadLocal));
  for (int i = 0; i < kNodes; ++i) launch_by(stream, total, 1000);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  for (int i = 0; i < kReplays; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
}

}  // namespace

int main() {
  register_kernels();
  int version = 0;
  CHECK(cudaRuntimeGetVersion(&version));
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, sizeof(unsigned long long)));
  auto* const total = static_cast<unsigned long long*>(memory);
  unsigned long long sum = 0;
  CHECK(cudaMemcpy(total, &sum, sizeof sum, kToDevice));
  std::thread other(work, total);
  work(total);
  other.join();
  replay(total);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&sum, total, sizeof sum, kToHost));
  constexpr unsigned long long kExpected = 2ull * kLaunches * 32 + 32ull * 1000 * kNodes * kReplays;
  if (sum != kExpected)
    std::fprintf(stderr, "any_runtime: the kernels summed up to %llu, expected %llu\n", sum, kExpected);
  std::printf(
      "{\"runtime\": %d, \"kernels\": {\"count_up\": %d, \"count_by\": %d}, \"kernel_launches\": %d, "
      "\"captured_launches\": %d, "
      "\"graph_launches\": %d, \"copies\": %d, \"fills\": %d}\n",
      version, 2 * kLaunches, kNodes * kReplays, 2 * kLaunches, kNodes, kReplays, 2 * kCopies + 2, 2 * kFills);
  return sum == kExpected ? 0 : 1;
}
