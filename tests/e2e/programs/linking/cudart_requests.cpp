// The real static CUDA runtime: every symbol that it requests from the driver passes through libprof, and every launch,
// copy and fill among them has a row. (The runtime then requires proof that the driver is NVIDIA's, so the test ends
// here.)
// Link: cudart
// Env: PROF_GPU=off 'SIM=log_requests {dir}/requests'
// Shell: {plain}; mv {dir}/requests {dir}/plain; {run}; cmp {dir}/plain {dir}/requests && echo "the same $(wc -l < {dir}/plain) requests"; sort -u {dir}/requests | grep -E "Launch|Memcpy|Memset"
// Expect: stdout asked: 500
// Expect: stdout the same 44
// Expect: stdout cuGraphLaunch
// Expect: stdout cuLaunchKernelEx
// Expect: log 1: no unhooked_api, counter unhooked_launch_api 0
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
  int count = 0;
  std::printf("asked: %d\n", static_cast<int>(cudaGetDeviceCount(&count)));
  return 0;
}
