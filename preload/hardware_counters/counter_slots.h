// Which contexts have a session of hardware counters, and which ranges of each have values that were not read yet? Used
// only inside hardware_counters/.
#pragma once

#include "preload/format/ids.h"
#include "preload/hardware_counters/counter_session.h"
#include "preload/hardware_counters/owned_lock.h"

#include <atomic>

namespace prof::preload {

struct CounterSlot {
  std::atomic<CUcontext> context{nullptr};  // null: free
  std::atomic<bool> usable{false};          // false: refused or abandoned
  std::atomic<uint32_t> unread{0};          // ranges that ended; a thread that lowers it emits or counts those ranges
  OwnedLock lock;                           // protects all fields below
  CounterSession session;
  format::CounterSetId set{};
  bool of_ranges = false;  // PROF_COUNTERS_OF=nvtx:NAME
  struct Work {
    uint64_t moment = 0;
    uint32_t tid = 0;
    bool wanted = false;  // ended, and its values must be written
  };
  Work work[CounterSession::kRanges];
  uint32_t begun = 0;  // ranges begun since the last read
  bool open = false;   // the last of them has not ended
  // The NVTX range that is open: the thread that pushed it, its domain, and the depth of ranges of that domain since
  // then. Only that thread uses the domain and the depth.
  std::atomic<uint32_t> range_tid{0};
  const void* range_domain = nullptr;
  uint32_t range_depth = 0;
};

inline constexpr uint32_t kCounterSlots = 16;
extern CounterSlot g_counter_slots[kCounterSlots];

// While an object exists, the context of a slot is the thread's current one, and hooks record nothing.
class InContext {
 public:
  explicit InContext(CUcontext context);
  ~InContext();
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  bool pushed_ = false;
};

CUcontext current_context_of_thread();
// The slot of a context; the first call opens its session. Null: there is none, and that is not counted here.
CounterSlot* counter_slot(CUcontext context);
CounterSlot* find_counter_slot(CUcontext context);
// Waits until no slot is being opened. After hardware_counters_over() is set, none will be opened.
void await_counter_opening(uint64_t until_ns);

// The caller holds the lock and is inside the context:
bool make_idle(CounterSlot& slot);            // false: the driver refused; the context is measured no further
bool begin_counter_range(CounterSlot& slot);  // reads the values first if the image is full
void end_counter_range(CounterSlot& slot);    // the values of the range are not wanted yet
void want_last_range(CounterSlot& slot, CounterSlot::Work work);
void read_counter_slot(CounterSlot& slot);  // values become events of this thread, or are counted

// Takes the lock, waiting until CLOCK_MONOTONIC `until_ns`. If its last owner left a launch open, that range is ended
// and counted. False: another thread still holds the lock.
bool take_counter_lock(CounterSlot& slot, uint64_t until_ns = ~0ull);

}  // namespace prof::preload
