// Events: recorded in streams and in graphs, queried, waited for.
#include "tests/sim/api_call.h"
#include "tests/sim/capture.h"
#include "tests/sim/device.h"
#include "tests/sim/graph.h"

namespace sim {

Work event_record_work(Event*) {
  Work work;
  work.record.kind = OperationKind::EventRecord;
  return work;
}

ObjectPool<Event>& event_pool() {
  static auto* const all = new ObjectPool<Event>;
  return *all;
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

}  // namespace
}  // namespace sim

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
