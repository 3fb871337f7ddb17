// The kernels of any_runtime.cpp, compiled alone (nvcc -fatbin) and embedded as bytes, so that no toolkit's CUDA
// runtime is linked with them.
extern "C" __global__ void count_up(unsigned long long* total) { atomicAdd(total, 1ull); }
extern "C" __global__ void count_by(unsigned long long* total, unsigned long long by) { atomicAdd(total, by); }
