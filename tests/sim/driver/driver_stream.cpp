// Streams and host functions.
#include "tests/sim/api_call.h"
#include "tests/sim/capture.h"
#include "tests/sim/device.h"
#include "tests/sim/graph.h"

namespace sim {

unsigned long long next_stream_id();

Work host_work(CUhostFn function, void* data) {
  Work work;
  work.record.kind = OperationKind::HostFunc;
  work.duration = script().host_func;
  work.callback = [function, data] { function(data); };
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
  // Operations in flight finish; the handle may refer to a new stream from now on.
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
