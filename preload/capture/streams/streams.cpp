#include "preload/capture/streams/streams.h"

#include "preload/base/clock.h"
#include "preload/base/decimal.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/cupti_client.h"
#include "preload/capture/streams/depth_marks.h"
#include "preload/capture/streams/event_table.h"
#include "preload/capture/streams/pools.h"
#include "preload/capture/streams/stream_lookup.h"
#include "preload/capture/streams/stream_table.h"
#include "preload/driver/driver.h"
#include "preload/record/process_end.h"
#include "preload/record/thread_local.h"

#include <cstring>

namespace prof::preload {

namespace {

void lower(std::atomic<uint64_t>& value, uint64_t by) {
  uint64_t there = value.load(std::memory_order_relaxed);
  while (!value.compare_exchange_weak(there, there > by ? there - by : 0, std::memory_order_relaxed)) {}
}

}  // namespace

void capture_begins(CUstream) { marks_begin_capture(); }
void capture_ended() { marks_end_capture(); }

void completed(StreamState* state, const StreamPoint& upto, uint64_t own) {
  if (state == nullptr) return;
  complete_upto(*state, upto);
  if (own != 0) raise_to(state->completed, upto.launched + own);
}

void context_synchronized(CUcontext context, uint64_t entered_tick) {
  const ContextState* const meant_context = find_context(context != nullptr ? context : current_context());
  if (meant_context == nullptr) return;
  for_each_stream([&](StreamState& state) {
    if (state.context.load(std::memory_order_relaxed) != meant_context) return;
    const uint64_t launched = state.launched.load();
    // Another thread may have used the stream meanwhile. It is then not known which of its launches had finished.
    if (state.last_launch_tick.load(std::memory_order_relaxed) < entered_tick) complete_upto(state, {launched, 0});
  });
}

void event_changes(CUevent event) { forget_event(event); }

void event_recorded(CUevent event, const StreamState* state, const StreamPoint& upto) {
  if (state != nullptr) remember_event(event, {slot_of(*state), upto});
}

void event_shared(CUevent event) { share_event(event); }

EventPoint event_point(CUevent event) { return find_event(event); }

void event_finished(CUevent event, const EventPoint& before) {
  if (before.known() && find_event(event) == before) complete_upto(detail::g_streams->states[before.slot], before.upto);
}

void event_awaited(StreamState* state, CUevent event, const EventPoint& before) {
  if (state != nullptr && before.known() && find_event(event) == before) keep_wait(*state, before);
}

void event_destroyed(CUevent event) { erase_event(event); }

void stream_destroyed(CUstream stream) {
  if (StreamState* const state = find_created_stream(stream); state != nullptr) remove_stream(*state);
}

void context_destroyed(CUcontext context) {
  ContextState* const gone = find_context(context);
  if (gone == nullptr) return;
  for_each_stream([&](StreamState& state) {
    if (state.context.load(std::memory_order_relaxed) == gone) remove_stream(state);
  });
  gone->handle.store(nullptr, std::memory_order_seq_cst);
  marks_leave_context();
}

void gpu_reported(uint32_t gpu_context, uint32_t gpu_stream, uint64_t operations) {
  StreamState* const state = find_gpu_stream(gpu_stream_key(gpu_context, gpu_stream));
  if (state == nullptr) {
    if (detail::g_streams != nullptr) lower(detail::g_streams->unreported_of_destroyed_streams, operations);
    return;
  }
  const uint64_t reported = state->reported.fetch_add(operations, std::memory_order_relaxed) + operations;
  const uint64_t launched = state->launched.load();
  // If more was reported than launched, these are kernels of the driver's own. They must not count for later launches.
  if (reported > launched) state->reported.fetch_sub(reported - launched, std::memory_order_relaxed);
}

namespace {

// Errors after which each call that uses the context returns the same error. The numbers are those of cuda.h; a newer
// toolkit has names for all of them.
bool ends_context(CUresult result) {
  switch (static_cast<int>(result)) {
    case 214:  // ECC_UNCORRECTABLE
    case 220:  // NVLINK_UNCORRECTABLE
    case 700:  // ILLEGAL_ADDRESS
    case 702:  // LAUNCH_TIMEOUT
    case 710:  // ASSERT
    case 714:  // HARDWARE_STACK_ERROR
    case 715:  // ILLEGAL_INSTRUCTION
    case 716:  // MISALIGNED_ADDRESS
    case 717:  // INVALID_ADDRESS_SPACE
    case 718:  // INVALID_PC
    case 719:  // LAUNCH_FAILED
    case 721:  // TENSOR_MEMORY_LEAK
      return true;
    default: return false;
  }
}

bool has_failed(const StreamState& state) {
  const ContextState* const context = state.context.load(std::memory_order_relaxed);
  return context != nullptr && context->failed.load(std::memory_order_relaxed);
}

}  // namespace

void note_error_slow(CUresult result) {
  if (result == CUDA_ERROR_DEINITIALIZED) return await_process_end();
  if (!ends_context(result)) return;
  const KeepErrno keep;
  const DriverCall call;
  if (ContextState* const context = find_context(current_context()); context != nullptr)
    context->failed.store(true, std::memory_order_relaxed);
}

void look_for_failed_contexts() {
  if (g_driver.cuStreamQuery == nullptr || g_driver.cuCtxPushCurrent_v2 == nullptr ||
      g_driver.cuCtxPopCurrent_v2 == nullptr || cupti_client_active())
    return;
  const DriverCall call;
  const ContextState* last = nullptr;
  for_each_stream([&](StreamState& state) {
    ContextState* const context = state.context.load(std::memory_order_relaxed);
    const uint64_t launched = state.launched.load();
    if (context == nullptr || context == last || known_completed(state, launched) == launched || anybody_captures())
      return;
    last = context;
    const CUcontext handle = context->handle.load(std::memory_order_acquire);
    if (handle == nullptr || context->failed.load(std::memory_order_relaxed)) return;
    CUresult result = g_driver.cuCtxPushCurrent_v2(handle);
    if (result == CUDA_SUCCESS) {
      result = g_driver.cuStreamQuery(CU_STREAM_LEGACY);
      CUcontext popped = nullptr;
      g_driver.cuCtxPopCurrent_v2(&popped);
    }
    explain("a context with unfinished operations answers ", Decimal(result).text());
    if (ends_context(result)) context->failed.store(true, std::memory_order_relaxed);
  });
}

namespace {

uint64_t g_noted[kMaxStreams];  // launches, by slot

uint64_t unreported_of(const StreamState& state, uint64_t launched) {
  const uint64_t told = state.reported.load(std::memory_order_relaxed);
  return told < launched ? launched - told : 0;
}

uint64_t unreported_of_destroyed() {
  if (detail::g_streams == nullptr) return 0;
  return detail::g_streams->unreported_of_destroyed_streams.load(std::memory_order_relaxed);
}

}  // namespace

Outstanding outstanding() {
  Outstanding total{0, unreported_of_destroyed()};
  for_each_stream([&](StreamState& state) {
    const uint64_t launched = state.launched.load();
    total.unfinished += launched - known_completed(state, launched);
    total.unreported += unreported_of(state, launched);
  });
  return total;
}

GpuIdle seems_idle(uint64_t quiet_since) {
  GpuIdle idle = GpuIdle::Yes;
  for_each_stream([&](StreamState& state) {
    const uint64_t launched = state.launched.load();
    if (idle == GpuIdle::No || known_completed(state, launched) == launched) return;
    const bool finished = query_marks(state);
    if (known_completed(state, launched) == launched ||
        (finished && state.last_launch_tick.load(std::memory_order_relaxed) < quiet_since))
      return;
    idle = finished || !has_marks(state) ? GpuIdle::NotKnown : GpuIdle::No;
  });
  return idle;
}

void note_launched() {
  for (uint64_t& noted : g_noted) noted = 0;
  for_each_stream([](StreamState& state) { g_noted[slot_of(state)] = state.launched.load(); });
}

Outstanding outstanding_of_noted() {
  Outstanding total{0, unreported_of_destroyed()};
  for_each_stream([&](StreamState& state) {
    if (has_failed(state)) return;
    const uint64_t noted = g_noted[slot_of(state)];
    const uint64_t completed = known_completed(state, state.launched.load());
    total.unfinished += completed < noted ? noted - completed : 0;
    total.unreported += unreported_of(state, noted);
  });
  return total;
}

bool noted_finished_or(bool (*also_done)(const StreamState&)) {
  bool all = true;
  for_each_stream([&](const StreamState& state) {
    if (has_failed(state)) return;
    const bool finished = known_completed(state, state.launched.load()) >= g_noted[slot_of(state)];
    all &= finished || (also_done != nullptr && also_done(state));
  });
  return all;
}

bool open_streams(uint64_t ended) {
  const option::OneOf<option::Depth>& depth = options().depth;
  g_depth_on = depth != option::Depth::Off;
  open_marks(depth == option::Depth::Marks    ? Marks::Events
             : depth == option::Depth::Values ? Marks::Values
                                              : Marks::None,
             g_clock.ticks_per_second / kMarksPerSecond, options().host_samples.starved ? 1 : kMarkEvery);
  restart_stream_ids();
  open_pools();
  return open_stream_table(ended) && open_event_table(ended);
}

}  // namespace prof::preload
