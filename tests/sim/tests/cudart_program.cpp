// A program of the CUDA runtime, as nvcc would build it (the fat binary is registered by hand). It is linked with the
// simulated runtime, shared and static, and with the real static cudart. Prints one line per step; see cudart_test.cpp.
#include <cuda_runtime_api.h>

#include <cstdio>

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);
}

namespace {

unsigned long long image[64] = {0x00100001ba55ed50ull, sizeof(image) - 16};
struct {
  int magic, version;
  const void* data;
  void* file;
} fat_binary = {0x466243b1, 1, image, nullptr};

void add_stub() {}

int step(const char* what, cudaError_t error) {
  printf("%s %d\n", what, static_cast<int>(error));
  return error == cudaSuccess ? 0 : 1;
}

}  // namespace

int main() {
  void** handle = __cudaRegisterFatBinary(&fat_binary);
  __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&add_stub), const_cast<char*>("_Z3addPi"), "_Z3addPi",
                         -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(handle);
  int bad = 0, devices = 0;
  bad += step("count", cudaGetDeviceCount(&devices));
  void* memory = nullptr;
  bad += step("malloc", cudaMalloc(&memory, 1024));
  int in[2] = {3, 4}, out[2] = {};
  bad += step("in", cudaMemcpy(memory, in, sizeof in, cudaMemcpyHostToDevice));
  cudaStream_t stream = nullptr;
  bad += step("stream", cudaStreamCreate(&stream));
  void* args[] = {&memory};
  bad += step("launch", cudaLaunchKernel(reinterpret_cast<const void*>(&add_stub), dim3(4), dim3(64), args, 0, stream));
  cudaEvent_t event = nullptr;
  bad += step("event", cudaEventCreate(&event));
  bad += step("record", cudaEventRecord(event, stream));
  bad += step("wait", cudaEventSynchronize(event));
  bad += step("begin", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  bad +=
      step("captured", cudaLaunchKernel(reinterpret_cast<const void*>(&add_stub), dim3(4), dim3(64), args, 0, stream));
  cudaGraph_t graph = nullptr;
  bad += step("end", cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = nullptr;
  bad += step("instantiate", cudaGraphInstantiate(&exec, graph, 0));
  bad += step("replay", cudaGraphLaunch(exec, stream));
  bad += step("synchronize", cudaDeviceSynchronize());
  bad += step("out", cudaMemcpy(out, memory, sizeof out, cudaMemcpyDeviceToHost));
  printf("data %d %d devices %d\n", out[0], out[1], devices);
  return bad != 0;
}
