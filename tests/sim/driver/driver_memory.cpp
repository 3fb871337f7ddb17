// Allocations: device, host, managed, from pools, and queries of pointers. Device memory is host memory: kernels
// compute nothing, but copies copy, so a program that checks its data passes.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/sim/api_call.h"
#include "tests/sim/capture.h"
#include "tests/sim/device.h"
#include "tests/sim/graph.h"
#include "tests/sim/pool.h"

namespace sim {
namespace {

constexpr size_t kMapped =
    size_t{1} << 20;  // from this size on memory is mapped, so that an unused 80 GB buffer takes no memory

std::mutex g_mutex;  // protects the table below and pools; innermost
std::map<CUdeviceptr, Allocation>& table() {
  static auto* const all = new std::map<CUdeviceptr, Allocation>;
  return *all;
}
unsigned long long g_next_id = 1;

// On the current context's device unless another is given.
CUresult allocate(CUdeviceptr* out, size_t bytes, Allocation::Kind kind, unsigned flags = 0, Device* device = nullptr,
                  Pool* pool = nullptr) {
  Context* context = current_context();
  if (context == nullptr && device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (device == nullptr) device = context->device;
  std::lock_guard<std::mutex> lock(g_mutex);
  const bool on_device = kind == Allocation::Kind::Device;
  if (on_device && device->allocated_bytes + bytes > device->told.memory_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
  if (pool != nullptr && pool->most_bytes != 0 && pool->used + bytes > pool->most_bytes)
    return CUDA_ERROR_OUT_OF_MEMORY;
  void* memory = nullptr;
  const bool mapped = bytes >= kMapped;
  if (mapped) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  } else {
    memory = aligned_alloc(512, (bytes + 511) / 512 * 512);
    if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (on_device) device->allocated_bytes += bytes;
  if (pool != nullptr) take_from(*pool, bytes);
  const CUdeviceptr base = reinterpret_cast<CUdeviceptr>(memory);
  table()[base] = {kind, base, bytes, device, context, flags, mapped, g_next_id++, pool};
  *out = base;
  return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr base) {
  std::lock_guard<std::mutex> lock(g_mutex);
  const auto found = table().find(base);
  if (found == table().end()) return CUDA_ERROR_INVALID_VALUE;
  const Allocation& one = found->second;
  if (one.kind == Allocation::Kind::Device) one.device->allocated_bytes -= one.bytes;
  if (one.pool != nullptr) give_back(one.pool, one.bytes);
  if (one.mapped) {
    munmap(reinterpret_cast<void*>(base), one.bytes);
  } else if (one.kind != Allocation::Kind::Registered) {
    free(reinterpret_cast<void*>(base));
  }
  table().erase(found);
  return CUDA_SUCCESS;
}

// cuMemFree waits for the device, as the real one does.
CUresult release_in_order(CUdeviceptr base) {
  {
    Lock lock(device_mutex());
    if (Context* context = current_context()) wait_for_context(lock, context);
  }
  return release(base);
}

CUresult allocate_async(CUdeviceptr* out, size_t bytes, CUstream handle, Pool* pool) {
  Stream* stream = resolve_stream(handle);
  if (stream == nullptr) return why_no_stream();
  if (pool == nullptr) pool = current_pool(stream->context->device);
  // Memory that a graph allocates belongs to the graph.
  const CUresult result =
      allocate(out, bytes, Allocation::Kind::Device, 0, pool->device, stream->capturing.load() ? nullptr : pool);
  if (result != CUDA_SUCCESS) return result;
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  arguments.allocation.bytesize = bytes;
  arguments.allocation.dptr = *out;
  return perform(stream, Work{}, false, &arguments);
}

CUresult attribute(void* data, CUpointer_attribute which, CUdeviceptr address) {
  const Allocation* one = find_allocation(address);
  const auto put = [&](auto value) {
    memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
  };
  if (one == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool host = one->kind == Allocation::Kind::Host || one->kind == Allocation::Kind::Registered;
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return put(handle_of<CUcontext>(one->context));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(static_cast<unsigned>(host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return put(address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (one->kind == Allocation::Kind::Device) return CUDA_ERROR_INVALID_VALUE;
      return put(reinterpret_cast<void*>(address));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return put(one->id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return put(static_cast<unsigned>(one->kind == Allocation::Kind::Managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put(one->device->ordinal);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return put(one->base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return put(one->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED: return put(1u);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return put(0u);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return put(static_cast<void*>(one->pool));
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

std::mutex& allocation_mutex() { return g_mutex; }

const Allocation* find_allocation(CUdeviceptr address) {
  std::lock_guard<std::mutex> lock(g_mutex);
  auto after = table().upper_bound(address);
  if (after == table().begin()) return nullptr;
  --after;
  return address < after->first + after->second.bytes ? &after->second : nullptr;
}

}  // namespace sim

SIM_API(cuMemGetInfo_v2)(size_t* free, size_t* total) {
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Device& device = *current_context()->device;
  *free = device.told.memory_bytes - device.allocated_bytes;
  *total = device.told.memory_bytes;
  return CUDA_SUCCESS;
}

SIM_API(cuMemAlloc_v2)(CUdeviceptr* dptr, size_t bytesize) {
  if (const CUresult refused = allow_unsafe_call()) return refused;
  return allocate(dptr, bytesize, Allocation::Kind::Device);
}

SIM_API(cuMemAllocPitch_v2)(CUdeviceptr* dptr, size_t* pPitch, size_t WidthInBytes, size_t Height, unsigned int) {
  if (const CUresult refused = allow_unsafe_call()) return refused;
  *pPitch = (WidthInBytes + 511) / 512 * 512;
  return allocate(dptr, *pPitch * Height, Allocation::Kind::Device);
}

SIM_API(cuMemFree_v2)(CUdeviceptr dptr) {
  if (dptr == 0) return CUDA_SUCCESS;
  if (const CUresult refused = allow_unsafe_call()) return refused;
  return release_in_order(dptr);
}

SIM_API(cuMemGetAddressRange_v2)(CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr) {
  const Allocation* one = find_allocation(dptr);
  if (one == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (pbase != nullptr) *pbase = one->base;
  if (psize != nullptr) *psize = one->bytes;
  return CUDA_SUCCESS;
}

SIM_API(cuMemAllocHost_v2)(void** pp, size_t bytesize) {
  if (const CUresult refused = allow_unsafe_call()) return refused;
  return allocate(reinterpret_cast<CUdeviceptr*>(pp), bytesize, Allocation::Kind::Host);
}
SIM_API(cuMemHostAlloc)(void** pp, size_t bytesize, unsigned int flags) {
  if (const CUresult refused = allow_unsafe_call()) return refused;
  return allocate(reinterpret_cast<CUdeviceptr*>(pp), bytesize, Allocation::Kind::Host, flags);
}
SIM_API(cuMemFreeHost)(void* p) {
  if (const CUresult refused = allow_unsafe_call()) return refused;
  return release_in_order(reinterpret_cast<CUdeviceptr>(p));
}
SIM_API(cuMemAllocManaged)(CUdeviceptr* dptr, size_t bytesize, unsigned int flags) {
  if (const CUresult refused = allow_unsafe_call()) return refused;
  return allocate(dptr, bytesize, Allocation::Kind::Managed, flags);
}
SIM_API(cuMemHostGetDevicePointer_v2)(CUdeviceptr* pdptr, void* p, unsigned int) {
  *pdptr = reinterpret_cast<CUdeviceptr>(p);
  return find_allocation(*pdptr) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
SIM_API(cuMemHostGetFlags)(unsigned int* pFlags, void* p) {
  const Allocation* one = find_allocation(reinterpret_cast<CUdeviceptr>(p));
  if (one == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pFlags = one->flags;
  return CUDA_SUCCESS;
}
SIM_API(cuMemHostRegister_v2)(void* p, size_t bytesize, unsigned int flags) {
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const CUdeviceptr base = reinterpret_cast<CUdeviceptr>(p);
  std::lock_guard<std::mutex> lock(g_mutex);
  if (table().count(base) != 0) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  table()[base] = {Allocation::Kind::Registered,
                   base,
                   bytesize,
                   current_context()->device,
                   current_context(),
                   flags,
                   false,
                   g_next_id++,
                   nullptr};
  return CUDA_SUCCESS;
}
SIM_API(cuMemHostUnregister)(void* p) {
  const Allocation* one = find_allocation(reinterpret_cast<CUdeviceptr>(p));
  if (one == nullptr || one->kind != Allocation::Kind::Registered) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  return release(one->base);
}

SIM_API(cuMemAllocAsync)(CUdeviceptr* dptr, size_t bytesize, CUstream hStream) {
  return allocate_async(dptr, bytesize, hStream, nullptr);
}
SIM_API(cuMemAllocFromPoolAsync)(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream) {
  return pool == nullptr ? CUDA_ERROR_INVALID_VALUE : allocate_async(dptr, bytesize, hStream, object<Pool>(pool));
}
SIM_API(cuMemFreeAsync)(CUdeviceptr dptr, CUstream hStream) {
  Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  if (find_allocation(dptr) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  // A graph may be launched again, so memory freed by its free node is kept.
  if (!stream->capturing.load()) work.effect = [dptr] { release(dptr); };
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  arguments.freed = dptr;
  return perform(stream, std::move(work), false, &arguments);
}

SIM_API(cuPointerGetAttribute)(void* data, CUpointer_attribute which, CUdeviceptr ptr) {
  return sim::attribute(data, which, ptr);
}
SIM_API(cuPointerGetAttributes)
(unsigned int numAttributes, CUpointer_attribute* attributes, void** data, CUdeviceptr ptr) {
  for (unsigned i = 0; i < numAttributes; ++i) {
    // Unlike the single form, this one never fails for an unknown pointer: the result is zero.
    if (sim::attribute(data[i], attributes[i], ptr) == CUDA_SUCCESS) continue;
    const bool wide =
        attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT || attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
        attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER || attributes[i] == CU_POINTER_ATTRIBUTE_BUFFER_ID ||
        attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR || attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE ||
        attributes[i] == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
    memset(data[i], 0, wide ? 8 : 4);
    if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) *static_cast<int*>(data[i]) = -2;
  }
  return CUDA_SUCCESS;
}
SIM_API(cuPointerSetAttribute)(const void*, CUpointer_attribute, CUdeviceptr) { return CUDA_SUCCESS; }
SIM_API(cuMemAdvise)(CUdeviceptr, size_t, CUmem_advise, CUdevice) { return CUDA_SUCCESS; }
SIM_API(cuMemAdvise_v2)(CUdeviceptr, size_t, CUmem_advise, CUmemLocation) { return CUDA_SUCCESS; }
