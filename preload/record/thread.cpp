#include "preload/record/thread.h"

#include "preload/base/clock.h"
#include "preload/base/libc.h"
#include "preload/base/life_page.h"
#include "preload/format/codec.h"
#include "preload/log/count.h"
#include "preload/record/append.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

namespace prof::preload {

namespace {

constexpr uint32_t kStatesPerPage = 64;
constexpr uint32_t kPages = 1024;  // 65,536 threads at once

std::atomic<ThreadState*> g_pages[kPages];
std::atomic<uint32_t> g_hint{0};
std::atomic<uint32_t> g_next_ordinal{1};
void (*g_on_end)(ThreadState&) = nullptr;
pthread_key_t g_key;
bool g_key_made = false;

ThreadState* page(uint32_t index) {
  ThreadState* there = g_pages[index].load(std::memory_order_acquire);
  if (there != nullptr) return there;
  // The shapes come after all states, so that only the pages of threads that launch are used.
  constexpr size_t kShapes = kKnownShapes * sizeof(KnownShape);
  constexpr size_t kStates = (kStatesPerPage * sizeof(ThreadState) + 4095) / 4096 * 4096;
  constexpr size_t kBytes = kStates + kStatesPerPage * kShapes;
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const made = static_cast<ThreadState*>(memory);
  char* const shapes = static_cast<char*>(memory) + kStates;
  for (uint32_t i = 0; i < kStatesPerPage; ++i) {
    new (made + i) ThreadState;
    made[i].shapes = reinterpret_cast<KnownShape*>(shapes + i * kShapes);
  }
  if (g_pages[index].compare_exchange_strong(there, made, std::memory_order_acq_rel)) return made;
  munmap(memory, kBytes);
  return there;
}

ThreadState* take_slot() {
  const uint32_t from = g_hint.load(std::memory_order_relaxed);
  for (uint32_t n = 0; n < kPages; ++n) {
    const uint32_t index = (from + n) % kPages;
    ThreadState* const states = page(index);
    if (states == nullptr) return nullptr;
    for (uint32_t i = 0; i < kStatesPerPage; ++i) {
      uint32_t unused = 0;
      if (states[i].in_use.load(std::memory_order_relaxed) != 0) continue;
      if (!states[i].in_use.compare_exchange_strong(unused, 1, std::memory_order_acq_rel)) continue;
      g_hint.store(index, std::memory_order_relaxed);
      return states + i;
    }
  }
  return nullptr;
}

void release(ThreadState& state) {
  state.events.close();
  state.definitions.close();
  if (g_on_end != nullptr) g_on_end(state);
  state.in_use.store(0, std::memory_order_release);
  g_hint.store(0, std::memory_order_relaxed);
}

// Whether the thread's state belongs to an earlier recording of this process. In a forked child the state belongs to no
// thread.
bool is_of_earlier_recording(const ThreadLocal& local) {
  return local.state != nullptr && local.epoch != 0 && local.epoch != life().epoch.load(std::memory_order_relaxed) &&
         local.state->life.load(std::memory_order_relaxed) == local.epoch;
}

template <class Visit> void for_each_state_of(uint64_t life, Visit&& visit) {
  for (const std::atomic<ThreadState*>& entry : g_pages) {
    ThreadState* const states = entry.load(std::memory_order_acquire);
    if (states == nullptr) continue;
    for (uint32_t i = 0; i < kStatesPerPage; ++i) {
      if (states[i].in_use.load(std::memory_order_acquire) != 0 &&
          states[i].life.load(std::memory_order_relaxed) == life)
        visit(states[i]);
    }
  }
}

// pthread calls this function when a recorded thread ends. Destructors that run later may launch again. The thread then
// gets a new state, and this function is called again, up to PTHREAD_DESTRUCTOR_ITERATIONS times.
void thread_ended(void* state_argument) {
  auto* const state = static_cast<ThreadState*>(state_argument);
  ThreadLocal& local = t_local;
  const uint64_t epoch = life().epoch.load(std::memory_order_acquire);
  if (state == nullptr) return;
  if (local.state == state && (local.passing & kPassingBusy) == 0 && is_of_earlier_recording(local)) {
    state->events.abandon();
    state->definitions.abandon();
    release(*state);
    local.epoch = 0;
    local.state = nullptr;
    return;
  }
  if (epoch == 0 || local.epoch != epoch || local.state != state) return;
  emit(format::ThreadEnd{now_ticks()});
  local.epoch = 0;
  local.state = nullptr;
  local.guard_frame = 0;
  release(*state);
}

}  // namespace

void open_threads(bool another_recording, void (*ended)(ThreadState& state)) {
  g_on_end = ended;
  if (!g_key_made && prof_libc_pthread_key_create != nullptr) {
    g_key_made = prof_libc_pthread_key_create(&g_key, thread_ended) == 0;
  }
  g_next_ordinal.store(1, std::memory_order_relaxed);
  if (another_recording) return;
  for (std::atomic<ThreadState*>& entry : g_pages) {
    ThreadState* const states = entry.load(std::memory_order_acquire);
    if (states == nullptr) continue;
    for (uint32_t i = 0; i < kStatesPerPage; ++i) {
      states[i].events.abandon();
      states[i].definitions.abandon();
      states[i].life.store(0, std::memory_order_relaxed);
      states[i].in_use.store(0, std::memory_order_relaxed);
    }
  }
  g_hint.store(0, std::memory_order_relaxed);
}

bool recording_has_threads(uint64_t life) {
  bool any = false;
  for_each_state_of(life, [&](const ThreadState&) { any = true; });
  return any;
}

bool recording_has_calls_inside(uint64_t life) {
  bool any = false;
  for_each_state_of(life, [&](const ThreadState& state) { any |= state.events.in_call(); });
  return any;
}

bool recording_has_call_since(uint64_t life, uint64_t tick, bool (*wanted)(uint32_t api)) {
  bool any = false;
  for_each_state_of(life, [&](const ThreadState& state) {
    uint64_t since = 0;
    const uint32_t api = state.events.in_call_since(since);
    any |= api != 0 && since <= tick && since != 0 && wanted(api);
  });
  return any;
}

bool is_cut_off() {
  return is_of_earlier_recording(t_local) && t_local.epoch != g_newest_life.load(std::memory_order_acquire);
}

void sample_this_thread() { t_local.state->always_sampled.store(true, std::memory_order_relaxed); }

uint32_t calling_threads(uint64_t life, CallingThread* to, uint32_t most) {
  uint32_t found = 0;
  for (const std::atomic<ThreadState*>& entry : g_pages) {
    ThreadState* const states = entry.load(std::memory_order_acquire);
    if (states == nullptr) break;
    for (uint32_t i = 0; i < kStatesPerPage; ++i) {
      const ThreadState& state = states[i];
      const bool always = state.always_sampled.load(std::memory_order_relaxed);
      if (state.in_use.load(std::memory_order_acquire) == 0 || state.life.load(std::memory_order_relaxed) != life ||
          (!state.events.has_made_calls() && !always))
        continue;
      if (found < most) to[found] = {state.ordinal, state.tid, state.handle, always};
      ++found;
    }
  }
  return found;
}

uint32_t take_thread_ordinal() { return g_next_ordinal.fetch_add(1, std::memory_order_relaxed); }

uint64_t thread_handle(uint32_t tid) {
  for (const std::atomic<ThreadState*>& entry : g_pages) {
    const ThreadState* const states = entry.load(std::memory_order_acquire);
    if (states == nullptr) return 0;
    for (uint32_t i = 0; i < kStatesPerPage; ++i) {
      if (states[i].tid == tid) return states[i].handle;
    }
  }
  return 0;
}

void count_before_ready() {
  count(format::LossCounter::before_ready);
  if (t_before_ready.calls++ == 0) t_before_ready.since_ns = monotonic_ns();
}

bool open_thread() {
  const int saved = errno;
  ThreadLocal& local = t_local;
  const uint64_t epoch = life().epoch.load(std::memory_order_relaxed);
  // If the thread is busy, there are four cases. A signal handler interrupted this function, a record of this
  // recording, or a record of an earlier recording, which continues afterwards. Otherwise the record was interrupted by
  // a fork.
  const auto opening = static_cast<uint16_t>(0x100 | (epoch & 0xff));
  if ((local.passing & kPassingBusy) != 0) {
    if (local.opening == opening || local.epoch == epoch || is_of_earlier_recording(local)) {
      count(format::LossCounter::records_dropped_busy);
      return false;
    }
    count(format::LossCounter::fork_discards);
    local.passing &= static_cast<uint16_t>(~kPassingBusy);
  }
  local.opening = opening;
  local.passing |= kPassingBusy;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (local.epoch == epoch && local.state != nullptr) {  // a signal handler was faster
    local.passing &= static_cast<uint16_t>(~kPassingBusy);
    local.opening = 0;
    return true;
  }
  if (is_of_earlier_recording(local)) {
    local.state->events.abandon();  // its blocks no longer belong to the log
    local.state->definitions.abandon();
    release(*local.state);
    local.state = nullptr;
    local.epoch = 0;
  }
  ThreadState* const state = take_slot();
  bool ok = false;
  if (state == nullptr) {
    count(format::LossCounter::no_thread_state);
  } else {
    state->last_stream = nullptr;
    state->own_stack = {};
    state->life.store(life().epoch.load(std::memory_order_relaxed), std::memory_order_relaxed);
    state->learning = 0;
    state->always_sampled.store(false, std::memory_order_relaxed);
    state->memo = nullptr;
    state->fills.count = 0;
    state->ordinal = g_next_ordinal.fetch_add(1, std::memory_order_relaxed);
    state->tid = static_cast<uint32_t>(syscall(SYS_gettid));
    state->handle = static_cast<uint64_t>(pthread_self());
    state->events.open(format::BlockKind::Events, state->ordinal);
    state->definitions.open(format::BlockKind::Definitions, state->ordinal);
    char name[16] = {};
    prctl(PR_GET_NAME, name, 0, 0, 0);
    format::ThreadDef definition;
    definition.thread = format::ThreadOrdinal{state->ordinal};
    definition.tid = state->tid;
    definition.first_tick = now_ticks();
    definition.name = name;
    if (t_before_ready.calls != 0) {
      // Between the end of the start and the first recorded call the thread may wait for a processor. It loses nothing.
      const uint64_t ready_ns = life().ready_ns.load(std::memory_order_relaxed);
      definition.calls_lost = t_before_ready.calls;
      definition.lost_ns = std::max(ready_ns, t_before_ready.since_ns) - t_before_ready.since_ns;
      t_before_ready = {};
    }
    ok = state->events.append(definition);
    definition.calls_lost = definition.lost_ns = 0;
    state->events.repeat(definition);
    state->definitions.repeat(definition);
    if (!ok) {
      state->in_use.store(0, std::memory_order_release);
    } else {
      if (g_key_made && prof_libc_pthread_setspecific != nullptr) prof_libc_pthread_setspecific(g_key, state);
      local.state = state;
      const ptrdiff_t offset = reinterpret_cast<char*>(&errno) - reinterpret_cast<char*>(&local);
      local.errno_offset = offset == static_cast<int32_t>(offset) ? static_cast<int32_t>(offset) : 0;
      local.epoch = life().epoch.load(std::memory_order_relaxed);
    }
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  local.passing &= static_cast<uint16_t>(~kPassingBusy);
  local.opening = 0;
  errno = saved;
  return ok;
}

}  // namespace prof::preload
