// Memory words that a stream writes, and those that it waits for.
#include <type_traits>

#include "tests/sim/api_call.h"
#include "tests/sim/capture.h"
#include "tests/sim/device.h"

namespace sim {
namespace {

template <class Word> Word read_word(CUdeviceptr address) {
  return __atomic_load_n(reinterpret_cast<Word*>(address), __ATOMIC_ACQUIRE);
}

template <class Word> CUresult write_value(CUstream handle, CUdeviceptr address, Word value) {
  Stream* stream = resolve_stream(handle);
  if (stream == nullptr) return why_no_stream();
  if (address == 0 || address % sizeof(Word) != 0) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  work.record.kind = OperationKind::WriteValue;
  work.effect = [address, value] { __atomic_store_n(reinterpret_cast<Word*>(address), value, __ATOMIC_RELEASE); };
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  return perform(stream, std::move(work), false, &arguments);
}

template <class Word> CUresult wait_value(CUstream handle, CUdeviceptr address, Word value, unsigned flags) {
  Stream* stream = resolve_stream(handle);
  if (stream == nullptr) return why_no_stream();
  if (address == 0 || address % sizeof(Word) != 0) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  work.record.kind = OperationKind::WaitValue;
  work.condition = [address, value, flags] {
    const Word now = read_word<Word>(address);
    switch (flags & 3u) {
      case CU_STREAM_WAIT_VALUE_GEQ: return static_cast<std::make_signed_t<Word>>(now - value) >= 0;
      case CU_STREAM_WAIT_VALUE_EQ: return now == value;
      case CU_STREAM_WAIT_VALUE_AND: return (now & value) != 0;
      default: return static_cast<Word>(~(now | value)) != 0;
    }
  };
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  return perform(stream, std::move(work), false, &arguments);
}

CUresult memory_op(CUstream stream, const CUstreamBatchMemOpParams& one) {
  switch (one.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return wait_value<uint32_t>(stream, one.waitValue.address, one.waitValue.value, one.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return wait_value<uint64_t>(stream, one.waitValue.address, one.waitValue.value64, one.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return write_value<uint32_t>(stream, one.writeValue.address, one.writeValue.value);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return write_value<uint64_t>(stream, one.writeValue.address, one.writeValue.value64);
    default: return CUDA_SUCCESS;  // barriers and flushes: operations of a stream run in order anyway
  }
}

}  // namespace
}  // namespace sim

SIM_API(cuStreamWriteValue32_v2)(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int) {
  return write_value<uint32_t>(stream, addr, value);
}
SIM_API(cuStreamWriteValue64_v2)(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int) {
  return write_value<uint64_t>(stream, addr, value);
}
SIM_API(cuStreamWaitValue32_v2)(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return wait_value<uint32_t>(stream, addr, value, flags);
}
SIM_API(cuStreamWaitValue64_v2)(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return wait_value<uint64_t>(stream, addr, value, flags);
}
SIM_API(cuStreamWriteValue32)(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int) {
  return write_value<uint32_t>(stream, addr, value);
}
SIM_API(cuStreamWriteValue64)(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int) {
  return write_value<uint64_t>(stream, addr, value);
}
SIM_API(cuStreamWaitValue32)(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return wait_value<uint32_t>(stream, addr, value, flags);
}
SIM_API(cuStreamWaitValue64)(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return wait_value<uint64_t>(stream, addr, value, flags);
}

SIM_API(cuStreamBatchMemOp_v2)
(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* paramArray, unsigned int) {
  if (paramArray == nullptr || count > 256) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned int i = 0; i < count; ++i) {
    const CUresult result = memory_op(stream, paramArray[i]);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}
SIM_API(cuStreamBatchMemOp)
(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* paramArray, unsigned int flags) {
  return impl_cuStreamBatchMemOp_v2(stream, count, paramArray, flags);
}
