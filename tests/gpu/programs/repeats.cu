// One launch in each of the forms that PROF_REPEAT_KERNEL must be able to repeat: cooperative, a cluster of blocks, a
// launch that may start before the previous kernel has ended, and a kernel that takes its work items from a counter
// which is cleared before it, as in cuBLAS. Prints whether all work items of the counter were done, which no repeat may
// change. Built with the static cudart.
#include "check.cuh"

#include <cooperative_groups.h>

namespace {

constexpr int kBlocks = 16, kItems = 64;
constexpr unsigned long long kLong = 100'000, kShort = 5'000;  // ns

}  // namespace

__global__ void in_step() {
  spin_for(kLong);
  cooperative_groups::this_grid().sync();
}
__global__ void in_cluster() {
#if __CUDA_ARCH__ >= 900
  spin_for(kLong);
  cooperative_groups::this_cluster().sync();
#else
  spin_for(kLong);
#endif
}
__global__ void early() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
  spin_for(kLong);
}
__global__ void take_items(unsigned* next, unsigned* done) {
  __shared__ unsigned item;
  for (;;) {
    if (threadIdx.x == 0) item = atomicAdd(next, 1);
    __syncthreads();
    if (item >= kItems) return;
    spin_for(4 * kShort);
    if (threadIdx.x == 0) done[item] = item + 1;
    __syncthreads();
  }
}

template <class... Params, class... Args>
static void launch_with(cudaLaunchAttribute attribute, cudaStream_t stream, void (*kernel)(Params...), Args... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = kBlocks, config.blockDim = 32, config.stream = stream;
  config.attrs = &attribute, config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, kernel, args...));
}

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  unsigned *next, *done;
  CHECK(cudaMalloc(&next, sizeof *next));
  CHECK(cudaMalloc(&done, kItems * sizeof *done));
  CHECK(cudaMemset(done, 0, kItems * sizeof *done));
  int major = 0;
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  for (int i = 0; i < 3; ++i) {
    cudaLaunchAttribute cooperative = {}, cluster = {}, programmatic = {};
    cooperative.id = cudaLaunchAttributeCooperative, cooperative.val.cooperative = 1;
    launch_with(cooperative, stream, in_step);
    programmatic.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    programmatic.val.programmaticStreamSerializationAllowed = 1;
    launch_with(programmatic, stream, early);
    if (major >= 9) {
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim.x = 4, cluster.val.clusterDim.y = 1, cluster.val.clusterDim.z = 1;
      launch_with(cluster, stream, in_cluster);
    }
    CHECK(cudaMemsetAsync(next, 0, sizeof *next, stream));
    take_items<<<kBlocks, 32, 0, stream>>>(next, done);
    CHECK(cudaGetLastError());
  }
  CHECK(cudaStreamSynchronize(stream));
  unsigned host[kItems], sum = 0;
  CHECK(cudaMemcpy(host, done, sizeof host, cudaMemcpyDeviceToHost));
  for (const unsigned each : host) sum += each;
  std::printf("items %u of %d\n", sum, kItems * (kItems + 1) / 2);
}
