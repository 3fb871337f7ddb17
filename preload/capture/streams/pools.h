// Which memory pool did an allocation come from? The hooks use it on the thread that makes the call. It has fixed
// tables, no lock and no allocation. A pool is defined in the log at its creation or at its first sight. The driver is
// queried only then.
#pragma once

#include "preload/format/ids.h"

#include <cuda.h>

namespace prof::preload {

struct StreamState;

// Called after a successful creation. `asked` is null: the pool was imported from another process.
void pool_made(CUmemoryPool pool, const CUmemPoolProps* asked);
// Called before the real call: another thread may get the same handle right after it.
void pool_destroyed(CUmemoryPool pool);
// From now on, allocations on streams of the device come from this pool.
void pool_chosen(CUdevice device, CUmemoryPool pool);

format::PoolId pool_id(CUmemoryPool pool);
// The pool of an allocation on the stream that names none: the current pool of the stream's device.
format::PoolId pool_behind(const StreamState* stream);

void open_pools();  // when a recording starts: the devices' choices are unknown

}  // namespace prof::preload
