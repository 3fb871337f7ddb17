// Functions that are inlined into the kernels of kernels.cu: two levels.
#pragma once
__device__ __forceinline__ float squared(float x) {
  return x * x + 1.5f;
}

__device__ __forceinline__ float scaled(float x, float factor) {
  const float square = squared(x);
  return square * factor;
}

__device__ __forceinline__ float rooted(float x) {
  return sqrtf(squared(x));
}
