#include "preload/intercept/records/record_stream_memory.h"

#include "preload/lifecycle/call_scope.h"
#include "preload/record/append.h"

namespace prof::preload {

void record_stream_memory(const CallScope& scope, const StreamState* state, CUstream stream, CUresult result,
                          format::StreamMemory operation) {
  if (result != CUDA_SUCCESS) return;
  if (is_captured(state, stream)) {
    record_captured_node(scope, state, stream);
    return;
  }
  operation.time = scope.end_tick();
  emit(operation);
}

void record_stream_memory(const CallScope& scope, const StreamState* state, CUstream stream, CUresult result,
                          const CUstreamBatchMemOpParams* list, unsigned count) {
  if (result != CUDA_SUCCESS || list == nullptr) return;
  if (is_captured(state, stream)) {
    record_captured_node(scope, state, stream);
    return;
  }
  for (unsigned i = 0; i < count; ++i) {
    const CUstreamBatchMemOpParams& one = list[i];
    const bool writes =
        one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 || one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    const bool waits =
        one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    const bool wide =
        one.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64 || one.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    if (!writes && !waits) continue;
    format::StreamMemory operation;
    operation.time = scope.end_tick();
    operation.what = one.operation;
    operation.address = waits ? one.waitValue.address : one.writeValue.address;
    operation.value = wide    ? (waits ? one.waitValue.value64 : one.writeValue.value64)
                      : waits ? one.waitValue.value
                              : one.writeValue.value;
    operation.flags = waits ? one.waitValue.flags : one.writeValue.flags;
    emit(operation);
  }
}

}  // namespace prof::preload
