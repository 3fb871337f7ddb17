#include "preload/base/helper_wake.h"

#include "preload/base/raw_call.h"

#include <linux/futex.h>

#include <ctime>

namespace prof::preload {

namespace {

std::atomic<uint32_t> g_wakes{0};  // futex word
std::atomic<long> g_helper{0};     // its thread id

}  // namespace

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout) {
  return raw_call(SYS_futex, word_of(&word), operation | FUTEX_PRIVATE_FLAG, value, word_of(timeout));
}

void note_helper_thread() { g_helper.store(raw_call(SYS_gettid), std::memory_order_relaxed); }
bool on_helper_thread() { return g_helper.load(std::memory_order_relaxed) == raw_call(SYS_gettid); }

void wake_helper() {
  g_wakes.fetch_add(1, std::memory_order_release);
  futex(g_wakes, FUTEX_WAKE, 1, nullptr);
}

uint32_t helper_wakes() { return g_wakes.load(std::memory_order_acquire); }

void await_helper_wake(uint32_t seen, const timespec& pause) { futex(g_wakes, FUTEX_WAIT, seen, &pause); }

}  // namespace prof::preload
