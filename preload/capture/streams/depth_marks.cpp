#include "preload/capture/streams/depth_marks.h"

#include "preload/base/clock.h"
#include "preload/capture/cupti/cupti_client.h"
#include "preload/capture/streams/event_table.h"
#include "preload/capture/streams/event_waits.h"
#include "preload/capture/streams/launch_path.h"
#include "preload/capture/streams/mark_events.h"
#include "preload/driver/driver.h"
#include "preload/log/count.h"

#include <sys/mman.h>

#include <cerrno>
#include <ctime>

namespace prof::preload {

namespace {

bool g_write_values = false;
uint64_t g_least_pause = 0;  // ticks
std::atomic<uint32_t> g_placing{0};

// Longest wait of a capture for a mark being placed. Placing one takes about a microsecond. If it takes longer, its
// stream is full and the driver waits for the GPU. The mark is then in another stream and harmless, since DriverCall
// relaxed the mode.
constexpr uint32_t kGateWaits = 1000;
constexpr long kGateWaitNs = 10'000;

constexpr size_t kWordBytes = kMaxStreams * sizeof(uint32_t);

// Makes the words of a context visible to its GPU. The memory is ours and stays mapped, so a word can be read safely
// whatever the program does to its contexts. Memory of cuMemHostAlloc is freed with the context.
bool show_words(ContextState& context) {
  if (g_driver.cuStreamWriteValue32_v2 == nullptr || g_driver.cuMemHostRegister_v2 == nullptr ||
      g_driver.cuMemHostGetDevicePointer_v2 == nullptr) {
    return false;
  }
  if (context.mark_words == nullptr) {
    void* const memory = mmap(nullptr, kWordBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    context.mark_words = static_cast<uint32_t*>(memory);
  }
  if (g_driver.cuMemHostRegister_v2(context.mark_words, kWordBytes, CU_MEMHOSTREGISTER_DEVICEMAP) != CUDA_SUCCESS) {
    return false;
  }
  return g_driver.cuMemHostGetDevicePointer_v2(&context.mark_address, context.mark_words, 0) == CUDA_SUCCESS;
}

MarkWay decide(ContextState& context) {
  const MarkWay decided = context.mark_way.load(std::memory_order_acquire);
  if (decided != MarkWay::Undecided) return decided;
  // One thread decides; the others place no mark until then.
  MarkWay undecided = MarkWay::Undecided;
  if (!context.mark_way.compare_exchange_strong(undecided, MarkWay::Off, std::memory_order_acq_rel)) return undecided;
  const bool events =
      g_driver.cuEventCreate != nullptr && g_driver.cuEventRecord != nullptr && g_driver.cuEventQuery != nullptr;
  MarkWay way = events ? MarkWay::Event : MarkWay::Off;
  if ((g_write_values || !events) && show_words(context)) way = MarkWay::Value;
  context.mark_way.store(way, std::memory_order_release);
  return way;
}

bool write_value(StreamState& state, uint64_t number) {
  const uint32_t slot = slot_of(state);
  const ContextState& context = *state.context.load(std::memory_order_relaxed);
  const CUdeviceptr address = context.mark_address + slot * sizeof(uint32_t);
  if (state.mark_word.load(std::memory_order_relaxed) == nullptr) {
    // A word from an old stream of this slot may be far below. Numbers only grow, so it reports too little, never too
    // much.
    state.mark_word.store(context.mark_words + slot, std::memory_order_relaxed);
  }
  return g_driver.cuStreamWriteValue32_v2(state.handle, address, static_cast<cuuint32_t>(number), 0) == CUDA_SUCCESS;
}

void note_cost(uint64_t took) {
  const uint64_t pause = g_mark_pause.load(std::memory_order_relaxed);
  g_mark_pause.store(next_mark_pause(pause, g_least_pause, took), std::memory_order_relaxed);
  count(format::LossCounter::depth_mark_ns, ns_of(took));
}

// Whether a result for an event at `point` is worth a query now: it would halve the depth at least.
bool query_is_due(const StreamState& state, const EventPoint& point, uint64_t now) {
  const uint64_t launched = state.launched.load(), known = known_completed(state, launched);
  if (point.upto.launched <= known || 2 * (point.upto.launched - known) < launched - known) return false;
  const uint64_t pause = g_mark_pause.load(std::memory_order_relaxed);
  // On a stream without marks, the tick is that of a mark that was only due.
  return now - state.query_tick.load(std::memory_order_relaxed) >= pause &&
         (!has_marks(state) || now - state.mark_tick.load(std::memory_order_relaxed) >= pause);
}

void place(StreamState& state, uint64_t number) {
  const int saved = errno;
  const uint64_t begin = now_ticks();
  const DriverCall call;
  const MarkWay way = decide(*state.context.load(std::memory_order_relaxed));
  const bool placed =
      way == MarkWay::Value ? write_value(state, number) : way == MarkWay::Event && move_events(state, number);
  if (placed) {
    count(format::LossCounter::depth_marks);
  } else {
    state.marks_off.store(true, std::memory_order_relaxed);
    count(format::LossCounter::depth_marks_skipped);
  }
  note_cost(now_ticks() - begin);
  errno = saved;
}

}  // namespace

void open_marks(Marks marks, uint64_t least_pause, uint32_t every) {
  g_mark_every.store(every, std::memory_order_relaxed);
  g_least_pause = least_pause;
  g_mark_pause.store(least_pause, std::memory_order_relaxed);
  g_marks_on.store(marks != Marks::None, std::memory_order_relaxed);
  g_write_values = marks == Marks::Values;
  g_captures.store(0, std::memory_order_relaxed);
  g_placing.store(0, std::memory_order_relaxed);
}

void mark_every_launch(bool each) { g_mark_every.store(each ? 1 : kMarkEvery, std::memory_order_relaxed); }

void stop_marks(bool destroy_events) {
  if (!g_marks_on.exchange(false) || !destroy_events) return;
  const int saved = errno;
  const DriverCall call;
  drop_mark_events();
  errno = saved;
}

void place_mark_if_due(StreamState& state, bool programmatic) {
  if (!g_marks_on.load(std::memory_order_relaxed)) return;
  if (programmatic) state.programmatic.store(true, std::memory_order_relaxed);
  const uint64_t number = state.launched.load();
  uint64_t last = state.marked.load(std::memory_order_relaxed);
  if (number - last < g_mark_every.load(std::memory_order_relaxed) || marked_just_now(state) ||
      state.marks_off.load(std::memory_order_relaxed))
    return;
  if (cupti_client_active()) return;  // our calls would be in another profiler's records
  if (!state.marked.compare_exchange_strong(last, number, std::memory_order_relaxed)) return;
  state.mark_tick.store(state.last_launch_tick.load(std::memory_order_relaxed), std::memory_order_relaxed);
  g_placing.fetch_add(1, std::memory_order_seq_cst);
  if (g_captures.load(std::memory_order_seq_cst) != 0 || state.programmatic.load(std::memory_order_relaxed)) {
    count(format::LossCounter::depth_marks_skipped);
  } else {
    place(state, number);
  }
  g_placing.fetch_sub(1, std::memory_order_release);
}

bool query_marks(StreamState& state) {
  if (!g_marks_on.load(std::memory_order_relaxed) || cupti_client_active()) return false;
  g_placing.fetch_add(1, std::memory_order_seq_cst);
  bool finished = false;
  if (g_captures.load(std::memory_order_seq_cst) == 0 && state.mark_word.load(std::memory_order_relaxed) == nullptr) {
    const int saved = errno;
    const DriverCall call;
    finished = query_events(state);
    errno = saved;
  }
  g_placing.fetch_sub(1, std::memory_order_release);
  return finished;
}

bool query_program_event(CUevent event, uint64_t now) {
  if (!g_marks_on.load(std::memory_order_relaxed) || g_driver.cuEventQuery == nullptr) return false;
  const EventPoint point = find_event(event);
  if (!point.known() || cupti_client_active()) return false;
  StreamState& state = detail::g_streams->states[point.slot];
  if (!query_is_due(state, point, now)) return false;
  state.query_tick.store(now, std::memory_order_relaxed);
  g_placing.fetch_add(1, std::memory_order_seq_cst);
  const bool allowed = g_captures.load(std::memory_order_seq_cst) == 0;
  if (allowed) {
    const int saved = errno;
    const uint64_t begin = now_ticks();
    const DriverCall call;
    // Another thread may record the event meanwhile. The result is then of an unknown recording.
    if (g_driver.cuEventQuery(event) == CUDA_SUCCESS && find_event(event) == point) complete_upto(state, point.upto);
    note_cost(now_ticks() - begin);
    errno = saved;
  }
  g_placing.fetch_sub(1, std::memory_order_release);
  return allowed;
}

void marks_leave_context() {
  const int saved = errno;
  for (uint32_t waits = 0; g_placing.load(std::memory_order_seq_cst) != 0 && waits < kGateWaits; ++waits) {
    sleep_ns(kGateWaitNs);
  }
  errno = saved;
}

void marks_begin_capture() {
  g_captures.fetch_add(1, std::memory_order_seq_cst);
  marks_leave_context();
}

void marks_end_capture() {
  uint32_t captures = g_captures.load(std::memory_order_relaxed);
  while (captures != 0 && !g_captures.compare_exchange_weak(captures, captures - 1, std::memory_order_seq_cst)) {}
}

}  // namespace prof::preload
