#include "preload/intercept/records/record_memory.h"

#include "preload/lifecycle/call_scope.h"
#include "preload/record/append.h"

namespace prof::preload {

__attribute__((noinline)) void record_memory(const CallScope& scope, Api api, const Launching& state, uint64_t bytes,
                                             CUresult result) {
  note_error(result);
  if (is_left_out(state.stream)) return;
  format::MemoryLaunch event;
  event.end = scope.end_tick();
  event.duration = scope.duration();
  event.api = api_id(api);
  event.stream = stream_id(state.stream);
  event.depth = state.depth;
  event.bytes = bytes;
  event.stack = stack_for(StackUse::Copy);
  event.result = static_cast<uint32_t>(result);
  event.flags = state.flags;
  emit(event);
}

__attribute__((noinline)) void record_alloc(const CallScope& scope, Api api, uint64_t address, uint64_t bytes,
                                            StreamState* stream, CUresult result, format::ContextId context,
                                            format::PoolId pool) {
  format::AllocCall event;
  event.end = scope.end_tick();
  event.duration = scope.duration();
  event.api = api_id(api);
  event.address = address;
  event.bytes = bytes;
  event.context = context;
  event.pool = pool;
  event.stream = stream_id(stream);
  event.stack = stack_for(StackUse::Alloc);
  event.result = static_cast<uint32_t>(result);
  emit(event);
}

}  // namespace prof::preload
