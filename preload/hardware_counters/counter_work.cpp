#include "preload/hardware_counters/counter_work.h"

#include "preload/base/name_list.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/cupti_last_error.h"
#include "preload/capture/streams/launch_path.h"
#include "preload/driver/driver.h"
#include "preload/driver/functions.h"
#include "preload/driver/gpu_devices.h"
#include "preload/hardware_counters/counter_slots.h"
#include "preload/hardware_counters/plain_name.h"
#include "preload/log/count.h"
#include "preload/record/launch_extras.h"
#include "preload/record/thread.h"
#include "preload/record/thread_local.h"

#include <cerrno>
#include <cstring>

namespace prof::preload {

std::atomic<bool> g_counter_ranges{false};

void set_counters_of_ranges(bool on) {
  g_counter_ranges.store(on, std::memory_order_relaxed);
  set_nvtx_extra(kNvtxCounters, on);
}

namespace {

std::atomic<bool> g_captured_left_alone{false};  // a graph may contain a kernel that must not run alone

bool is_left_alone(CUfunction function) {
  const char* const name = driver_name_of(function);
  if (name == nullptr) return false;
  char plain[1024];
  return name_in_list(options().counters_skip.list, name) ||
         name_in_list(options().counters_skip.list, plain_name(name, plain, sizeof plain));
}

CUcontext context_of(CUstream stream) {
  CUcontext context = nullptr;
  if (is_created_stream(stream) && g_driver.cuStreamGetCtx != nullptr &&
      g_driver.cuStreamGetCtx(stream, &context) == CUDA_SUCCESS) {
    return context;
  }
  return current_context_of_thread();
}

// Whether a launch that was just entered is on a device that PROF_DEVICES leaves out. It does not query the driver
// about the stream, because the stream may capture.
bool on_other_device(CUstream stream) {
  if (every_device_wanted()) return false;
  if (is_created_stream(stream)) {
    const StreamState* const last = t_local.state->last_stream;
    return last != nullptr && last->handle.load(std::memory_order_relaxed) == stream && last->left_out;
  }
  const ContextState* const known = find_context(current_context_of_thread());
  return known != nullptr && !device_wanted(known->device);
}

// Returns the locked slot, with the context idle and a range open; or the reason why not.
MeasuredLaunch begin_on(CUcontext context, bool graph = false) {
  using format::LossCounter;
  CounterSlot* const slot = counter_slot(context);
  if (slot == nullptr && !hardware_counters_on()) return {};  // abandoned: GPU times are recorded instead
  if (slot == nullptr) return {nullptr, LossCounter::counters_no_session};
  take_counter_lock(*slot);
  LossCounter why = LossCounter::counters_failed;
  if (any_open_capture()) {
    why = LossCounter::counters_captured;
  } else if (hardware_counters_over() || !slot->usable.load(std::memory_order_relaxed)) {
    why = LossCounter::counters_no_session;
  } else if (graph && slot->session.replays()) {
    why = LossCounter::
        counters_skipped;  // CUPTI makes no range of it, nor of the kernels after it (measured, CUPTI 13.0)
  } else if (slot->range_tid.load(std::memory_order_relaxed) != 0) {
    why = LossCounter::counters_overlapped;
  } else if (slot->context.load(std::memory_order_relaxed) == context) {
    const InContext in(context);
    if (make_idle(*slot) && begin_counter_range(*slot)) return {slot, {}};
  }
  slot->lock.give();
  return {nullptr, why};
}

CounterSlot* range_slot_of(uint32_t tid) {
  for (CounterSlot& slot : g_counter_slots) {
    if (slot.range_tid.load(std::memory_order_relaxed) == tid) return &slot;
  }
  return nullptr;
}

// Ends a range whose thread ended before it popped the range.
void end_orphaned_range(CUcontext context) {
  CounterSlot* const slot = find_counter_slot(context);
  if (slot == nullptr) return;
  const uint32_t tid = slot->range_tid.load(std::memory_order_relaxed);
  if (tid == 0 || thread_lives(tid)) return;
  take_counter_lock(*slot);
  if (slot->range_tid.load(std::memory_order_relaxed) == tid) {
    const InContext in(context);
    if (slot->open) end_counter_range(*slot);
    slot->range_tid.store(0, std::memory_order_relaxed);
    count(format::LossCounter::counters_failed);
  }
  slot->lock.give();
}

// The caller holds the lock. False: the values do not cover the whole range.
bool end_range(CounterSlot& slot) {
  const InContext in(slot.context.load(std::memory_order_relaxed));
  const bool idle = !any_open_capture() && make_idle(slot);
  end_counter_range(slot);
  return idle;
}

}  // namespace

void open_counters(const GpuActivityCalls& gpu_activity) {
  g_gpu_activity_calls = gpu_activity;
  const bool ranges = options().counters_of == option::CountersOf::Nvtx;
  g_captured_left_alone.store(false, std::memory_order_relaxed);
  g_hardware_counters_over.store(false, std::memory_order_relaxed);
  const bool wanted = options().counters.any();
  set_counters_of_ranges(wanted && ranges);
  g_hardware_counters.store(wanted, std::memory_order_relaxed);
}

MeasuredLaunch begin_measured_launch(const LaunchedWork& work) {
  using format::LossCounter;
  if (!hardware_counters_on() || counters_of_ranges()) return {};
  if (hardware_counters_over()) return {nullptr, LossCounter::counters_no_session};
  const CuptiCall call;
  const KeepCuptiError keep;
  if (on_other_device(work.stream)) return {};
  const bool kernel = work.kind == LaunchedWork::Kind::Kernel;
  const bool left_alone = kernel && is_left_alone(work.function);
  if (any_open_capture()) {
    if (left_alone) g_captured_left_alone.store(true, std::memory_order_relaxed);
    return {nullptr, LossCounter::counters_captured};
  }
  const bool graph = work.kind == LaunchedWork::Kind::Graph;
  if (left_alone || (!kernel && !graph) || (graph && g_captured_left_alone.load(std::memory_order_relaxed)))
    return {nullptr, LossCounter::counters_skipped};
  return begin_on(context_of(work.stream), graph);
}

void end_measured_launch(const MeasuredLaunch& launch) {
  if (launch.slot == nullptr) return;
  const InContext in(launch.slot->context.load(std::memory_order_relaxed));
  end_counter_range(*launch.slot);
}

// The wait comes after the record. Until it returns, no operation of another thread reaches the context with its own
// range.
void keep_measured_launch(const MeasuredLaunch& launch, bool launched, uint64_t end_tick) {
  if (launch.slot == nullptr) {
    if (launched && launch.why.has_value()) count(*launch.why);
    return;
  }
  CounterSlot& slot = *launch.slot;
  const InContext in(slot.context.load(std::memory_order_relaxed));
  if (!launched) {
    slot.begun -= slot.session.replays() ? 1 : 0;
  } else if (!slot.usable.load(std::memory_order_relaxed)) {
    count(format::LossCounter::counters_failed);
  } else {
    want_last_range(slot, {end_tick, t_local.state->tid, true});
    if (make_idle(slot) && slot.session.replays()) read_counter_slot(slot);
  }
  slot.lock.give();
}

void drop_measured_launch(const MeasuredLaunch& launch) {
  if (launch.slot != nullptr) launch.slot->lock.give();
}

void counter_range_pushed(const void* domain, std::string_view domain_name, std::string_view name, uint64_t tick) {
  const uint32_t tid = t_local.state->tid;
  if (CounterSlot* const open = range_slot_of(tid); open != nullptr) {
    if (domain == open->range_domain) ++open->range_depth;
    return;
  }
  const option::RangeName& wanted = options().counters_of.range;
  if (!name_in_list(wanted.name, name) || !wanted.in_domain(domain_name)) return;
  const int saved = errno;
  {
    g_gpu_activity_calls.take();  // a recording may start with this range
    prepare_counters();
    const CuptiCall call;
    const KeepCuptiError keep;
    const CUcontext context = current_context_of_thread();
    end_orphaned_range(context);
    const MeasuredLaunch begun = begin_on(context);
    if (begun.why.has_value()) count(*begun.why);
    if (CounterSlot* const slot = begun.slot; slot != nullptr) {
      slot->work[slot->begun - 1] = {tick, tid, false};
      slot->range_domain = domain;
      slot->range_depth = 1;
      slot->range_tid.store(tid, std::memory_order_relaxed);
      slot->lock.give();
    }
  }
  errno = saved;
}

void counter_range_popped(const void* domain) {
  CounterSlot* const slot = range_slot_of(t_local.state->tid);
  if (slot == nullptr || domain != slot->range_domain || --slot->range_depth != 0) return;
  const int saved = errno;
  {
    const CuptiCall call;
    const KeepCuptiError keep;
    take_counter_lock(*slot);
    // If this is false, the recording ended in the meantime, and with it the range.
    if (slot->range_tid.load(std::memory_order_relaxed) == t_local.state->tid) {
      CounterSlot::Work work = slot->work[slot->begun - 1];
      work.wanted = end_range(*slot);
      if (work.wanted) {
        want_last_range(*slot, work);
      } else {
        count(format::LossCounter::counters_failed);
      }
      slot->range_tid.store(0, std::memory_order_relaxed);
    }
    slot->lock.give();
  }
  errno = saved;
}

}  // namespace prof::preload
