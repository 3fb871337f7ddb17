// Memory pools: creation, selection, trimming and attributes.
#include <algorithm>

#include "tests/sim/api_call.h"
#include "tests/sim/pool.h"

namespace sim {

namespace {

// With the mutex held.
Pool* default_pool(Device* device) {
  if (device->default_pool == nullptr) {
    device->default_pool = new Pool;
    device->default_pool->device = device;
    device->default_pool->standard = true;
  }
  return device->default_pool;
}

}  // namespace

void take_from(Pool& pool, size_t bytes) {
  pool.used += bytes;
  pool.most_used = std::max(pool.most_used, pool.used);
  pool.reserved = std::max(pool.reserved, pool.used);
  pool.most_reserved = std::max(pool.most_reserved, pool.reserved);
}

void give_back(Pool* pool, size_t bytes) {
  pool->used -= bytes;
  if (pool->destroyed && pool->used == 0) delete pool;
}

Pool* current_pool(Device* device) {
  std::lock_guard<std::mutex> lock(allocation_mutex());
  return device->pool != nullptr ? device->pool : default_pool(device);
}

}  // namespace sim

SIM_API(cuDeviceGetDefaultMemPool)(CUmemoryPool* pool_out, CUdevice dev) {
  Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  std::lock_guard<std::mutex> lock(allocation_mutex());
  *pool_out = handle_of<CUmemoryPool>(default_pool(device));
  return CUDA_SUCCESS;
}
SIM_API(cuDeviceGetMemPool)(CUmemoryPool* pool, CUdevice dev) {
  Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *pool = handle_of<CUmemoryPool>(current_pool(device));
  return CUDA_SUCCESS;
}
SIM_API(cuDeviceSetMemPool)(CUdevice dev, CUmemoryPool pool) {
  Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  std::lock_guard<std::mutex> lock(allocation_mutex());
  if (pool == nullptr || object<Pool>(pool)->device != device) return CUDA_ERROR_INVALID_VALUE;
  device->pool = object<Pool>(pool);
  return CUDA_SUCCESS;
}
SIM_API(cuMemPoolCreate)(CUmemoryPool* pool, const CUmemPoolProps* poolProps) {
  if (pool == nullptr || poolProps == nullptr || poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  Device* device = device_at(poolProps->location.id);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  auto* made = new Pool;
  made->device = device;
  made->most_bytes = poolProps->maxSize;
  *pool = handle_of<CUmemoryPool>(made);
  return CUDA_SUCCESS;
}
SIM_API(cuMemPoolDestroy)(CUmemoryPool handle) {
  Pool* pool = object<Pool>(handle);
  std::lock_guard<std::mutex> lock(allocation_mutex());
  if (pool == nullptr || pool->standard || pool->destroyed) return CUDA_ERROR_INVALID_VALUE;
  if (pool->device->pool == pool) pool->device->pool = nullptr;  // its default pool is the current one again
  pool->destroyed = true;
  if (pool->used == 0) delete pool;
  return CUDA_SUCCESS;
}
SIM_API(cuMemPoolTrimTo)(CUmemoryPool handle, size_t minBytesToKeep) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard<std::mutex> lock(allocation_mutex());
  Pool& pool = *object<Pool>(handle);
  pool.reserved = std::max<uint64_t>(pool.used, std::min<uint64_t>(pool.reserved, minBytesToKeep));
  return CUDA_SUCCESS;
}
SIM_API(cuMemPoolSetAttribute)(CUmemoryPool handle, CUmemPool_attribute attr, void* value) {
  std::lock_guard<std::mutex> lock(allocation_mutex());
  Pool& pool = *object<Pool>(handle);
  if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) pool.threshold = *static_cast<cuuint64_t*>(value);
  if (attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH) pool.most_used = pool.used;
  if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) pool.most_reserved = pool.reserved;
  return CUDA_SUCCESS;
}
SIM_API(cuMemPoolGetAttribute)(CUmemoryPool handle, CUmemPool_attribute attr, void* value) {
  std::lock_guard<std::mutex> lock(allocation_mutex());
  const Pool& pool = *object<Pool>(handle);
  const auto put = [&](uint64_t number) {
    *static_cast<cuuint64_t*>(value) = number;
    return CUDA_SUCCESS;
  };
  switch (attr) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: return put(pool.threshold);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: return put(pool.reserved);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: return put(pool.most_reserved);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return put(pool.used);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return put(pool.most_used);
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: *static_cast<int*>(value) = 1; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}
SIM_API(cuMemPoolSetAccess)(CUmemoryPool, const CUmemAccessDesc*, size_t) { return CUDA_SUCCESS; }
