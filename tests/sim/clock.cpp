// The virtual clock. Every API call and the device timeline call it; it takes no lock.
#include "tests/sim/clock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "tests/sim/cuda_headers.h"

namespace sim {
namespace {

std::atomic<Ns> g_virtual_now{kStartOfTime};

}  // namespace

bool clock_is_real() {
  static const bool real = [] {
    const char* choice = getenv("SIM_CLOCK");
    return choice != nullptr && strcmp(choice, "real") == 0;
  }();
  return real;
}

Ns now_ns() { return clock_is_real() ? machine_ns() : g_virtual_now.load(std::memory_order_acquire); }

void advance_ns(Ns amount) {
  if (!clock_is_real()) g_virtual_now.fetch_add(amount, std::memory_order_acq_rel);
}

void advance_to_ns(Ns moment) {
  if (clock_is_real()) {
    const timespec until{static_cast<time_t>(moment / 1'000'000'000), static_cast<long>(moment % 1'000'000'000)};
    while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {}
    return;
  }
  Ns seen = g_virtual_now.load(std::memory_order_acquire);
  while (seen < moment && !g_virtual_now.compare_exchange_weak(seen, moment)) {}
}

}  // namespace sim

extern "C" SIM_EXPORT uint64_t sim_now_ns() { return sim::now_ns(); }
