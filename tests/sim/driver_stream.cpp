// Streams, events, host functions and stream-ordered memory words.
#include <cmath>

#include "api_call.h"
#include "capture.h"
#include "device.h"
#include "graph.h"

namespace sim {

unsigned long long next_stream_id();

Work host_work(CUhostFn function, void* data) {
  Work work;
  work.record.kind = OperationKind::HostFunc;
  work.duration = script().host_func;
  work.callback = [function, data] { function(data); };
  return work;
}

Work event_record_work(Event*) {
  Work work;
  work.record.kind = OperationKind::EventRecord;
  return work;
}

CUresult perform(Stream* stream, Work work, bool sync, const NodeArguments* raw) {
  Lock lock(device_mutex());
  if (stream->capture != nullptr) {
    if (sync || raw == nullptr) return refuse_captured(stream);
    return capture_work(stream, std::move(work), *raw);
  }
  if (const CUresult refused = allow_legacy_use(lock, stream)) return refused;
  const OperationPtr one = submit_locked(lock, stream, std::move(work));
  if (sync) wait_for(lock, one);
  return CUDA_SUCCESS;
}

ObjectPool<Event>& event_pool() {
  static auto* const all = new ObjectPool<Event>;
  return *all;
}

CUresult create_stream(Context* context, CUstream* out, unsigned flags, int priority) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (out == nullptr || (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (context->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  Stream* one = stream_pool().make();
  {
    Lock lock(device_mutex());
    one->context = context;
    one->flags = flags;
    one->priority = std::min(0, std::max(-5, priority));
    one->cupti_id = context->next_stream++;
    one->id = next_stream_id();
    context->streams.insert(one);
  }
  *out = handle_of<CUstream>(one);
  if (ActivitySink* sink = activity_sink())
    sink->resource(ResourceEvent::StreamCreated, handle_of<CUcontext>(context), *out);
  return CUDA_SUCCESS;
}

namespace {

CUresult record_event(Event* event, CUstream handle, unsigned flags = 0) {
  Stream* stream = resolve_stream(handle);
  if (stream == nullptr) return why_no_stream();
  if (!event_pool().alive(event)) return CUDA_ERROR_INVALID_HANDLE;
  Lock lock(device_mutex());
  if (stream->capture != nullptr && (flags & CU_EVENT_RECORD_EXTERNAL) != 0) {
    NodeArguments arguments;
    arguments.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    arguments.event = event;
    event->capture = nullptr;
    return capture_work(stream, event_record_work(event), arguments);
  }
  if (stream->capture != nullptr) return capture_event_record(stream, event);
  if (const CUresult refused = allow_legacy_use(lock, stream)) return refused;
  event->capture = nullptr;
  event->captured.clear();
  event->operation = submit_locked(lock, stream, event_record_work(event));
  return CUDA_SUCCESS;
}

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
    default: return CUDA_SUCCESS;  // barriers and flushes: operations of a stream are in order anyway
  }
}

}  // namespace
}  // namespace sim

SIM_API(cuStreamCreate)(CUstream* phStream, unsigned int flags) {
  return create_stream(current_context(), phStream, flags, 0);
}

SIM_API(cuStreamCreateWithPriority)(CUstream* phStream, unsigned int flags, int priority) {
  return create_stream(current_context(), phStream, flags, priority);
}

SIM_API(cuStreamDestroy_v2)(CUstream hStream) {
  if (hStream == nullptr || hStream == CU_STREAM_LEGACY || hStream == CU_STREAM_PER_THREAD)
    return CUDA_ERROR_INVALID_HANDLE;
  Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  if (ActivitySink* sink = activity_sink()) {
    sink->resource(ResourceEvent::StreamDestroyStarting, handle_of<CUcontext>(stream->context), hStream);
  }
  Lock lock(device_mutex());
  if (const CUresult refused = refuse_captured(stream)) return refused;
  // Work still in flight finishes; the handle may name a new stream from now on.
  for (const OperationPtr& one : stream->pending) one->stream = nullptr;
  stream->context->streams.erase(stream);
  stream_pool().destroy(stream);
  return CUDA_SUCCESS;
}

SIM_API(cuStreamDestroy)(CUstream hStream) { return impl_cuStreamDestroy_v2(hStream); }

SIM_API(cuStreamSynchronize)(CUstream hStream) {
  Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  Lock lock(device_mutex());
  if (const CUresult refused = refuse_captured(stream)) return refused;
  if (const CUresult refused = allow_legacy_use(lock, stream)) return refused;
  wait_for_stream(lock, stream);
  return CUDA_SUCCESS;
}

SIM_API(cuStreamQuery)(CUstream hStream) {
  Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  Lock lock(device_mutex());
  if (const CUresult refused = refuse_captured(stream)) return refused;
  if (const CUresult refused = allow_legacy_use(lock, stream)) return refused;
  return stream_dependencies_locked(stream).empty() || stream->tail == nullptr || stream->tail->retired
             ? CUDA_SUCCESS
             : CUDA_ERROR_NOT_READY;
}

SIM_API(cuStreamGetPriority)(CUstream hStream, int* priority) {
  const Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

SIM_API(cuStreamGetFlags)(CUstream hStream, unsigned int* flags) {
  const Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

SIM_API(cuStreamGetId)(CUstream hStream, unsigned long long* streamId) {
  const Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  *streamId = stream->id;
  return CUDA_SUCCESS;
}

SIM_API(cuStreamGetCtx)(CUstream hStream, CUcontext* pctx) {
  const Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  *pctx = handle_of<CUcontext>(stream->context);
  return CUDA_SUCCESS;
}

SIM_API(cuStreamGetDevice)(CUstream hStream, CUdevice* device) {
  const Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  *device = stream->context->device->ordinal;
  return CUDA_SUCCESS;
}

SIM_API(cuStreamWaitEvent)(CUstream hStream, CUevent hEvent, unsigned int) {
  Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  if (!event_pool().alive(hEvent)) return CUDA_ERROR_INVALID_HANDLE;
  Event* event = object<Event>(hEvent);
  Lock lock(device_mutex());
  if (stream->capture != nullptr || event->capture != nullptr) return capture_event_wait(stream, event);
  if (const CUresult refused = allow_legacy_use(lock, stream)) return refused;
  if (event->operation == nullptr || event->operation->retired) return CUDA_SUCCESS;
  Work work;
  work.record.kind = OperationKind::EventWait;
  submit_locked(lock, stream, std::move(work), {event->operation});
  return CUDA_SUCCESS;
}

SIM_API(cuStreamAddCallback)(CUstream hStream, CUstreamCallback callback, void* userData, unsigned int) {
  Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  Work work;
  work.record.kind = OperationKind::HostFunc;
  work.duration = script().host_func;
  work.callback = [hStream, callback, userData] { callback(hStream, CUDA_SUCCESS, userData); };
  return perform(stream, std::move(work), false, nullptr);
}

SIM_API(cuLaunchHostFunc)(CUstream hStream, CUhostFn fn, void* userData) {
  Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  if (fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  NodeArguments arguments;
  arguments.type = CU_GRAPH_NODE_TYPE_HOST;
  arguments.host = {fn, userData};
  return perform(stream, host_work(fn, userData), false, &arguments);
}

SIM_API(cuStreamAttachMemAsync)(CUstream, CUdeviceptr, size_t, unsigned int) { return CUDA_SUCCESS; }
SIM_API(cuStreamCopyAttributes)(CUstream, CUstream) { return CUDA_SUCCESS; }

SIM_API(cuStreamGetAttribute)(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value) {
  const Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  *value = CUstreamAttrValue{};
  if (attr == CU_LAUNCH_ATTRIBUTE_PRIORITY) value->priority = stream->priority;
  if (attr == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) *value = stream->access_policy;
  return CUDA_SUCCESS;
}

SIM_API(cuStreamSetAttribute)(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue* param) {
  Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  if (attr == CU_LAUNCH_ATTRIBUTE_PRIORITY) stream->priority = param->priority;
  if (attr == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) stream->access_policy = *param;
  return CUDA_SUCCESS;
}

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

SIM_API(cuEventCreate)(CUevent* phEvent, unsigned int flags) {
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (phEvent == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Event* one = event_pool().make();
  one->context = current_context();
  one->flags = flags;
  *phEvent = handle_of<CUevent>(one);
  return CUDA_SUCCESS;
}

SIM_API(cuEventDestroy_v2)(CUevent hEvent) {
  if (!event_pool().alive(hEvent)) return CUDA_ERROR_INVALID_HANDLE;
  Lock lock(device_mutex());
  event_pool().destroy(object<Event>(hEvent));
  return CUDA_SUCCESS;
}

SIM_API(cuEventDestroy)(CUevent hEvent) { return impl_cuEventDestroy_v2(hEvent); }
SIM_API(cuEventRecord)(CUevent hEvent, CUstream hStream) { return record_event(object<Event>(hEvent), hStream); }
SIM_API(cuEventRecordWithFlags)(CUevent hEvent, CUstream hStream, unsigned int flags) {
  return record_event(object<Event>(hEvent), hStream, flags);
}

SIM_API(cuEventQuery)(CUevent hEvent) {
  if (!event_pool().alive(hEvent)) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult refused = allow_unsafe_call()) return refused;
  const Event* event = object<Event>(hEvent);
  Lock lock(device_mutex());
  if (event->capture != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
  return event->operation == nullptr || event->operation->retired ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

SIM_API(cuEventSynchronize)(CUevent hEvent) {
  if (!event_pool().alive(hEvent)) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult refused = allow_unsafe_call()) return refused;
  const Event* event = object<Event>(hEvent);
  Lock lock(device_mutex());
  if (event->capture != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
  wait_for(lock, event->operation);
  return CUDA_SUCCESS;
}

SIM_API(cuEventElapsedTime_v2)(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  if (!event_pool().alive(hStart) || !event_pool().alive(hEnd)) return CUDA_ERROR_INVALID_HANDLE;
  const Event* start = object<Event>(hStart);
  const Event* end = object<Event>(hEnd);
  if (((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0) return CUDA_ERROR_INVALID_HANDLE;
  Lock lock(device_mutex());
  if (start->operation == nullptr || end->operation == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!start->operation->retired || !end->operation->retired) return CUDA_ERROR_NOT_READY;
  const double ns = static_cast<double>(end->operation->end) - static_cast<double>(start->operation->end);
  *pMilliseconds = static_cast<float>(ns / 1e6);
  return CUDA_SUCCESS;
}

SIM_API(cuEventElapsedTime)(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  return impl_cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}
