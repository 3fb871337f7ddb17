// Every copy and every fill of the simulated driver, each with another number of bytes. copy_forms.cpp has the
// expectations; copy_forms_per_thread.cpp requests the functions of programs with per-thread default streams.
#pragma once
#include "tests/sim/sim_program.h"

namespace copy_forms {

inline char host[65536];
inline CUdeviceptr from, to, other;  // on one device; on another
inline CUcontext first, second;

template <class Shape> Shape* filled(Shape& shape, size_t width, size_t height) {
  shape.srcMemoryType = shape.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  shape.srcDevice = from, shape.dstDevice = to;
  shape.srcPitch = shape.dstPitch = 256;
  shape.WidthInBytes = width, shape.Height = height;
  return &shape;
}
inline const CUDA_MEMCPY2D* flat(size_t width, size_t height) {
  static CUDA_MEMCPY2D shape;
  return filled(shape = {}, width, height);
}
template <class Shape> Shape* deep(Shape* shape, size_t depth) {
  shape->srcHeight = shape->dstHeight = shape->Height;
  shape->Depth = depth;
  return shape;
}
inline const CUDA_MEMCPY3D* box(size_t width, size_t height, size_t depth) {
  static CUDA_MEMCPY3D shape;
  return deep(filled(shape = {}, width, height), depth);
}
inline const CUDA_MEMCPY3D_PEER* between_devices(size_t width, size_t height, size_t depth) {
  static CUDA_MEMCPY3D_PEER shape;
  deep(filled(shape = {}, width, height), depth);
  shape.srcContext = first, shape.dstContext = second, shape.dstDevice = other;
  return &shape;
}

inline void call_all() {
  second = sim_program::make_context(1);
  other = sim_program::allocate(sizeof host);
  first = sim_program::make_context();
  from = sim_program::allocate(sizeof host), to = sim_program::allocate(sizeof host);
  const CUstream stream = sim_program::make_stream();
  SIM_CHECK(cuMemcpy(to, from, 1001));
  SIM_CHECK(cuMemcpyAsync(to, from, 1002, stream));
  SIM_CHECK(cuMemcpyHtoD(to, host, 1003));
  SIM_CHECK(cuMemcpyHtoDAsync(to, host, 1004, stream));
  SIM_CHECK(cuMemcpyDtoH(host, from, 1005));
  SIM_CHECK(cuMemcpyDtoHAsync(host, from, 1006, stream));
  SIM_CHECK(cuMemcpyDtoD(to, from, 1007));
  SIM_CHECK(cuMemcpyDtoDAsync(to, from, 1008, stream));
  SIM_CHECK(cuMemcpyPeer(other, second, from, first, 1009));
  SIM_CHECK(cuMemcpyPeerAsync(other, second, from, first, 1010, stream));
  SIM_CHECK(cuMemcpy2D(flat(21, 7)));
  SIM_CHECK(cuMemcpy2DUnaligned(flat(22, 7)));
  SIM_CHECK(cuMemcpy2DAsync(flat(23, 7), stream));
  SIM_CHECK(cuMemcpy3D(box(24, 7, 3)));
  SIM_CHECK(cuMemcpy3DAsync(box(25, 7, 3), stream));
  SIM_CHECK(cuMemcpy3DPeer(between_devices(26, 7, 3)));
  SIM_CHECK(cuMemcpy3DPeerAsync(between_devices(27, 7, 3), stream));
  SIM_CHECK(cuMemsetD8(to, 7, 1018));
  SIM_CHECK(cuMemsetD8Async(to, 7, 1019, stream));
  SIM_CHECK(cuMemsetD2D8(to, 256, 7, 30, 5));
  SIM_CHECK(cuMemsetD2D8Async(to, 256, 7, 31, 5, stream));
  SIM_CHECK(cuMemsetD16(to, 7, 1022));
  SIM_CHECK(cuMemsetD16Async(to, 7, 1023, stream));
  SIM_CHECK(cuMemsetD2D16(to, 256, 7, 34, 5));
  SIM_CHECK(cuMemsetD2D16Async(to, 256, 7, 35, 5, stream));
  SIM_CHECK(cuMemsetD32(to, 7, 1026));
  SIM_CHECK(cuMemsetD32Async(to, 7, 1027, stream));
  SIM_CHECK(cuMemsetD2D32(to, 256, 7, 38, 5));
  SIM_CHECK(cuMemsetD2D32Async(to, 256, 7, 39, 5, stream));
  SIM_CHECK(cuStreamSynchronize(stream));
}

}  // namespace copy_forms
