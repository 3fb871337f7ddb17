// Scopes as the program registered them: what do events and counters belong to, if not to the thread that reports them?
// A scope is stored by its number in its domain. A recording's log gets its definition when it is registered or first
// named there. It runs in the program.
#pragma once

#include "preload/intercept/nvtx/nvtx_extension_api.h"
#include "preload/intercept/nvtx/nvtx_objects.h"

#include <cstdint>

namespace prof::preload {

// `wanted`: the number that a chained tool gave; 0: the program's own, or a new one. Equal paths below one parent get
// one number. A number keeps its first registration. Returns the number for the program; 0: refused.
uint64_t nvtx_register_scope(NvtxObject* domain, const NvtxScopeGiven* given, uint64_t wanted);

// Writes the scope and the scopes that contain it to this recording's log, if they are registered. The caller is inside
// a scope of recording.
void nvtx_define_scope(NvtxObject* domain, uint64_t number);

// The scope that the semantics of an entry name. 0: none.
uint64_t nvtx_scope_of(const NvtxSemantics* semantics);

}  // namespace prof::preload
