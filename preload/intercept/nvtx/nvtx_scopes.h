// Scopes as the program registered them: where events and counters belong that are not the thread's which announces them. A scope is
// kept by its number in its domain and defined in a life's log when it is registered or first named there. In the program.
#pragma once

#include "preload/intercept/nvtx/nvtx_extension_api.h"
#include "preload/intercept/nvtx/nvtx_objects.h"

#include <cstdint>

namespace prof::preload {

// `wanted`: the number that a chained tool gave; 0: the program's own, or a new one. Equal paths below one parent get one number. A
// number keeps what it was registered with first. Returns the number for the program; 0: refused.
uint64_t nvtx_register_scope(NvtxObject* domain, const NvtxScopeGiven* given, uint64_t wanted);

// It and the scopes that it lies in into this life's log, as far as they are registered; the caller is inside a scope of recording.
void nvtx_define_scope(NvtxObject* domain, uint64_t number);

// The scope that an entry's semantics name; 0: none.
uint64_t nvtx_scope_of(const NvtxSemantics* semantics);

}  // namespace prof::preload
