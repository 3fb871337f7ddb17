#include "preload/hardware_counters/counter_recording.h"

#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/bounded_flush.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/cupti/cupti_last_error.h"
#include "preload/capture/cupti/gpu_state.h"
#include "preload/driver/driver.h"
#include "preload/hardware_counters/counter_slots.h"
#include "preload/hardware_counters/counter_work.h"
#include "preload/log/count.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"

#include <cerrno>
#include <cstring>

namespace prof::preload {

std::atomic<bool> g_hardware_counters{false};
std::atomic<bool> g_hardware_counters_over{false};
std::atomic<uint32_t> g_open_captures{0};
GpuActivityCalls g_gpu_activity_calls{};

bool drop_counters(std::string_view reason) {
  if (!g_hardware_counters.exchange(false)) return false;
  set_counters_of_ranges(false);
  count(format::LossCounter::counters_unavailable);
  define_meta("counters", reason);
  return true;
}

void replace_counters_by_gpu_times(std::string_view reason) {
  static std::atomic<bool> said{false};
  if (!drop_counters(reason)) return;
  say(said, "no hardware counters: ", reason, "; GPU times are recorded instead");
  g_gpu_activity_calls.collect_after_all();
}

void prepare_counters() {
  if (!hardware_counters_on() || hardware_counters_over() || any_open_capture()) return;
  if (!cupti_front_open()) {
    if (g_gpu_activity.load(std::memory_order_acquire) == GpuActivity::Off)
      drop_counters("this is a child of a process that used CUPTI");
    return;  // another thread is opening it
  }
  const int saved = errno;
  const CUcontext context = current_context_of_thread();
  if (context != nullptr && find_counter_slot(context) == nullptr) {
    const CuptiCall call;
    const KeepCuptiError keep;
    counter_slot(context);
  }
  errno = saved;
}

void capture_opens() {
  g_open_captures.fetch_add(1, std::memory_order_seq_cst);
  if (!hardware_counters_on()) return;
  for (CounterSlot& slot : g_counter_slots) {
    if (!slot.usable.load(std::memory_order_acquire)) continue;
    if (take_counter_lock(slot)) slot.lock.give();
  }
}

void capture_closes() {
  uint32_t open = g_open_captures.load(std::memory_order_relaxed);
  while (open != 0 && !g_open_captures.compare_exchange_weak(open, open - 1, std::memory_order_seq_cst)) {}
}

namespace {

std::atomic<bool> g_exiting{false};  // CUPTI may be unloaded before contexts end: they then end without it

// Reads the values that are unread. The caller holds the lock.
void read_in_context(CounterSlot& slot) {
  if (slot.open || slot.unread.load(std::memory_order_relaxed) == 0) return;
  if (!slot.usable.load(std::memory_order_relaxed)) return;
  const InContext in(slot.context.load(std::memory_order_relaxed));
  read_counter_slot(slot);
}

// The last read. A range that is still open has no values.
void finish_slot(CounterSlot& slot) {
  if (slot.open) {
    const InContext in(slot.context.load(std::memory_order_relaxed));
    end_counter_range(slot);
    slot.range_tid.store(0, std::memory_order_relaxed);
    count(format::LossCounter::counters_failed);
  }
  read_in_context(slot);
}

// Frees the slot. Values that are unread now will never be read, so they are counted.
void free_slot(CounterSlot& slot) {
  const uint32_t unread = slot.unread.exchange(0, std::memory_order_acq_rel);
  if (unread != 0) count(format::LossCounter::counters_unread, unread);
  slot.open = false;
  slot.usable.store(false, std::memory_order_relaxed);
  slot.range_tid.store(0, std::memory_order_relaxed);
  slot.context.store(nullptr, std::memory_order_release);
}

void stop_slot(CounterSlot& slot) {
  finish_slot(slot);
  {
    const InContext in(slot.context.load(std::memory_order_relaxed));
    slot.session.finish();
  }
  free_slot(slot);
}

void for_each_open(uint64_t stop_ns, void (*what)(CounterSlot&)) {
  await_counter_opening(stop_ns);
  for (CounterSlot& slot : g_counter_slots) {
    if (slot.context.load(std::memory_order_acquire) == nullptr) continue;
    if (!take_counter_lock(slot, stop_ns)) continue;
    if (slot.context.load(std::memory_order_relaxed) != nullptr) what(slot);
    slot.lock.give();
  }
}

// Counts the values that are still unread and will never be read.
void count_unread() {
  uint64_t unread = 0;
  for (CounterSlot& slot : g_counter_slots) unread += slot.unread.exchange(0, std::memory_order_acq_rel);
  if (unread != 0) count(format::LossCounter::counters_unread, unread);
}

void finish_with(void (*work)(uint64_t stop_ns)) {
  if (!hardware_counters_on() || g_hardware_counters_over.exchange(true)) return;
  set_counters_of_ranges(false);
  bool any = false;
  for (const CounterSlot& slot : g_counter_slots) any |= slot.context.load(std::memory_order_relaxed) != nullptr;
  if (!any) return;
  const int saved = errno;
  const OwnCalls own;
  if (run_bounded(work, options().exit_wait) != FlushOutcome::Done) {
    count(format::LossCounter::cupti_flush_timeouts);
    for (CounterSlot& slot : g_counter_slots) slot.usable.store(false, std::memory_order_release);
    static std::atomic<bool> said{false};
    say(said, "CUPTI did not return in time: hardware counters of the last launches are missing");
  }
  count_unread();
  errno = saved;
}

}  // namespace

void counters_before_context_end(CUcontext context, bool ends) {
  if (!hardware_counters_on() || g_exiting.load(std::memory_order_acquire) || context == nullptr) return;
  CounterSlot* const slot = find_counter_slot(context);
  if (slot == nullptr || !take_counter_lock(*slot)) return;
  const CuptiCall call;
  const KeepCuptiError keep;
  if (slot->context.load(std::memory_order_relaxed) == context) {
    if (ends) {
      stop_slot(*slot);
    } else {
      read_in_context(*slot);
    }
  }
  slot->lock.give();
}

void counters_after_context_end(CUcontext context) {
  if (!hardware_counters_on() || g_exiting.load(std::memory_order_acquire) || context == nullptr) return;
  CounterSlot* const slot = find_counter_slot(context);
  if (slot == nullptr || !take_counter_lock(*slot)) return;
  slot->session.abandon();
  free_slot(*slot);
  slot->lock.give();
}

// Does not wait for a launch that is being measured: the next round reads its values.
void flush_counters() {
  if (!hardware_counters_on() || hardware_counters_over()) return;
  for (CounterSlot& slot : g_counter_slots) {
    if (slot.unread.load(std::memory_order_relaxed) == 0 || !slot.usable.load(std::memory_order_acquire)) continue;
    if (any_open_capture() || !take_counter_lock(slot, 0)) continue;
    if (!any_open_capture()) read_in_context(slot);
    slot.lock.give();
  }
}

void finish_counters() {
  if (!hardware_counters_over()) g_exiting.store(true, std::memory_order_release);
  finish_with([](uint64_t stop_ns) { for_each_open(stop_ns, finish_slot); });
}

void stop_counters() {
  finish_with([](uint64_t stop_ns) { for_each_open(stop_ns, stop_slot); });
}

void abandon_counters() {
  g_open_captures.store(0, std::memory_order_relaxed);
  g_exiting.store(false, std::memory_order_relaxed);
  g_hardware_counters.store(false, std::memory_order_relaxed);
  set_counters_of_ranges(false);
  for (CounterSlot& slot : g_counter_slots) {
    if (slot.context.load(std::memory_order_relaxed) == nullptr) continue;
    slot.lock.abandon();
    slot.session.abandon();
    slot.usable.store(false, std::memory_order_relaxed);
    slot.unread.store(0, std::memory_order_relaxed);
    slot.range_tid.store(0, std::memory_order_relaxed);
    slot.context.store(nullptr, std::memory_order_relaxed);
  }
}

}  // namespace prof::preload
