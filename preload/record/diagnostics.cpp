// Counters of the log and the one-line messages on stderr.
#include "preload/base/decimal.h"
#include "preload/base/explain.h"
#include "preload/base/options.h"
#include "preload/lifecycle/describe.h"
#include "preload/log/log_storage.h"
#include "preload/record/recorder.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>

namespace prof::preload {

namespace {

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

// What is counted while there is no log: before the start, and in a forked child until it starts its own. Fork gives the child
// this page full of zeros: what its parent counted is the parent's. (Kernels that cannot do that leave it as it is.)
struct alignas(4096) EarlyPage {
  std::atomic<uint64_t> counter[format::kMaxCounters];
  std::atomic<uint32_t> asked;
};
static_assert(sizeof(EarlyPage) == 4096);
EarlyPage g_early;

void count_early(uint32_t index, uint64_t n) {
  if (g_early.asked.exchange(1, std::memory_order_relaxed) == 0) {
    const int saved = errno;
    madvise(&g_early, sizeof g_early, MADV_WIPEONFORK);
    errno = saved;
  }
  g_early.counter[index].fetch_add(n, std::memory_order_relaxed);
}

}  // namespace

void count(format::Counter counter, uint64_t n) {
  const uint32_t index = static_cast<uint32_t>(counter);
  const uint32_t phase = life().phase.load(std::memory_order_relaxed);
  format::CounterPage* const page = g_log.counters();
  // A cold life with a page: the page is the parent's.
  if (page != nullptr && phase != static_cast<uint32_t>(Phase::Cold) &&
      phase != static_cast<uint32_t>(Phase::Starting)) {
    std::atomic_ref(page->counter[index]).fetch_add(n, std::memory_order_relaxed);
  } else {
    count_early(index, n);
  }
}

void count_nested() {
  if (!inside_own_calls()) count(format::Counter::nested_calls, 1);
}

void count_guard_reset() {
  count(format::Counter::guard_resets, 1);
  if (t_local.state != nullptr && t_local.epoch == life().epoch.load(std::memory_order_relaxed))
    t_local.state->events.call_was_left();
}

void adopt_counters() {
  format::CounterPage* const page = g_log.counters();
  if (page == nullptr) return;
  for (uint32_t i = 0; i < format::kCounterCount; ++i) {
    if (g_early.counter[i].load(std::memory_order_relaxed) == 0) continue;
    const uint64_t n = g_early.counter[i].exchange(0, std::memory_order_relaxed);
    std::atomic_ref(page->counter[i]).fetch_add(n, std::memory_order_relaxed);
  }
}

namespace {

void write_line(std::initializer_list<std::string_view> parts) {
  const int saved = errno;
  char line[1024];
  size_t size = 0;
  for (const std::string_view part : parts) {
    const size_t room = sizeof line - 1 - size;
    const size_t n = part.size() < room ? part.size() : room;
    if (n != 0) std::memcpy(line + size, part.data(), n);
    size += n;
  }
  line[size++] = '\n';
  const ssize_t written = write(STDERR_FILENO, line, size);
  static_cast<void>(written);
  errno = saved;
}

}  // namespace

void explain(std::string_view a, std::string_view b, std::string_view c, std::string_view d) {
  if (options().log == nullptr || std::strcmp(options().log, "debug") != 0) return;
  const Decimal pid(static_cast<uint64_t>(getpid()));
  write_line({"libprof: debug: [", pid.text(), "] ", a, b, c, d});
}

void say(std::atomic<bool>& once, std::string_view a, std::string_view b, std::string_view c, std::string_view d) {
  if (once.exchange(true, std::memory_order_relaxed) || options().quiet) return;
  write_line({"libprof: ", a, b, c, d});
}

}  // namespace prof::preload
