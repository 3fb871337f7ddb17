#include "preload/capture/streams/stream_lookup.h"

#include "preload/capture/cupti/gpu_ids.h"
#include "preload/driver/driver.h"
#include "preload/driver/gpu_devices.h"
#include "preload/record/append.h"
#include "preload/record/thread.h"

#include <atomic>
#include <cerrno>

namespace prof::preload {

CUcontext current_context() {
  CUcontext context = nullptr;
  if (g_driver.cuCtxGetCurrent != nullptr) own_call([&] { g_driver.cuCtxGetCurrent(&context); });
  return context;
}

namespace {

std::atomic<uint32_t> g_next_stream{1};
std::atomic<uint32_t> g_next_context{1};

// The stream that a stream argument of the program names.
struct Meant {
  format::StreamType type;
  CUstream handle;  // names the same stream in calls of ours, whatever the default stream of the caller is
};

Meant meant(CUstream stream, NullStream null_stream) {
  if (stream == CU_STREAM_PER_THREAD || (stream == nullptr && null_stream == NullStream::PerThread)) {
    return {format::StreamType::PerThread, CU_STREAM_PER_THREAD};
  }
  if (stream == nullptr || stream == CU_STREAM_LEGACY) return {format::StreamType::Legacy, CU_STREAM_LEGACY};
  return {format::StreamType::Created, stream};
}

// The handle of a created stream is unique in the process. A null stream is identified by its context and, if every
// thread has one, by the thread: the address of its thread-local storage.
uint64_t key_of(const Meant& stream, CUcontext context) {
  if (stream.type == format::StreamType::Created) return stream_key(reinterpret_cast<uint64_t>(stream.handle), 0);
  const bool per_thread = stream.type == format::StreamType::PerThread;
  return stream_key(reinterpret_cast<uint64_t>(context), per_thread ? reinterpret_cast<uint64_t>(&t_local) : 1);
}

uint32_t thread_ordinal() { return t_local.state != nullptr ? t_local.state->ordinal : 0; }

bool device_of(CUcontext context, uint32_t& device) {
  if (gpu_device_of(context, device)) return true;
  CUdevice ordinal = 0;
  bool known = false;
  if (context == current_context()) {
    known = g_driver.cuCtxGetDevice != nullptr && g_driver.cuCtxGetDevice(&ordinal) == CUDA_SUCCESS;
  } else if (g_driver.cuCtxPushCurrent_v2 != nullptr && g_driver.cuCtxPopCurrent_v2 != nullptr &&
             g_driver.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS) {
    known = g_driver.cuCtxGetDevice != nullptr && g_driver.cuCtxGetDevice(&ordinal) == CUDA_SUCCESS;
    g_driver.cuCtxPopCurrent_v2(&context);
  }
  device = static_cast<uint32_t>(ordinal);
  return known;
}

ContextState* context_state(CUcontext context) {
  if (context == nullptr) return nullptr;
  if (ContextState* const there = find_context(context); there != nullptr) return there;
  const int saved = errno;
  const DriverCall call;
  format::ContextDef definition;
  definition.handle = reinterpret_cast<uint64_t>(context);
  device_of(context, definition.device);
  definition.gpu_context = gpu_context_of(context);
  definition.id = format::ContextId{g_next_context.fetch_add(1, std::memory_order_relaxed)};
  device_seen(definition.device);
  ContextState* const made =
      define(definition) ? add_context(context, definition.id, definition.device, definition.gpu_context) : nullptr;
  errno = saved;
  return made;
}

// At first sight of a stream: queries the driver about it and defines it in the log.
StreamFacts look_at(const Meant& stream, CUcontext context, uint64_t key) {
  StreamFacts facts;
  facts.key = key;
  facts.handle = stream.handle;
  facts.per_thread = stream.type == format::StreamType::PerThread;
  facts.thread = thread_ordinal();
  const DriverCall call;
  const bool created = stream.type == format::StreamType::Created;
  if (created && g_driver.cuStreamGetCtx != nullptr) {
    CUcontext owner = nullptr;
    if (g_driver.cuStreamGetCtx(stream.handle, &owner) == CUDA_SUCCESS && owner != nullptr) context = owner;
  }
  facts.context = context_state(context);
  format::StreamDef definition;
  definition.handle = created ? reinterpret_cast<uint64_t>(stream.handle) : 0;
  definition.type = stream.type;
  if (facts.context != nullptr) definition.context = facts.context->id;
  int priority = 0;
  unsigned flags = 0;
  if (created && g_driver.cuStreamGetPriority != nullptr) g_driver.cuStreamGetPriority(stream.handle, &priority);
  if (created && g_driver.cuStreamGetFlags != nullptr) g_driver.cuStreamGetFlags(stream.handle, &flags);
  definition.priority = priority;
  definition.flags = flags;
  uint32_t gpu_stream = 0;
  if (facts.context != nullptr && facts.context->gpu_context != 0 &&
      gpu_stream_of(context, created ? stream.handle : nullptr, facts.per_thread, gpu_stream)) {
    definition.gpu_stream = gpu_stream + 1;
    facts.gpu_key = gpu_stream_key(facts.context->gpu_context, gpu_stream);
  }
  definition.id = format::StreamId{g_next_stream.fetch_add(1, std::memory_order_relaxed)};
  if (define(definition)) facts.id = definition.id;
  return facts;
}

__attribute__((noinline)) StreamState* new_stream(const Meant& stream, CUcontext context, uint64_t key,
                                                  StreamState* old) {
  const int saved = errno;
  const StreamFacts facts = look_at(stream, context, key);
  StreamState* state = nullptr;
  if (facts.id != format::StreamId{}) {
    if (old != nullptr) renew_stream(*old, facts);
    state = old != nullptr ? old : add_stream(facts);
  }
  errno = saved;
  return state;
}

}  // namespace

StreamState* find_or_define_stream(CUstream stream, NullStream null_stream) {
  const Meant what = meant(stream, null_stream);
  const CUcontext context = what.type == format::StreamType::Created ? nullptr : current_context();
  const uint64_t key = key_of(what, context);
  StreamState* state = find_stream(key);
  if (state == nullptr) [[unlikely]] {
    state = new_stream(what, context != nullptr ? context : current_context(), key, nullptr);
  } else if (state->per_thread && state->thread != thread_ordinal()) [[unlikely]] {
    // Thread-local storage is reused by the next thread, which has its own per-thread default stream.
    state = new_stream(what, context, key, state);
  }
  if (t_local.state != nullptr && what.type == format::StreamType::Created) t_local.state->last_stream = state;
  return state;
}

format::ContextId context_id(CUcontext context) {
  const ContextState* const state = context_state(context != nullptr ? context : current_context());
  return state != nullptr ? state->id : format::ContextId{};
}

bool query_captured(CUstream stream, NullStream null_stream) {
  if (g_driver.cuStreamIsCapturing == nullptr) return false;
  const int saved = errno;
  const DriverCall call;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  // The legacy stream returns an error while another stream captures: it cannot capture itself.
  const CUresult result = g_driver.cuStreamIsCapturing(meant(stream, null_stream).handle, &status);
  errno = saved;
  return result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

StreamState* find_created_stream(CUstream stream) {
  const Meant what = meant(stream, NullStream::Legacy);
  return what.type == format::StreamType::Created ? find_stream(key_of(what, nullptr)) : nullptr;
}

void restart_stream_ids() {
  g_next_stream.store(1, std::memory_order_relaxed);
  g_next_context.store(1, std::memory_order_relaxed);
}

}  // namespace prof::preload
