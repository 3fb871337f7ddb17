// Memory words that streams wait for or write: cuStreamWaitValue…, cuStreamWriteValue… and batches of them. Each
// call is a plain call, preceded by a record of what it submitted to the stream. That record has the address, the value
// and the flags. Without them, a reader cannot find which write ended a wait. The calls are rare and write one to a few
// records each. It runs in the program.
#pragma once

#include "preload/intercept/records/captured_node.h"
#include "preload/intercept/records/record_call.h"
#include "preload/lifecycle/call_scope.h"

namespace prof::preload {

// Records what a successful call submitted to the stream. If the call only became a node of a graph, it records that
// node.
void record_stream_memory(const CallScope& scope, const StreamState* state, CUstream stream, CUresult result,
                          format::StreamMemory operation);
void record_stream_memory(const CallScope& scope, const StreamState* state, CUstream stream, CUresult result,
                          const CUstreamBatchMemOpParams* list, unsigned count);

namespace topic {

template <bool writes> struct StreamValue {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static StreamState* enter(C, const CallScope&, CUstream stream, Args...) {
    return stream_state(stream, C::kNullStream);
  }
  template <class C, class Word>
  static void leave(C, const CallScope& scope, StreamState* state, CUresult result, CUstream stream,
                    CUdeviceptr address, Word value, unsigned flags) {
    constexpr bool kWide = sizeof(Word) == 8;
    format::StreamMemory operation;
    operation.what = writes ? (kWide ? CU_STREAM_MEM_OP_WRITE_VALUE_64 : CU_STREAM_MEM_OP_WRITE_VALUE_32)
                            : (kWide ? CU_STREAM_MEM_OP_WAIT_VALUE_64 : CU_STREAM_MEM_OP_WAIT_VALUE_32);
    operation.address = address;
    operation.value = value;
    operation.flags = flags;
    record_stream_memory(scope, state, stream, result, operation);
    record_call(scope, C::kApi, stream_id(state), address, result);
  }
};

struct WaitValue : StreamValue<false> {};
struct WriteValue : StreamValue<true> {};

struct MemoryBatch {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static StreamState* enter(C, const CallScope&, CUstream stream, Args...) {
    return stream_state(stream, C::kNullStream);
  }
  template <class C>
  static void leave(C, const CallScope& scope, StreamState* state, CUresult result, CUstream stream, unsigned count,
                    CUstreamBatchMemOpParams* list, unsigned) {
    record_stream_memory(scope, state, stream, result, list, count);
    record_call(scope, C::kApi, stream_id(state), 0, result);
  }
};

}  // namespace topic
}  // namespace prof::preload
