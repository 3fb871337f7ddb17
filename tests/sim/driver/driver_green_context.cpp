// Green contexts: parts of a device's SMs. Operations in one take as long as elsewhere; the simulation is about which
// streams belong to which context. A green context is a separate context, reached by the handle that cuCtxFromGreenCtx
// returns, and keeps the primary context alive.
#include <algorithm>
#include <cstring>

#include "tests/sim/api_call.h"
#include "tests/sim/capture.h"
#include "tests/sim/device.h"

namespace sim {

struct GreenContext {
  Context* context = nullptr;  // the CUcontext that it converts to
  unsigned multiprocessors = 0;
};

namespace {

struct ResourceList {
  unsigned multiprocessors = 0;
};

// Never freed: a destroyed one must read as destroyed, not crash.
GreenContext* existing(CUgreenCtx handle) {
  GreenContext* green = object<GreenContext>(handle);
  return green != nullptr && context_exists(green->context) ? green : nullptr;
}

CUdevResource multiprocessors(unsigned count) {
  CUdevResource resource;
  memset(&resource, 0, sizeof resource);
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource.sm.smCount = count;
  return resource;
}

CUresult tell(CUdevResource* resource, CUdevResourceType type, unsigned count) {
  if (resource == nullptr || type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_VALUE;
  *resource = multiprocessors(count);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace sim

using sim::ResourceList;

SIM_API(cuDeviceGetDevResource)(CUdevice dev, CUdevResource* resource, CUdevResourceType type) {
  const Device* device = device_at(dev);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  return tell(resource, type, static_cast<unsigned>(device->told.multiprocessors));
}

SIM_API(cuCtxGetDevResource)(CUcontext hCtx, CUdevResource* resource, CUdevResourceType type) {
  Context* context = object<Context>(hCtx);
  if (!context_exists(context)) return CUDA_ERROR_INVALID_CONTEXT;
  return tell(resource, type,
              context->green != nullptr ? context->green->multiprocessors
                                        : static_cast<unsigned>(context->device->told.multiprocessors));
}

SIM_API(cuGreenCtxGetDevResource)(CUgreenCtx hCtx, CUdevResource* resource, CUdevResourceType type) {
  const GreenContext* green = existing(hCtx);
  return green == nullptr ? CUDA_ERROR_INVALID_CONTEXT : tell(resource, type, green->multiprocessors);
}

// Groups of minCount SMs, rounded up to eight as on devices of compute capability 9.
SIM_API(cuDevSmResourceSplitByCount)
(CUdevResource* result, unsigned int* nbGroups, const CUdevResource* input, CUdevResource* remaining, unsigned int,
 unsigned int minCount) {
  if (nbGroups == nullptr || input == nullptr || input->type != CU_DEV_RESOURCE_TYPE_SM)
    return CUDA_ERROR_INVALID_VALUE;
  const unsigned each = std::max(8u, (minCount + 7) / 8 * 8), most = input->sm.smCount / each;
  const unsigned made = result == nullptr ? most : std::min(most, *nbGroups);
  for (unsigned i = 0; result != nullptr && i < made; ++i) result[i] = multiprocessors(each);
  if (remaining != nullptr) *remaining = multiprocessors(input->sm.smCount - made * each);
  *nbGroups = made;
  return CUDA_SUCCESS;
}

SIM_API(cuDevResourceGenerateDesc)(CUdevResourceDesc* phDesc, CUdevResource* resources, unsigned int nbResources) {
  if (phDesc == nullptr || resources == nullptr || nbResources == 0) return CUDA_ERROR_INVALID_VALUE;
  auto* made = new ResourceList;
  for (unsigned i = 0; i < nbResources; ++i) made->multiprocessors += resources[i].sm.smCount;
  *phDesc = handle_of<CUdevResourceDesc>(made);
  return CUDA_SUCCESS;
}

SIM_API(cuGreenCtxCreate)(CUgreenCtx* phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags) {
  if (phCtx == nullptr || desc == nullptr || flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
  CUcontext primary = nullptr;
  if (const CUresult refused = impl_cuDevicePrimaryCtxRetain(&primary, dev)) return refused;
  auto* made = new GreenContext;
  made->multiprocessors = object<ResourceList>(desc)->multiprocessors;
  {
    Lock lock(device_mutex());
    made->context = make_context(device_at(dev), false);
    made->context->green = made;
  }
  announce(made->context);
  *phCtx = handle_of<CUgreenCtx>(made);
  return CUDA_SUCCESS;
}

SIM_API(cuGreenCtxDestroy)(CUgreenCtx hCtx) {
  GreenContext* green = existing(hCtx);
  if (green == nullptr) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  destroy_context(green->context);
  forget_context(green->context);
  return impl_cuDevicePrimaryCtxRelease_v2(green->context->device->ordinal);
}

SIM_API(cuCtxFromGreenCtx)(CUcontext* pContext, CUgreenCtx hCtx) {
  const GreenContext* green = existing(hCtx);
  if (green == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *pContext = handle_of<CUcontext>(green->context);
  return CUDA_SUCCESS;
}

SIM_API(cuGreenCtxGetId)(CUgreenCtx greenCtx, unsigned long long* greenCtxId) {
  const GreenContext* green = existing(greenCtx);
  if (green == nullptr) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *greenCtxId = green->context->id;
  return CUDA_SUCCESS;
}

SIM_API(cuGreenCtxStreamCreate)(CUstream* phStream, CUgreenCtx greenCtx, unsigned int flags, int priority) {
  const GreenContext* green = existing(greenCtx);
  if (green == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  return create_stream(green->context, phStream, flags, priority);
}

SIM_API(cuStreamGetGreenCtx)(CUstream hStream, CUgreenCtx* phCtx) {
  const Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  *phCtx = handle_of<CUgreenCtx>(stream->context->green);
  return CUDA_SUCCESS;
}

// For a stream in a green context the context is the device's primary one.
SIM_API(cuStreamGetCtx_v2)(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
  const Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  GreenContext* green = stream->context->green;
  if (pGreenCtx != nullptr) *pGreenCtx = handle_of<CUgreenCtx>(green);
  *pCtx = handle_of<CUcontext>(green != nullptr ? stream->context->device->primary : stream->context);
  return CUDA_SUCCESS;
}

// These two functions apply to the whole green context: the event comes after all earlier operations in it, and all
// later operations in it wait for the event.
SIM_API(cuGreenCtxRecordEvent)(CUgreenCtx hCtx, CUevent hEvent) {
  GreenContext* green = existing(hCtx);
  if (green == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!event_pool().alive(hEvent)) return CUDA_ERROR_INVALID_HANDLE;
  Lock lock(device_mutex());
  std::vector<OperationPtr> after;
  for (Stream* one : green->context->streams) {
    if (one->tail != nullptr && !one->tail->retired) after.push_back(one->tail);
  }
  Work work;
  work.record.kind = OperationKind::EventRecord;
  Event* event = object<Event>(hEvent);
  event->capture = nullptr;
  event->captured.clear();
  event->operation = submit_locked(lock, green->context->legacy, std::move(work), after);
  return CUDA_SUCCESS;
}

SIM_API(cuGreenCtxWaitEvent)(CUgreenCtx hCtx, CUevent hEvent) {
  GreenContext* green = existing(hCtx);
  if (green == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!event_pool().alive(hEvent)) return CUDA_ERROR_INVALID_HANDLE;
  Lock lock(device_mutex());
  const Event* event = object<Event>(hEvent);
  if (event->operation == nullptr || event->operation->retired) return CUDA_SUCCESS;
  for (Stream* one : green->context->streams) {
    Work work;
    work.record.kind = OperationKind::EventWait;
    submit_locked(lock, one, std::move(work), {event->operation});
  }
  return CUDA_SUCCESS;
}
