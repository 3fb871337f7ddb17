// Memory pools: plain ApiCall records. They also define from which pool later allocations come
// (capture/streams/pools.h). It runs in the program.
#pragma once

#include "preload/capture/streams/pools.h"
#include "preload/intercept/records/record_arguments.h"
#include "preload/lifecycle/call_scope.h"

namespace prof::preload::topic {

// cuMemPoolCreate(pool, properties), cuMemPoolImportFromShareableHandle(pool, …)
struct PoolCreate {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args...) { return {}; }
  template <class C, class... Args>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUmemoryPool* made, Args... args) {
    const bool ok = result == CUDA_SUCCESS && made != nullptr;
    if (ok) pool_made(*made, argument<const CUmemPoolProps*>(args...));
    record_arguments(scope, arguments_of(result, made, args...));
    record_call(scope, C::kApi, {}, ok ? as_object(*made) : 0, result);
  }
};

struct PoolDestroy {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C> static Nothing enter(C, const CallScope&, CUmemoryPool pool) {
    pool_destroyed(pool);
    return {};
  }
  template <class C> static void leave(C, const CallScope& scope, Nothing, CUresult result, CUmemoryPool pool) {
    record_call(scope, C::kApi, {}, as_object(pool), result);
  }
};

// cuDeviceSetMemPool(device, pool), cuMemSetMemPool(location, type, pool)
struct PoolChoose {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args...) { return {}; }
  template <class C>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUdevice device, CUmemoryPool pool) {
    if (result == CUDA_SUCCESS) pool_chosen(device, pool);
    record_call(scope, C::kApi, {}, as_object(pool), result);
  }
  template <class C>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUmemLocation* location,
                    CUmemAllocationType type, CUmemoryPool pool) {
    const bool of_streams = location != nullptr && location->type == CU_MEM_LOCATION_TYPE_DEVICE &&
                            type == CU_MEM_ALLOCATION_TYPE_PINNED;  // managed memory has a separate pool
    if (result == CUDA_SUCCESS && of_streams) pool_chosen(location->id, pool);
    record_call(scope, C::kApi, {}, as_object(pool), result);
  }
};

}  // namespace prof::preload::topic
