// Copies and fills of every form; all become one box copy (CUDA_MEMCPY3D) or one box fill (CUDA_MEMSET_NODE_PARAMS).
#include <cmath>
#include <cstring>

#include "tests/sim/api_call.h"
#include "tests/sim/capture.h"
#include "tests/sim/device.h"
#include "tests/sim/graph.h"

namespace sim {
namespace {

// CUpti_ActivityMemoryKind and CUpti_ActivityMemcpyKind, which libcuda must not include.
enum MemoryKind : uint8_t { kPageable = 1, kPinned = 2, kDevice = 3, kManaged = 5 };
enum CopyKind : uint8_t { kHtoD = 1, kDtoH = 2, kDtoD = 8, kHtoH = 9, kPtoP = 10 };

struct Side {
  char* base;
  size_t pitch, height;
  MemoryKind kind;
  const Device* device;

  char* row(size_t y, size_t z) const { return base + (z * height + y) * pitch; }
};

Side side_of(CUmemorytype type, const void* host, CUdeviceptr device, size_t x, size_t y, size_t z, size_t pitch,
             size_t height, size_t width, size_t rows) {
  const CUdeviceptr address = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(host) : device;
  Side side{};
  side.pitch = pitch != 0 ? pitch : width;
  side.height = height != 0 ? height : rows;
  side.base = reinterpret_cast<char*>(address) + x + (z * side.height + y) * side.pitch;
  const Allocation* one = find_allocation(address);
  side.device = one != nullptr ? one->device : nullptr;
  if (one == nullptr) {
    side.kind = type == CU_MEMORYTYPE_DEVICE ? kDevice : kPageable;
  } else if (one->kind == Allocation::Kind::Device) {
    side.kind = kDevice;
  } else {
    side.kind = one->kind == Allocation::Kind::Managed ? kManaged : kPinned;
  }
  return side;
}

bool on_host(MemoryKind kind) { return kind == kPageable || kind == kPinned; }

Ns time_for(uint64_t bytes, double rate) { return static_cast<Ns>(std::llround(static_cast<double>(bytes) / rate)); }

struct Box {
  Side from, to;
  size_t width, rows, layers;
  void run() const {
    for (size_t z = 0; z < layers; ++z) {
      for (size_t y = 0; y < rows; ++y) memmove(to.row(y, z), from.row(y, z), width);
    }
  }
};

Box box_of(const CUDA_MEMCPY3D& params) {
  Box box{};
  box.width = params.WidthInBytes;
  box.rows = std::max<size_t>(params.Height, 1);
  box.layers = std::max<size_t>(params.Depth, 1);
  box.from = side_of(params.srcMemoryType, params.srcHost, params.srcDevice, params.srcXInBytes, params.srcY,
                     params.srcZ, params.srcPitch, params.srcHeight, box.width, box.rows);
  box.to = side_of(params.dstMemoryType, params.dstHost, params.dstDevice, params.dstXInBytes, params.dstY, params.dstZ,
                   params.dstPitch, params.dstHeight, box.width, box.rows);
  return box;
}

bool supported(const CUDA_MEMCPY3D& params) {
  return params.srcMemoryType != CU_MEMORYTYPE_ARRAY && params.dstMemoryType != CU_MEMORYTYPE_ARRAY;
}

CUresult copy(CUDA_MEMCPY3D params, CUstream handle, bool async) {
  Stream* stream = resolve_stream(handle);
  if (stream == nullptr) return why_no_stream();
  if (!supported(params)) return CUDA_ERROR_NOT_SUPPORTED;
  if (params.Height == 0) params.Height = 1;
  if (params.Depth == 0) params.Depth = 1;
  if (params.WidthInBytes == 0) return CUDA_SUCCESS;
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  arguments.copy = params;
  Work work = copy_work(params, stream->context, async);
  const bool to_pageable = work.record.target_kind == kPageable;
  const bool from_pageable = work.record.source_kind == kPageable;
  const bool device_only = work.record.copy_kind == kDtoD || work.record.copy_kind == kPtoP;
  const bool capturing = stream->capturing.load();
  if (async && from_pageable && !to_pageable && !capturing) {
    // The driver has read pageable memory when the call returns: the program may overwrite it.
    const Box box = box_of(params);
    auto staged = std::make_shared<std::vector<char>>(box.width * box.rows * box.layers);
    Box in = box;
    in.to.base = staged->data();
    in.to.pitch = box.width;
    in.to.height = box.rows;
    in.run();
    Box out = box;
    out.from = in.to;
    work.effect = [staged, out] { out.run(); };
  }
  // Copies within the device return at once; a copy to pageable memory has ended when its call returns, async or not.
  return perform(stream, std::move(work), (!async && !device_only) || (async && to_pageable && !capturing), &arguments);
}

CUDA_MEMCPY3D line(CUmemorytype from_type, const void* from_host, CUdeviceptr from, CUmemorytype to_type, void* to_host,
                   CUdeviceptr to, size_t bytes) {
  CUDA_MEMCPY3D params{};
  params.srcMemoryType = from_type;
  params.srcHost = from_host;
  params.srcDevice = from;
  params.dstMemoryType = to_type;
  params.dstHost = to_host;
  params.dstDevice = to;
  params.WidthInBytes = bytes;
  params.Height = 1;
  params.Depth = 1;
  return params;
}

template <class Source> CUDA_MEMCPY3D box_params(const Source& from) {
  CUDA_MEMCPY3D params = line(from.srcMemoryType, from.srcHost, from.srcDevice, from.dstMemoryType, from.dstHost,
                              from.dstDevice, from.WidthInBytes);
  params.srcXInBytes = from.srcXInBytes;
  params.srcY = from.srcY;
  params.srcPitch = from.srcPitch;
  params.dstXInBytes = from.dstXInBytes;
  params.dstY = from.dstY;
  params.dstPitch = from.dstPitch;
  params.Height = from.Height;
  return params;
}

CUDA_MEMCPY3D from_peer(const CUDA_MEMCPY3D_PEER& from) {
  CUDA_MEMCPY3D params = box_params(from);
  params.srcZ = from.srcZ;
  params.srcHeight = from.srcHeight;
  params.dstZ = from.dstZ;
  params.dstHeight = from.dstHeight;
  params.Depth = from.Depth;
  return params;
}

CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height,
              CUstream handle, bool async) {
  Stream* stream = resolve_stream(handle);
  if (stream == nullptr) return why_no_stream();
  if (to == 0) return CUDA_ERROR_INVALID_VALUE;
  if (width == 0 || height == 0) return CUDA_SUCCESS;
  if (script().internal_memset_kernel && !stream->capturing.load()) {
    Work kernel;
    kernel.record.kind = OperationKind::Kernel;
    kernel.record.name = "driver_internal_memset";
    kernel.record.correlation = new_correlation();
    kernel.duration = script().default_kernel.duration;
    if (const CUresult result = perform(stream, std::move(kernel), false, nullptr)) return result;
  }
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_MEMSET;
  arguments.memset = {to, pitch, value, element, width, height};
  return perform(stream, memset_work(arguments.memset, stream->context, async), false, &arguments);
}

}  // namespace

Work copy_work(const CUDA_MEMCPY3D& params, Context* context, bool async) {
  const Box box = box_of(params);
  const uint64_t bytes = static_cast<uint64_t>(box.width) * box.rows * box.layers;
  const Script& told = script();
  Work work;
  OperationRecord& record = work.record;
  record.kind = OperationKind::Memcpy;
  record.name = "memcpy";
  record.bytes = bytes;
  record.async = async;
  record.source_kind = box.from.kind;
  record.target_kind = box.to.kind;
  const Device* from = box.from.device != nullptr ? box.from.device : context->device;
  const Device* to = box.to.device != nullptr ? box.to.device : context->device;
  double rate = told.d2d;
  if (on_host(box.from.kind) && on_host(box.to.kind)) {
    record.copy_kind = kHtoH;
    rate = told.h2h;
  } else if (on_host(box.from.kind)) {
    record.copy_kind = kHtoD;
    rate = told.h2d;
  } else if (on_host(box.to.kind)) {
    record.copy_kind = kDtoH;
    rate = told.d2h;
  } else if (from != to) {
    record.copy_kind = kPtoP;
    record.peer = true;
    rate = told.p2p;
  } else {
    record.copy_kind = kDtoD;
  }
  record.source_device = static_cast<uint32_t>(from->ordinal);
  record.target_device = static_cast<uint32_t>(to->ordinal);
  const Allocation* from_allocation = find_allocation(reinterpret_cast<CUdeviceptr>(box.from.base));
  const Allocation* to_allocation = find_allocation(reinterpret_cast<CUdeviceptr>(box.to.base));
  record.source_context = from_allocation != nullptr ? from_allocation->context->id : context->id;
  record.target_context = to_allocation != nullptr ? to_allocation->context->id : context->id;
  work.duration = told.copy_setup + time_for(bytes, rate);
  work.effect = [box] { box.run(); };
  return work;
}

Work memset_work(const CUDA_MEMSET_NODE_PARAMS& params, Context*, bool async) {
  Work work;
  work.record.kind = OperationKind::Memset;
  work.record.name = "memset";
  work.record.value = params.value;
  work.record.async = async;
  work.record.bytes = static_cast<uint64_t>(params.width) * params.height * params.elementSize;
  const Allocation* one = find_allocation(params.dst);
  work.record.target_kind = one == nullptr || one->kind == Allocation::Kind::Device ? kDevice
                            : one->kind == Allocation::Kind::Managed                ? kManaged
                                                                                    : kPinned;
  work.duration = script().copy_setup + time_for(work.record.bytes, script().memset_rate);
  work.effect = [params] {
    const size_t row_bytes = params.width * params.elementSize;
    for (size_t y = 0; y < params.height; ++y) {
      char* row = reinterpret_cast<char*>(params.dst) + y * (params.pitch != 0 ? params.pitch : row_bytes);
      if (params.elementSize == 1) {
        memset(row, static_cast<int>(params.value), row_bytes);
        continue;
      }
      for (size_t at = 0; at < row_bytes; at += params.elementSize) memcpy(row + at, &params.value, params.elementSize);
    }
  };
  return work;
}

}  // namespace sim

namespace {
constexpr CUmemorytype kHost = CU_MEMORYTYPE_HOST, kOnDevice = CU_MEMORYTYPE_DEVICE, kUnified = CU_MEMORYTYPE_UNIFIED;
}

SIM_API(cuMemcpy)(CUdeviceptr dst, CUdeviceptr src, size_t n) {
  return copy(line(kUnified, nullptr, src, kUnified, nullptr, dst, n), nullptr, false);
}
SIM_API(cuMemcpyAsync)(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s) {
  return copy(line(kUnified, nullptr, src, kUnified, nullptr, dst, n), s, true);
}
SIM_API(cuMemcpyBatchAsync_v2)
(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count, CUmemcpyAttributes*, size_t*, size_t, CUstream s) {
  for (size_t i = 0; i < count; ++i) {
    const CUresult result = copy(line(kUnified, nullptr, srcs[i], kUnified, nullptr, dsts[i], sizes[i]), s, true);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}
SIM_API(cuMemcpyHtoD_v2)(CUdeviceptr dst, const void* src, size_t n) {
  return copy(line(kHost, src, 0, kOnDevice, nullptr, dst, n), nullptr, false);
}
SIM_API(cuMemcpyHtoDAsync_v2)(CUdeviceptr dst, const void* src, size_t n, CUstream s) {
  return copy(line(kHost, src, 0, kOnDevice, nullptr, dst, n), s, true);
}
SIM_API(cuMemcpyDtoH_v2)(void* dst, CUdeviceptr src, size_t n) {
  return copy(line(kOnDevice, nullptr, src, kHost, dst, 0, n), nullptr, false);
}
SIM_API(cuMemcpyDtoHAsync_v2)(void* dst, CUdeviceptr src, size_t n, CUstream s) {
  return copy(line(kOnDevice, nullptr, src, kHost, dst, 0, n), s, true);
}
SIM_API(cuMemcpyDtoD_v2)(CUdeviceptr dst, CUdeviceptr src, size_t n) {
  return copy(line(kOnDevice, nullptr, src, kOnDevice, nullptr, dst, n), nullptr, false);
}
SIM_API(cuMemcpyDtoDAsync_v2)(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s) {
  return copy(line(kOnDevice, nullptr, src, kOnDevice, nullptr, dst, n), s, true);
}
SIM_API(cuMemcpyPeer)(CUdeviceptr dst, CUcontext, CUdeviceptr src, CUcontext, size_t n) {
  return copy(line(kOnDevice, nullptr, src, kOnDevice, nullptr, dst, n), nullptr, false);
}
SIM_API(cuMemcpyPeerAsync)(CUdeviceptr dst, CUcontext, CUdeviceptr src, CUcontext, size_t n, CUstream s) {
  return copy(line(kOnDevice, nullptr, src, kOnDevice, nullptr, dst, n), s, true);
}
SIM_API(cuMemcpy2D_v2)(const CUDA_MEMCPY2D* p) { return copy(box_params(*p), nullptr, false); }
SIM_API(cuMemcpy2DUnaligned_v2)(const CUDA_MEMCPY2D* p) { return copy(box_params(*p), nullptr, false); }
SIM_API(cuMemcpy2DAsync_v2)(const CUDA_MEMCPY2D* p, CUstream s) { return copy(box_params(*p), s, true); }
SIM_API(cuMemcpy3D_v2)(const CUDA_MEMCPY3D* p) { return copy(*p, nullptr, false); }
SIM_API(cuMemcpy3DAsync_v2)(const CUDA_MEMCPY3D* p, CUstream s) { return copy(*p, s, true); }
SIM_API(cuMemcpy3DPeer)(const CUDA_MEMCPY3D_PEER* p) { return copy(from_peer(*p), nullptr, false); }
SIM_API(cuMemcpy3DPeerAsync)(const CUDA_MEMCPY3D_PEER* p, CUstream s) { return copy(from_peer(*p), s, true); }

SIM_API(cuMemsetD8_v2)(CUdeviceptr to, unsigned char value, size_t n) {
  return fill(to, 0, value, 1, n, 1, nullptr, false);
}
SIM_API(cuMemsetD16_v2)(CUdeviceptr to, unsigned short value, size_t n) {
  return fill(to, 0, value, 2, n, 1, nullptr, false);
}
SIM_API(cuMemsetD32_v2)(CUdeviceptr to, unsigned int value, size_t n) {
  return fill(to, 0, value, 4, n, 1, nullptr, false);
}
SIM_API(cuMemsetD2D8_v2)(CUdeviceptr to, size_t pitch, unsigned char value, size_t w, size_t h) {
  return fill(to, pitch, value, 1, w, h, nullptr, false);
}
SIM_API(cuMemsetD2D16_v2)(CUdeviceptr to, size_t pitch, unsigned short value, size_t w, size_t h) {
  return fill(to, pitch, value, 2, w, h, nullptr, false);
}
SIM_API(cuMemsetD2D32_v2)(CUdeviceptr to, size_t pitch, unsigned int value, size_t w, size_t h) {
  return fill(to, pitch, value, 4, w, h, nullptr, false);
}
SIM_API(cuMemsetD8Async)(CUdeviceptr to, unsigned char value, size_t n, CUstream s) {
  return fill(to, 0, value, 1, n, 1, s, true);
}
SIM_API(cuMemsetD16Async)(CUdeviceptr to, unsigned short value, size_t n, CUstream s) {
  return fill(to, 0, value, 2, n, 1, s, true);
}
SIM_API(cuMemsetD32Async)(CUdeviceptr to, unsigned int value, size_t n, CUstream s) {
  return fill(to, 0, value, 4, n, 1, s, true);
}
SIM_API(cuMemsetD2D8Async)(CUdeviceptr to, size_t pitch, unsigned char value, size_t w, size_t h, CUstream s) {
  return fill(to, pitch, value, 1, w, h, s, true);
}
SIM_API(cuMemsetD2D16Async)(CUdeviceptr to, size_t pitch, unsigned short value, size_t w, size_t h, CUstream s) {
  return fill(to, pitch, value, 2, w, h, s, true);
}
SIM_API(cuMemsetD2D32Async)(CUdeviceptr to, size_t pitch, unsigned int value, size_t w, size_t h, CUstream s) {
  return fill(to, pitch, value, 4, w, h, s, true);
}

SIM_API(cuMemPrefetchAsync)(CUdeviceptr, size_t, CUdevice, CUstream hStream) {
  Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  return perform(stream, Work{}, false, nullptr);
}
SIM_API(cuMemDiscardBatchAsync)(CUdeviceptr* dptrs, size_t* sizes, size_t, unsigned long long, CUstream hStream) {
  if (dptrs == nullptr || sizes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = resolve_stream(hStream);
  return stream == nullptr ? why_no_stream() : perform(stream, Work{}, false, nullptr);
}
SIM_API(cuMemPrefetchAsync_v2)(CUdeviceptr p, size_t n, CUmemLocation location, unsigned int, CUstream hStream) {
  return impl_cuMemPrefetchAsync(p, n, location.id, hStream);
}
