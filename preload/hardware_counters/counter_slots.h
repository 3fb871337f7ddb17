// The contexts that have a session of hardware counters, and the ranges in each whose values were not read yet. Used
// only inside hardware_counters/.
#pragma once

#include "preload/format/ids.h"
#include "preload/hardware_counters/counter_session.h"
#include "preload/hardware_counters/owned_lock.h"

#include <atomic>

namespace prof::preload {

struct CounterSlot {
  std::atomic<CUcontext> context{nullptr};  // null: free
  std::atomic<bool> usable{false};          // false: refused, or given up
  std::atomic<uint32_t> unread{0};          // ranges that ended; whoever takes the number to 0 answers for them
  OwnedLock lock;                           // of all below
  CounterSession session;
  format::CounterSetId set{};
  bool of_ranges = false;  // PROF_COUNTERS_OF=nvtx:NAME
  struct Work {
    uint64_t moment = 0;
    uint32_t tid = 0;
    bool wanted = false;  // ended, and its values are to be delivered
  };
  Work work[CounterSession::kRanges];
  uint32_t begun = 0;  // ranges begun since the last read
  bool open = false;   // the last of them has not ended
  // The NVTX range that is open: who pushed it, and how many ranges of that domain there are from it on.
  std::atomic<uint32_t> range_tid{0};
  const void* range_domain = nullptr;
  uint32_t range_depth = 0;
};

inline constexpr uint32_t kCounterSlots = 16;
extern CounterSlot g_counter_slots[kCounterSlots];

// The context of a slot is the thread's current one while it lives, and hooks pass through.
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
// The slot of a context, its session opened at first sight. Null: there is none, and that is not counted.
CounterSlot* counter_slot(CUcontext context);
CounterSlot* find_counter_slot(CUcontext context);
// Until no slot is being opened; behind hardware_counters_over() none is any more.
void await_counter_opening(uint64_t until_ns);

// With the lock, inside the context:
bool make_idle(CounterSlot& slot);            // false: the driver refused, and the context is measured no more
bool begin_counter_range(CounterSlot& slot);  // reads what there is if the image is full
void end_counter_range(CounterSlot& slot);    // the range is not wanted yet
void want_last_range(CounterSlot& slot, CounterSlot::Work work);
void read_counter_slot(CounterSlot& slot);  // values become events of this thread, or are counted

bool take_counter_lock(CounterSlot& slot, uint64_t until_ns = ~0ull);

}  // namespace prof::preload
