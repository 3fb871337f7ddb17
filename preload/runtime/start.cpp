// Order of a start, each step needing only those before it: options, clock, log file, counters, chunks, tables, threads, epoch,
// first definitions, helper, exit handler.
#include "preload/runtime/start.h"

#include "preload/capture/gpu_activity.h"
#include "preload/capture/stacks.h"
#include "preload/capture/streams.h"
#include "preload/log/chunks.h"
#include "preload/log/intern.h"
#include "preload/log/log_file.h"
#include "preload/log/sigbus.h"
#include "preload/runtime/describe.h"
#include "preload/runtime/explain.h"
#include "preload/runtime/helper.h"
#include "preload/runtime/libc.h"
#include "preload/runtime/options.h"
#include "preload/runtime/thread.h"
#include "preload/runtime/triggers.h"
#include "preload/runtime/wanted.h"
#include "preload/runtime/window.h"

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

LifePage g_first_page;          // until the wiped one is made
uint64_t g_lives = 0;           // survives fork: epochs are never used twice
pid_t g_pid = 0;                // of the life
bool g_child_possible = false;  // a life was started before in this memory: state of a parent may lie around

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

bool open_tables() {
  constexpr uint32_t kLarge = 1u << 16;
  constexpr uint32_t kSmall = 1u << 12;
  struct Row {
    InternTable* table;
    uint32_t capacity;
  };
  const Row rows[] = {
      {&g_intern.strings, kLarge},       {&g_intern.functions, kLarge},   {&g_intern.modules, kSmall * 4},
      {&g_intern.configs, kLarge},       {&g_intern.contexts, kSmall},    {&g_intern.streams, kLarge},
      {&g_intern.graphs, kSmall * 4},    {&g_intern.gpu_streams, kLarge}, {&g_intern.gpu_kernels, kLarge},
      {&g_intern.nvtx_domains, kSmall},  {&g_intern.nvtx_labels, kLarge}, {&g_intern.nvtx_schemas, kSmall},
      {&g_intern.nvtx_counters, kSmall}, {&g_intern.stacks, kLarge * 4},  {&g_intern.python_frames, kLarge}};
  size_t slots = 0;
  for (const Row& row : rows) slots += row.capacity;
  static void* memory = nullptr;
  const size_t bytes = slots * sizeof(InternTable::Slot);
  if (memory != nullptr) munmap(memory, bytes);  // the parent's, in a forked child
  memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    memory = nullptr;
    return false;
  }
  auto* at = static_cast<InternTable::Slot*>(memory);
  for (const Row& row : rows) {
    row.table->open(at, row.capacity);
    at += row.capacity;
  }
  return true;
}

// The end comes in two steps. Exit handlers run last-in first-out: here CUPTI and the driver are still whole, so GPU records
// are collected now; but the clean-up of libraries loaded earlier is still to come, and its calls belong into the log.
// quick_exit goes no further, so there the life ends at once.
void at_exit(void*) {
  if (getpid() == g_pid) finish_gpu_activity();
}
void at_quick_exit(void*) { finish_life(); }

// Destructors of libraries run after all exit handlers.
__attribute__((destructor)) void unloaded() { finish_life(); }

bool start_life() {
  const OwnCalls own;
  if (g_child_possible) {
    g_log.abandon();
    forget_guarded_mappings();
    abandon_chunks();
    forget_gpu_activity();
  }
  g_child_possible = true;
  read_options(environ);
  if (const char* const reason = why_not_wanted(); reason != nullptr) {
    explain("nothing is recorded here: ", reason);
    return false;
  }
  open_triggers();
  start_clock(options().clock);
  if (options().sigbus) survive_truncation();
  if (!g_log.create(options().output, {options().max_size})) return false;
  explain("log ", g_log.path(),
          g_log.backing() == format::Backing::Mapped
              ? ", mapped"
              : ", copied once a second: mapping is not trusted on this file system",
          g_clock.source == format::ClockSource::Tsc ? ", clock TSC" : ", clock of the system or the program");
  describe_header();
  adopt_counters();
  if (!open_chunks(options().slab) || !open_tables() || !open_streams()) return false;
  open_stacks();
  open_threads();
  g_pid = getpid();
  // From here this thread records; the others go on passing through until the phase says so.
  life().epoch.store(++g_lives, std::memory_order_release);
  if (!open_thread()) {
    life().epoch.store(0, std::memory_order_release);
    return false;
  }
  describe_process();
  describe_stacks();
  start_helper();
  register_exit_handler();
  return true;
}

}  // namespace

std::atomic<LifePage*> g_life{&g_first_page};

bool enter_slow() {
  const uint64_t epoch = life().epoch.load(std::memory_order_acquire);
  if (epoch != 0)
    return open_thread();  // a new thread, or a thread of the parent's life in a child that records already
  if (inert() || !in_window()) return false;
  uint32_t phase = life().phase.load(std::memory_order_acquire);
  if (phase == static_cast<uint32_t>(Phase::Starting)) {
    if (t_local.helper == 0) count(format::Counter::before_ready);
    return false;
  }
  // The start ended between the two readings above: this thread records, from this call on.
  if (phase == static_cast<uint32_t>(Phase::Recording) && life().epoch.load(std::memory_order_acquire) != 0)
    return open_thread();
  if (phase != static_cast<uint32_t>(Phase::Cold)) {
    if (g_log.is_open()) count(format::Counter::after_exit);
    return false;
  }
  if (t_local.helper != 0) return false;
  if (!life().phase.compare_exchange_strong(phase, static_cast<uint32_t>(Phase::Starting), std::memory_order_acq_rel)) {
    count(format::Counter::before_ready);
    return false;
  }
  const int saved = errno;
  if (g_life.load(std::memory_order_relaxed) == &g_first_page) {
    if (LifePage* const page = make_life_page(); page != nullptr) {
      page->phase.store(static_cast<uint32_t>(Phase::Starting), std::memory_order_relaxed);
      g_life.store(page, std::memory_order_release);
    }
  }
  const bool ok = start_life();
  life().phase.store(static_cast<uint32_t>(ok ? Phase::Recording : Phase::Stopped), std::memory_order_release);
  if (ok) adopt_counters();  // what was counted while starting
  errno = saved;
  return ok;
}

void count_cut_off() {
  const bool stopped = life().phase.load(std::memory_order_acquire) == static_cast<uint32_t>(Phase::Stopped);
  if (stopped && in_window() && g_log.is_open()) count(format::Counter::after_exit);
}

void register_exit_handler() {
  __cxa_atexit(at_exit, nullptr, &__dso_handle);
  static std::atomic<bool> quick{false};
  if (!quick.exchange(true)) __cxa_at_quick_exit(at_quick_exit, &__dso_handle);
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
    finish_gpu_activity();
    const ClockReading now = read_clocks();
    if (thread_ready()) emit(format::ClockAnchor{now.tick, now.monotonic_ns, now.realtime_ns});
    stop_helper(50'000'000);
    life().epoch.store(0, std::memory_order_seq_cst);
    const uint64_t end = close_chunks();
    adopt_counters();  // a thread that saw the start from far behind may have counted after it
    write_back_chunks();
    g_log.finish(end, now.monotonic_ns);
    explain("log closed: ", g_log.path());
  }
  errno = saved;
}

}  // namespace prof::preload
