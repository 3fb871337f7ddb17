// Order of a start, each step needing only those before it: options, clock, log file, counters, chunks, tables, threads, epoch,
// first definitions, helper, exit handler.
#include "preload/lifecycle/start.h"

#include "preload/base/clock.h"
#include "preload/base/explain.h"
#include "preload/base/libc.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/gpu_activity.h"
#include "preload/capture/gpu_devices.h"
#include "preload/capture/streams/streams.h"
#include "preload/control/budget.h"
#include "preload/control/prof_ctl.h"
#include "preload/control/repeats.h"
#include "preload/control/triggers.h"
#include "preload/control/wanted.h"
#include "preload/hardware_counters/counter_recording.h"
#include "preload/hardware_counters/hardware_sampling.h"
#include "preload/lifecycle/describe.h"
#include "preload/lifecycle/dumps.h"
#include "preload/lifecycle/helper.h"
#include "preload/lifecycle/recording_period.h"
#include "preload/log/chunks.h"
#include "preload/log/intern.h"
#include "preload/log/log_storage.h"
#include "preload/log/retired.h"
#include "preload/log/ring.h"
#include "preload/log/sigbus.h"
#include "preload/record/thread.h"
#include "preload/stacks/call_stack.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

extern char** environ;
extern "C" {
extern void* __dso_handle;
int __cxa_atexit(void (*)(void*), void*, void*);
int __cxa_at_quick_exit(void (*)(void*), void*);
int __register_atfork(void (*)(), void (*)(), void (*)(), void*);
}

namespace prof::preload {

namespace {

LifePage g_first_page;                 // until the wiped one is made
pid_t g_pid = 0;                       // of the life
std::atomic<pid_t> g_prepared_pid{0};  // whose options and clock there are
bool g_child_possible = false;         // something was started before in this memory: state of a parent may lie around
uint32_t g_parts = 0;                  // lives of this process
uint64_t g_ended_ns = 0;               // when the last of them ended

// Fork gives the child this page full of zeros: cold, whatever the parent did. (vfork shares it: the parent's life goes on.)
LifePage* make_life_page() {
  void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const page = new (memory) LifePage;
  if (madvise(memory, 4096, MADV_WIPEONFORK) != 0) {
    // A kernel without it (gVisor): the fork of libc tells us; a raw clone goes unnoticed there.
    __register_atfork(
        nullptr, nullptr,
        [] {
          life().epoch.store(0, std::memory_order_relaxed);
          life().phase.store(static_cast<uint32_t>(Phase::Cold), std::memory_order_relaxed);
        },
        &__dso_handle);
  }
  return page;
}

// The end comes in two steps. Exit handlers run last-in first-out: here CUPTI and the driver are still whole, so GPU records
// are collected now; but the clean-up of libraries loaded earlier is still to come, and its calls belong into the log.
// quick_exit goes no further, so there the life ends at once.
void at_exit(void*) {
  if (getpid() != g_pid) return;
  finish_counters();
  finish_gpu_activity();
  finish_sampling();
}
void at_quick_exit(void*) { finish_life(); }

void behind_destructors(void*) {
  finish_life();
  uint32_t cold = static_cast<uint32_t>(Phase::Cold);
  if (g_parts != 0 && getpid() == g_pid)  // nobody would close another part's log
    life().phase.compare_exchange_strong(cold, static_cast<uint32_t>(Phase::Stopped), std::memory_order_acq_rel);
}

// Destructors of libraries run after all exit handlers, and those of the libraries that the program was linked with after this one: a shared
// libcudart cleans up there. glibc calls what is registered while they run behind the last of them. (-z nodelete: this is never a dlclose.)
__attribute__((destructor)) void unloaded() {
  close_control();
  if (g_pid != 0 && getpid() != g_pid) return;  // a vfork child, whose exit handlers are its parent's
  if (__cxa_atexit(behind_destructors, nullptr, nullptr) != 0) behind_destructors(nullptr);
}

// Threads that the end of the last part cut off in the middle of a record go on with it in memory that is kept for them (retired.h). It
// is better still if they are through: those that are not inside a call of the driver's take microseconds, if they have a processor.
void await_cut_off_threads(uint64_t ended) {
  constexpr uint64_t kLeastNs = 20'000'000, kMostNs = 60'000'000;
  for (uint64_t now = monotonic_ns(); now < g_ended_ns + kMostNs; now = monotonic_ns()) {
    if (now >= g_ended_ns + kLeastNs && !life_has_calls_inside(ended)) return;
    sleep_ns(1'000'000);
  }
}

void leave_earlier_part(uint64_t ended) {
  await_cut_off_threads(ended);
  free_retired();
  forget_guarded_mappings();
  retire_chunks(ended);
  g_log.retire(ended);
  restart_gpu_activity();
}

void leave_parents_life() {
  g_parts = 0;
  g_log.abandon();
  forget_guarded_mappings();
  abandon_chunks();
  abandon_ring();
  forget_retired();
  forget_counters();
  forget_sampling();
  forget_gpu_activity();
}

bool is_prepared() { return g_prepared_pid.load(std::memory_order_relaxed) == getpid(); }

// False: nothing is recorded in this process. (The clock is the process's: a part that was cut off may still read it.)
bool prepare_process() {
  if (is_prepared()) return true;
  read_options(environ);
  if (const char* const reason = why_not_wanted(); reason != nullptr) {
    explain("nothing is recorded here: ", reason);
    return false;
  }
  start_clock(options().clock);
  g_prepared_pid.store(getpid(), std::memory_order_relaxed);
  return true;
}

void use_wiped_page() {
  if (g_every_launch.life.load(std::memory_order_relaxed) != &g_first_page) return;
  LifePage* const page = make_life_page();
  if (page == nullptr) return;
  page->phase.store(static_cast<uint32_t>(Phase::Starting), std::memory_order_relaxed);
  g_every_launch.life.store(page, std::memory_order_release);
}

// A ring grows by sixteenths of itself, so that the file is not much larger.
bool open_blocks() {
  RingSize size;
  if (!read_ring(options().ring, size)) {
    static std::atomic<bool> said{false};
    say(said, "PROF_RING is not valid, expected BYTES, SECONDS followed by s, or off; the log keeps everything");
    size = {};
  }
  if (!open_ring(size)) return false;
  if (size.bytes == 0) return open_chunks(options().slab);
  constexpr uint64_t kSmallest = 64u << 10;
  uint64_t slab = size.bytes / 16 < kSmallest ? kSmallest : size.bytes / 16;
  if (slab > options().slab) slab = options().slab;
  return open_chunks(slab, slab);
}

bool start_life() {
  const DirectCalls own;
  const uint64_t ended =
      g_parts != 0 && g_pid == getpid() ? g_newest_life.load(std::memory_order_relaxed) : 0;  // of an earlier part
  const uint64_t epoch = g_newest_life.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (ended != 0) {
    leave_earlier_part(ended);
  } else if (g_child_possible && !is_prepared()) {
    leave_parents_life();
  }
  g_child_possible = true;
  if (ended == 0) {
    if (!prepare_process()) return false;
    if (options().sigbus) survive_truncation();
  }
  if (!g_log.create(options().output, {options().max_size}, g_parts + 1)) return false;
  explain("log ", g_log.path(),
          g_log.backing() == format::Backing::Mapped
              ? ", mapped"
              : ", copied once a second: mapping is not trusted on this file system",
          g_clock.source == format::ClockSource::Tsc ? ", clock TSC" : ", clock of the system or the program");
  describe_header();
  open_control();
  adopt_counters();
  open_wanted_devices();
  if (!open_blocks() || !open_intern_tables(ended) || !open_streams(ended)) return false;
  open_stacks(ended != 0);
  open_budget();
  open_threads(ended != 0);
  open_triggers();
  open_repeats();
  open_counters();
  open_sampling();
  open_dumps();
  g_pid = getpid();
  ++g_parts;
  life().runtime_calls.store(std::strcmp(options().runtime, "off") != 0, std::memory_order_relaxed);
  // From here this thread records; the others go on passing through until the phase says so.
  life().epoch.store(epoch, std::memory_order_release);
  if (!open_thread()) {
    life().epoch.store(0, std::memory_order_release);
    return false;
  }
  describe_process();
  describe_stacks();
  describe_budget();
  describe_wanted_devices();
  start_helper();
  if (ended == 0) register_exit_handler();
  return true;
}

}  // namespace

constinit EveryLaunch g_every_launch{.life = &g_first_page};

bool enter_slow() {
  const uint64_t epoch = life().epoch.load(std::memory_order_acquire);
  if (epoch != 0)
    return open_thread();  // a new thread, or a thread of the parent's life in a child that records already
  if (!window_is(Window::Open) && passes_by()) return false;
  if (inert() || !in_window()) return false;
  uint32_t phase = life().phase.load(std::memory_order_acquire);
  if (phase == static_cast<uint32_t>(Phase::Starting)) {
    if (!inside_own_calls()) count(format::Counter::before_ready);
    return false;
  }
  // The start ended between the two readings above: this thread records, from this call on.
  if (phase == static_cast<uint32_t>(Phase::Recording) && life().epoch.load(std::memory_order_acquire) != 0)
    return open_thread();
  if (phase != static_cast<uint32_t>(Phase::Cold)) {
    if (g_log.is_open()) count(format::Counter::after_exit);
    return false;
  }
  if (inside_our_calls()) return false;
  if (!life().phase.compare_exchange_strong(phase, static_cast<uint32_t>(Phase::Starting), std::memory_order_acq_rel)) {
    count(format::Counter::before_ready);
    return false;
  }
  const int saved = errno;
  use_wiped_page();
  const bool ok = start_life();
  life().prepared.store(true, std::memory_order_relaxed);
  life().phase.store(static_cast<uint32_t>(ok ? Phase::Recording : Phase::Stopped), std::memory_order_release);
  if (ok) adopt_counters();  // what was counted while starting
  errno = saved;
  return ok;
}

bool enter_interrupted() {
  const ThreadLocal& local = t_local;
  const uint64_t epoch = life().epoch.load(std::memory_order_acquire);
  if (inside_our_calls()) {
    if (inside_own_calls()) return false;
    const bool starting = life().phase.load(std::memory_order_acquire) == static_cast<uint32_t>(Phase::Starting);
    if (starting || epoch != 0) count(starting ? format::Counter::before_ready : format::Counter::nested_calls);
    return false;
  }
  if (epoch == 0 || local.epoch != epoch) return enter_slow();  // it interrupted a record of another life
  count(format::Counter::records_dropped_busy);
  return false;
}

void prepare_for_a_later_part() {
  if (inert() || !window_awaits() || is_prepared()) return;
  uint32_t phase = static_cast<uint32_t>(Phase::Cold);
  if (!life().phase.compare_exchange_strong(phase, static_cast<uint32_t>(Phase::Starting), std::memory_order_acq_rel))
    return;
  const int saved = errno;
  const OwnCalls own;
  use_wiped_page();
  if (g_child_possible) leave_parents_life();
  g_child_possible = true;
  const bool wanted = prepare_process();
  if (wanted) arm_gpu_activity();
  life().prepared.store(true, std::memory_order_relaxed);
  life().phase.store(static_cast<uint32_t>(wanted ? Phase::Cold : Phase::Stopped), std::memory_order_release);
  errno = saved;
}

void count_cut_off() {
  const bool stopped = life().phase.load(std::memory_order_acquire) == static_cast<uint32_t>(Phase::Stopped);
  if (stopped && window_is(Window::Open) && g_log.is_open()) count(format::Counter::after_exit);
}

void register_exit_handler() {
  __cxa_atexit(at_exit, nullptr, &__dso_handle);
  static std::atomic<bool> quick{false};
  if (!quick.exchange(true)) __cxa_at_quick_exit(at_quick_exit, &__dso_handle);
}

uint32_t parts_so_far() { return g_parts; }

void allow_another_life() {
  uint32_t stopped = static_cast<uint32_t>(Phase::Stopped);
  if (getpid() == g_pid)
    life().phase.compare_exchange_strong(stopped, static_cast<uint32_t>(Phase::Cold), std::memory_order_acq_rel);
}

void finish_life() {
  uint32_t recording = static_cast<uint32_t>(Phase::Recording);
  if (getpid() != g_pid) return;  // a vfork child that calls exit
  if (!life().phase.compare_exchange_strong(recording, static_cast<uint32_t>(Phase::Stopped),
                                            std::memory_order_acq_rel)) {
    return;
  }
  const int saved = errno;
  {
    const OwnCalls own;
    finish_counters();
    window_is(Window::Ending) ? end_gpu_activity()
                              : finish_gpu_activity();  // of a part, should its taker have come late
    finish_sampling();
    const ClockReading now = read_clocks();
    if (thread_ready()) emit(format::ClockAnchor{now.tick, now.monotonic_ns, now.realtime_ns});
    stop_helper(50'000'000);
    life().epoch.store(0, std::memory_order_seq_cst);
    close_ring();
    const uint64_t end = close_chunks();
    adopt_counters();  // a thread that saw the start from far behind may have counted after it
    write_back_chunks();
    g_log.finish(end, now.monotonic_ns);
    explain("log closed: ", g_log.path());
    g_ended_ns = monotonic_ns();
  }
  errno = saved;
}

}  // namespace prof::preload
