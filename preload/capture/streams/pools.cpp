#include "preload/capture/streams/pools.h"

#include "preload/capture/streams/stream_table.h"
#include "preload/driver/driver.h"
#include "preload/driver/handle_map.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/thread_local.h"

#include <cerrno>

namespace prof::preload {

namespace {

// handle → [32 bits epoch of the recording | 32 bits PoolId]
HandleMap<1024> g_pools;
std::atomic<uint32_t> g_next_pool{1};

// PoolId from which allocations on a device's streams come. 0: not queried since the last possible change.
constexpr int kDevices = 64;
std::atomic<uint32_t> g_chosen[kDevices];

constexpr uint32_t kOnDevice = 1;  // CU_MEM_LOCATION_TYPE_DEVICE

format::PoolId define_pool(CUmemoryPool pool, format::PoolOrigin origin, uint32_t location, uint32_t place) {
  format::MemoryPoolDef definition;
  definition.id = format::PoolId{g_next_pool.fetch_add(1, std::memory_order_relaxed)};
  definition.handle = reinterpret_cast<uint64_t>(pool);
  definition.origin = origin;
  definition.location = location;
  definition.place = place;
  if (!define(definition)) return {};
  if (!g_pools.put(pool, t_local.epoch << 32 | static_cast<uint32_t>(definition.id)))
    count(format::LossCounter::intern_full);
  return definition.id;
}

// A pool whose creation was not recorded is a device's default pool, or older than the recording.
__attribute__((noinline)) format::PoolId meet_pool(CUmemoryPool pool) {
  const int saved = errno;
  const DriverCall own;
  int count = 0;
  if (g_driver.cuDeviceGetCount == nullptr || g_driver.cuDeviceGetCount(&count) != CUDA_SUCCESS) count = 0;
  CUdevice of = -1;
  for (CUdevice device = 0; device < count && of < 0 && g_driver.cuDeviceGetDefaultMemPool != nullptr; ++device) {
    CUmemoryPool standard = nullptr;
    if (g_driver.cuDeviceGetDefaultMemPool(&standard, device) == CUDA_SUCCESS && standard == pool) of = device;
  }
  const format::PoolId id = of >= 0
                                ? define_pool(pool, format::PoolOrigin::Default, kOnDevice, static_cast<uint32_t>(of))
                                : define_pool(pool, format::PoolOrigin::Unknown, 0, 0);
  errno = saved;
  return id;
}

__attribute__((noinline)) format::PoolId ask_chosen(uint32_t device) {
  if (g_driver.cuDeviceGetMemPool == nullptr) return {};
  const int saved = errno;
  CUmemoryPool pool = nullptr;
  {
    const DriverCall own;
    if (g_driver.cuDeviceGetMemPool(&pool, static_cast<CUdevice>(device)) != CUDA_SUCCESS) pool = nullptr;
  }
  errno = saved;
  const format::PoolId id = pool_id(pool);
  g_chosen[device].store(static_cast<uint32_t>(id), std::memory_order_relaxed);
  return id;
}

}  // namespace

void pool_made(CUmemoryPool pool, const CUmemPoolProps* asked) {
  if (asked != nullptr) {
    define_pool(pool, format::PoolOrigin::Created, static_cast<uint32_t>(asked->location.type),
                static_cast<uint32_t>(asked->location.id));
  } else {
    define_pool(pool, format::PoolOrigin::Imported, 0, 0);
  }
}

void pool_destroyed(CUmemoryPool pool) {
  const auto id = static_cast<uint32_t>(g_pools.find(pool));
  g_pools.erase(pool);
  // A device whose current pool it was uses its default pool from now on. The next allocation queries it.
  for (std::atomic<uint32_t>& chosen : g_chosen) {
    uint32_t expected = id;
    chosen.compare_exchange_strong(expected, 0, std::memory_order_relaxed);
  }
}

void pool_chosen(CUdevice device, CUmemoryPool pool) {
  if (device < 0 || device >= kDevices) return;
  g_chosen[device].store(static_cast<uint32_t>(pool_id(pool)), std::memory_order_relaxed);
}

format::PoolId pool_id(CUmemoryPool pool) {
  if (pool == nullptr) return {};
  const uint64_t known = g_pools.find(pool);
  if (known != 0 && known >> 32 == t_local.epoch << 32 >> 32) return static_cast<format::PoolId>(known & 0xffffffff);
  return meet_pool(pool);
}

format::PoolId pool_behind(const StreamState* stream) {
  const ContextState* const context = stream != nullptr ? stream->context.load(std::memory_order_relaxed) : nullptr;
  if (context == nullptr || context->device >= kDevices) return {};
  const uint32_t chosen = g_chosen[context->device].load(std::memory_order_relaxed);
  return chosen != 0 ? format::PoolId{chosen} : ask_chosen(context->device);
}

void open_pools() {
  g_next_pool.store(1, std::memory_order_relaxed);
  for (std::atomic<uint32_t>& chosen : g_chosen) chosen.store(0, std::memory_order_relaxed);
}

}  // namespace prof::preload
