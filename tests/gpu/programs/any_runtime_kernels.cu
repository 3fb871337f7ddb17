// The kernels of any_runtime.cpp, built alone (nvcc -fatbin) and put into it as bytes: no toolkit's run time is linked with them.
extern "C" __global__ void count_up(unsigned long long* total) { atomicAdd(total, 1ull); }
extern "C" __global__ void count_by(unsigned long long* total, unsigned long long by) { atomicAdd(total, by); }
