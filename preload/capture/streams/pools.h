// Memory pools: which one an allocation came from. Called by the hooks on the thread that makes the call; fixed tables, no lock,
// no allocation. A pool is defined in the log at its creation or at its first sight; the driver is asked only then.
#pragma once

#include "preload/format/ids.h"

#include <cuda.h>

namespace prof::preload {

struct StreamState;

// Behind a successful creation; null: imported from another process.
void pool_made(CUmemoryPool pool, const CUmemPoolProps* asked);
// Before the real call: another thread may get the handle again right after it.
void pool_destroyed(CUmemoryPool pool);
// Allocations on streams of the device come from it from now on.
void pool_chosen(CUdevice device, CUmemoryPool pool);

format::PoolId pool_id(CUmemoryPool pool);
// Where an allocation on the stream comes from that names no pool: the current one of the stream's device.
format::PoolId pool_behind(const StreamState* stream);

void open_pools();  // at the start of a life: nothing is known of the devices' choices

}  // namespace prof::preload
