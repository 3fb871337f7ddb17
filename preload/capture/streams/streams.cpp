#include "preload/capture/streams/streams.h"

#include "preload/base/clock.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/gpu_ids.h"
#include "preload/capture/streams/depth_marks.h"
#include "preload/capture/streams/event_table.h"
#include "preload/capture/streams/pools.h"
#include "preload/capture/streams/stream_table.h"
#include "preload/driver/driver.h"
#include "preload/hardware_counters/hardware_sampling.h"
#include "preload/log/intern.h"
#include "preload/record/recorder.h"

#include <cerrno>
#include <cstring>

namespace prof::preload {

namespace {

std::atomic<uint32_t> g_next_stream{1};
std::atomic<uint32_t> g_next_context{1};

// What the program means by a stream argument.
struct Meant {
  format::StreamType type;
  CUstream handle;  // that names the same stream in calls of ours, whatever the default stream of the caller is
};

Meant meant(CUstream stream, NullStream null_stream) {
  if (stream == CU_STREAM_PER_THREAD || (stream == nullptr && null_stream == NullStream::PerThread)) {
    return {format::StreamType::PerThread, CU_STREAM_PER_THREAD};
  }
  if (stream == nullptr || stream == CU_STREAM_LEGACY) return {format::StreamType::Legacy, CU_STREAM_LEGACY};
  return {format::StreamType::Created, stream};
}

CUcontext current_context() {
  CUcontext context = nullptr;
  if (g_driver.cuCtxGetCurrent != nullptr) g_driver.cuCtxGetCurrent(&context);
  return context;
}

// A created stream's handle is its own in the process; a null stream is told apart by its context and, where every thread has
// one, by the thread: the address of its thread-local storage.
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
  sampling_sees(definition.device);
  ContextState* const made =
      define(definition) ? add_context(context, definition.id, definition.device, definition.gpu_context) : nullptr;
  errno = saved;
  return made;
}

// At first sight of a stream: asks the driver about it and defines it in the log.
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

void raise(std::atomic<uint64_t>& value, uint64_t to) {
  uint64_t there = value.load(std::memory_order_relaxed);
  while (there < to && !value.compare_exchange_weak(there, to, std::memory_order_relaxed)) {}
}

void lower(std::atomic<uint64_t>& value, uint64_t by) {
  uint64_t there = value.load(std::memory_order_relaxed);
  while (!value.compare_exchange_weak(there, there > by ? there - by : 0, std::memory_order_relaxed)) {}
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
    // Thread-local storage is reused by the next thread, which has a per-thread default stream of its own.
    state = new_stream(what, context, key, state);
  }
  if (t_local.state != nullptr && what.type == format::StreamType::Created) t_local.state->last_stream = state;
  return state;
}

format::ContextId context_id(CUcontext context) {
  const ContextState* const state = context_state(context != nullptr ? context : current_context());
  return state != nullptr ? state->id : format::ContextId{};
}

bool ask_captured(CUstream stream, NullStream null_stream) {
  if (g_driver.cuStreamIsCapturing == nullptr) return false;
  const int saved = errno;
  const DriverCall call;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  // The legacy stream answers with an error while another stream captures: it cannot itself.
  const CUresult result = g_driver.cuStreamIsCapturing(meant(stream, null_stream).handle, &status);
  errno = saved;
  return result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void capture_begins(CUstream) { marks_begin_capture(); }
void capture_ended() { marks_end_capture(); }

uint64_t launches_so_far(const StreamState* state) { return state != nullptr ? state->launched.load() : 0; }

void completed(StreamState* state, uint64_t upto) {
  if (state != nullptr) raise(state->completed, upto);
}

void context_synchronized(CUcontext context, uint64_t entered_tick) {
  const ContextState* const meant_context = find_context(context != nullptr ? context : current_context());
  if (meant_context == nullptr) return;
  for_each_stream([&](StreamState& state) {
    if (state.context.load(std::memory_order_relaxed) != meant_context) return;
    const uint64_t launched = state.launched.load();
    // A stream that another thread went on using meanwhile: which of its launches had finished is not known.
    if (state.last_launch_tick.load(std::memory_order_relaxed) < entered_tick) raise(state.completed, launched);
  });
}

void event_recorded(CUevent event, StreamState* state) {
  if (state != nullptr) remember_event(event, slot_of(*state), launches_so_far(state));
}

void event_finished(CUevent event) {
  uint32_t slot = 0;
  uint64_t upto = 0;
  if (find_event(event, slot, upto)) raise(detail::g_streams->states[slot].completed, upto);
}

void event_destroyed(CUevent event) { forget_event(event); }

void stream_destroyed(CUstream stream) {
  const Meant what = meant(stream, NullStream::Legacy);
  if (what.type != format::StreamType::Created) return;
  if (StreamState* const state = find_stream(key_of(what, nullptr)); state != nullptr) remove_stream(*state);
}

void context_destroyed(CUcontext context) {
  ContextState* const gone = find_context(context);
  if (gone == nullptr) return;
  for_each_stream([&](StreamState& state) {
    if (state.context.load(std::memory_order_relaxed) == gone) remove_stream(state);
  });
  gone->handle.store(nullptr, std::memory_order_release);
}

void gpu_reported(uint32_t gpu_context, uint32_t gpu_stream, uint64_t operations) {
  StreamState* const state = find_gpu_stream(gpu_stream_key(gpu_context, gpu_stream));
  if (state == nullptr) {
    if (detail::g_streams != nullptr) lower(detail::g_streams->gone_unreported, operations);
    return;
  }
  const uint64_t reported = state->reported.fetch_add(operations, std::memory_order_relaxed) + operations;
  const uint64_t launched = state->launched.load();
  // More than was launched: kernels of the driver's own. They must not vouch for launches to come.
  if (reported > launched) state->reported.fetch_sub(reported - launched, std::memory_order_relaxed);
}

namespace {

uint64_t g_noted[kMaxStreams];  // launches, by slot
struct GivenUp {
  format::StreamId stream;  // a slot is used again
  uint64_t operations;
};
GivenUp g_given_up[kMaxStreams];
uint64_t g_given_up_gone;

uint64_t unreported_of(const StreamState& state, uint64_t launched) {
  const GivenUp& given_up = g_given_up[slot_of(state)];
  const uint64_t told =
      state.reported.load(std::memory_order_relaxed) + (given_up.stream == state.id ? given_up.operations : 0);
  return told < launched ? launched - told : 0;
}

uint64_t unreported_of_gone() {
  if (detail::g_streams == nullptr) return 0;
  const uint64_t gone = detail::g_streams->gone_unreported.load(std::memory_order_relaxed);
  return gone > g_given_up_gone ? gone - g_given_up_gone : 0;
}

}  // namespace

Outstanding outstanding() {
  Outstanding total{0, unreported_of_gone()};
  for_each_stream([&](StreamState& state) {
    const uint64_t launched = state.launched.load();
    total.unfinished += launched - known_completed(state, launched);
    total.unreported += unreported_of(state, launched);
  });
  return total;
}

void note_launched() {
  for (uint64_t& noted : g_noted) noted = 0;
  for_each_stream([](StreamState& state) { g_noted[slot_of(state)] = state.launched.load(); });
}

Outstanding outstanding_of_noted() {
  Outstanding total{0, unreported_of_gone()};
  for_each_stream([&](StreamState& state) {
    const uint64_t noted = g_noted[slot_of(state)];
    const uint64_t completed = known_completed(state, state.launched.load());
    total.unfinished += completed < noted ? noted - completed : 0;
    total.unreported += unreported_of(state, noted);
  });
  return total;
}

void give_up_unreported() {
  if (detail::g_streams != nullptr)
    g_given_up_gone = detail::g_streams->gone_unreported.load(std::memory_order_relaxed);
  for_each_stream([](StreamState& state) {
    const uint64_t launched = state.launched.load(), reported = state.reported.load(std::memory_order_relaxed);
    g_given_up[slot_of(state)] = {state.id, launched > reported ? launched - reported : 0};
  });
}

bool open_streams(uint64_t ended) {
  const char* const depth = options().depth;
  g_depth_on = std::strcmp(depth, "off") != 0;
  open_marks(std::strcmp(depth, "marks") == 0    ? Marks::Events
             : std::strcmp(depth, "values") == 0 ? Marks::Values
                                                 : Marks::None,
             g_clock.ticks_per_second / kMarksPerSecond);
  g_next_stream.store(1, std::memory_order_relaxed);
  g_next_context.store(1, std::memory_order_relaxed);
  open_pools();
  return open_stream_table(ended) && open_event_table(ended);
}

}  // namespace prof::preload
