#include "preload/hardware_counters/counter_slots.h"

#include "preload/base/clock.h"
#include "preload/base/decimal.h"
#include "preload/base/exit_handler.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/streams/streams.h"
#include "preload/driver/driver.h"
#include "preload/hardware_counters/counter_work.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"
#include "preload/record/thread_scope.h"

#include <cstring>

namespace prof::preload {

CounterSlot g_counter_slots[kCounterSlots];

namespace {

OwnedLock g_opening;
std::atomic<uint32_t> g_last_set{0};

void define_set(CounterSlot& slot, CUcontext context) {
  const CounterMetrics& metrics = slot.session.metrics();
  char names[sizeof metrics.text];
  format::CounterSetDef set;
  set.id = slot.set = static_cast<format::CounterSetId>(g_last_set.fetch_add(1, std::memory_order_relaxed) + 1);
  set.context = context_id(context);
  set.metrics = intern_lasting_string(join_names(metrics, names));
  set.passes = static_cast<uint32_t>(slot.session.passes());
  set.replayed = slot.session.replays() ? 1 : 0;
  set.chip = slot.session.chip();
  define(set);
}

// Null, or the reason for the refusal.
const char* open_session(CounterSlot& slot, CUcontext context) {
#if CUDA_VERSION >= 12030
  const bool names = g_driver.cuFuncGetName != nullptr;
#else
  const bool names = false;
#endif
  if (!names || g_driver.cuCtxSynchronize == nullptr)
    return "the driver does not name kernels, by which those that must not run alone are known: CUDA 12.3 does";
  CUdevice device = 0;
  if (g_driver.cuCtxGetDevice == nullptr || g_driver.cuCtxGetDevice(&device) != CUDA_SUCCESS)
    return "the driver does not tell the context's device";
  if (!slot.session.open(g_cupti.api, context, static_cast<uint32_t>(device), options().counters))
    return slot.session.reason();
  slot.of_ranges = counters_of_ranges();
  if (slot.of_ranges && slot.session.replays()) {
    slot.session.finish();
    return "these metrics need several passes, and an NVTX range runs once: PROF_COUNTERS_OF=nvtx:NAME needs fewer of "
           "them";
  }
  define_set(slot, context);
  explain("hardware counters on a ", slot.session.chip(), ", passes: ", Decimal(slot.session.passes()).text());
  return nullptr;
}

CounterSlot* open_counter_slot(CUcontext context) {
  CounterSlot* slot = nullptr;
  bool first = true;
  for (CounterSlot& one : g_counter_slots) {
    const CUcontext of = one.context.load(std::memory_order_acquire);
    if (of == context) return &one;  // another thread was faster
    if (of == nullptr && slot == nullptr) slot = &one;
    if (of != nullptr) first = false;
  }
  if (slot == nullptr) return nullptr;
  const InContext in(context);
  // A primary context that was reset is still the thread's current one, and may become valid again later.
  if (g_driver.cuCtxSynchronize != nullptr && g_driver.cuCtxSynchronize() != CUDA_SUCCESS) return nullptr;
  const char* const why = open_session(*slot, context);
  if (why != nullptr && first) {
    replace_counters_by_gpu_times(why);
    return nullptr;
  }
  if (why != nullptr) {
    static std::atomic<bool> said{false};
    say(said, "no hardware counters on a context: ", why);
  } else {
    // CUPTI's libraries have exit handlers of their own, which must run after ours.
    static std::atomic<bool> registered{false};
    if (!registered.exchange(true)) register_exit_handlers();
    define_meta("counters", "on");
    define_meta("gpu_times", "off: hardware counters are measured");
  }
  slot->begun = 0;
  slot->open = false;
  slot->unread.store(0, std::memory_order_relaxed);
  slot->range_tid.store(0, std::memory_order_relaxed);
  slot->usable.store(why == nullptr, std::memory_order_relaxed);
  slot->context.store(context, std::memory_order_release);
  return slot;
}

// The values of one read while they are written to the log.
struct Delivery {
  CounterSlot* slot;
  double alone[CounterMetrics::kMost] =
      {};  // of work that CUPTI ran several times: kept until it is known that the image has no other
};

void emit_values(const CounterSlot& slot, const CounterSlot::Work& work, const double* values) {
  format::CounterValues event;
  event.moment = work.moment;
  event.tid = work.tid;
  event.set = slot.set;
  event.values = {reinterpret_cast<const char*>(values), slot.session.metrics().count * sizeof(double)};
  event.scope = slot.of_ranges ? format::CounterScope::Range : format::CounterScope::Launch;
  emit(event);
}

// False: the wait for these values was abandoned, and they were counted as lost.
bool answer_for_one(CounterSlot& slot) {
  uint32_t unread = slot.unread.load(std::memory_order_relaxed);
  while (unread != 0 && !slot.unread.compare_exchange_weak(unread, unread - 1, std::memory_order_acq_rel)) {}
  return unread != 0;
}

void take_values(void* to, uint32_t range, const double* values, uint32_t count) {
  Delivery& delivery = *static_cast<Delivery*>(to);
  CounterSlot& slot = *delivery.slot;
  if (slot.session.replays()) {
    std::memcpy(delivery.alone, values, count * sizeof(double));
    return;
  }
  if (range >= slot.begun || !slot.work[range].wanted || !answer_for_one(slot)) return;
  slot.work[range].wanted = false;
  emit_values(slot, slot.work[range], values);
}

}  // namespace

InContext::InContext(CUcontext context) {
  t_local.passing = static_cast<uint16_t>(t_local.passing + kPassingOwn);
  if (current_context_of_thread() == context || g_driver.cuCtxPushCurrent_v2 == nullptr) return;
  pushed_ = g_driver.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS;
}

InContext::~InContext() {
  CUcontext popped = nullptr;
  if (pushed_) g_driver.cuCtxPopCurrent_v2(&popped);
  t_local.passing = static_cast<uint16_t>(t_local.passing - kPassingOwn);
}

CUcontext current_context_of_thread() {
  const OwnCalls own;
  CUcontext context = nullptr;
  if (g_driver.cuCtxGetCurrent == nullptr || g_driver.cuCtxGetCurrent(&context) != CUDA_SUCCESS) return nullptr;
  return context;
}

CounterSlot* find_counter_slot(CUcontext context) {
  for (CounterSlot& slot : g_counter_slots) {
    if (slot.context.load(std::memory_order_acquire) == context) return &slot;
  }
  return nullptr;
}

CounterSlot* counter_slot(CUcontext context) {
  if (context == nullptr) return nullptr;
  CounterSlot* slot = find_counter_slot(context);
  if (slot == nullptr && !any_open_capture()) {
    g_opening.take();
    if (hardware_counters_on() && !hardware_counters_over()) slot = open_counter_slot(context);
    g_opening.give();
  }
  return slot != nullptr && slot->usable.load(std::memory_order_acquire) ? slot : nullptr;
}

void await_counter_opening(uint64_t until_ns) {
  if (g_opening.take(until_ns) != OwnedLock::Taken::No) g_opening.give();
}

bool take_counter_lock(CounterSlot& slot, uint64_t until_ns) {
  const OwnedLock::Taken taken = slot.lock.take(until_ns);
  if (taken == OwnedLock::Taken::Inherited && slot.open && slot.range_tid.load(std::memory_order_relaxed) == 0) {
    const InContext in(slot.context.load(std::memory_order_relaxed));
    end_counter_range(slot);
    count(format::LossCounter::counters_failed);
  }
  return taken != OwnedLock::Taken::No;
}

bool make_idle(CounterSlot& slot) {
  const DriverCall call;
  if (g_driver.cuCtxSynchronize() == CUDA_SUCCESS) return true;
  slot.usable.store(false, std::memory_order_release);
  return false;
}

bool begin_counter_range(CounterSlot& slot) {
  if (slot.begun == CounterSession::kRanges) read_counter_slot(slot);
  if (!slot.usable.load(std::memory_order_relaxed)) return false;
  slot.open = slot.session.begin(slot.begun);
  if (slot.open) slot.work[slot.begun++] = {};
  return slot.open;
}

void end_counter_range(CounterSlot& slot) {
  slot.open = false;
  if (slot.session.end()) return;
  slot.usable.store(false, std::memory_order_release);  // from here on CUPTI's state of the range is unknown
}

void want_last_range(CounterSlot& slot, CounterSlot::Work work) {
  slot.work[slot.begun - 1] = work;
  slot.unread.fetch_add(1, std::memory_order_relaxed);
}

void read_counter_slot(CounterSlot& slot) {
  Delivery delivery{&slot};
  const ThreadScope scope;  // the helper thread calls this too
  const CounterSession::Read read = slot.session.read(take_values, &delivery);
  if (!read.ok) {
    static std::atomic<bool> said{false};
    say(said, "hardware counters end on a context: ", slot.session.reason());
    slot.usable.store(false, std::memory_order_release);
  }
  const bool alone = slot.session.replays() && read.ok && read.ranges == 1 && slot.begun == 1 && slot.work[0].wanted;
  if (alone && answer_for_one(slot)) emit_values(slot, slot.work[0], delivery.alone);
  slot.begun = 0;
  const uint64_t missing = slot.unread.exchange(0, std::memory_order_acq_rel);
  const uint64_t dropped = read.dropped < missing ? read.dropped : missing;
  if (dropped != 0) count(format::LossCounter::counters_dropped, dropped);
  if (missing != dropped) count(format::LossCounter::counters_failed, missing - dropped);
}

}  // namespace prof::preload
