#include "preload/base/clock.h"

#include "preload/base/image.h"
#include "preload/base/libc.h"
#include "preload/base/messages.h"
#include "preload/base/raw_call.h"

#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace prof::preload {

Clock g_clock;

namespace {

using ReadClock = int (*)(clockid_t, timespec*);

int read_by_call(clockid_t id, timespec* to) {
  return static_cast<int>(raw_call(SYS_clock_gettime, static_cast<long>(id), word_of(to)));
}

int read_first(clockid_t id, timespec* to);
constinit std::atomic<ReadClock> g_read_clock{read_first};

// Without a vDSO (some sandboxes) each reading is a system call, as it is for libc.
int read_first(clockid_t id, timespec* to) {
#if defined(__aarch64__)
  constexpr const char* kName = "__kernel_clock_gettime";
#else
  constexpr const char* kName = "__vdso_clock_gettime";
#endif
  auto* const found = reinterpret_cast<ReadClock>(vdso_function(kName));
  const ReadClock read = found != nullptr ? found : read_by_call;
  g_read_clock.store(read, std::memory_order_relaxed);
  return read(id, to);
}

#if defined(__x86_64__)
// CPUID reports "invariant TSC": constant rate, running in all power states. The kernel may still distrust the TSC if
// sockets are out of step. It then drops the vDSO clock and selects another clocksource. This function does not check
// that.
bool counter_is_steady() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}
uint64_t nominal_rate() { return 0; }  // measured
#else
// The architecture requires both of the counter: CLOCK_MONOTONIC is made of it.
bool counter_is_steady() { return true; }
// What the firmware says.
uint64_t nominal_rate() {
  uint64_t per_second;
  __asm__("mrs %0, cntfrq_el0" : "=r"(per_second));
  return per_second;
}
#endif

// The two clocks when the library was loaded; a forked child has its parent's reading.
struct TscReading {
  uint64_t tick = 0, ns = 0;
};
TscReading g_at_load;

// The TSC is read between two readings of the other clock. The narrowest bracket of four is used.
TscReading read_tsc() {
  TscReading best;
  uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < 4; ++i) {
    const uint64_t before = monotonic_ns();
    const uint64_t tick = read_counter();
    const uint64_t width = monotonic_ns() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = {tick, before + width / 2};
  }
  return best;
}

// A measurement of 5 ms has an error of about 10 ppm, one of 0.1 ms of about 500 ppm. The rate only labels GPU times;
// clock anchors in the log carry the exact relation.
constexpr uint64_t kExactNs = 5'000'000, kLeastNs = 50'000;

struct TscRate {
  uint64_t per_second = 0, measured_ns = 0;
};
// The rate since the library was loaded. Waits until that is `least` ago. 0: the clock does not move.
TscRate measure_tsc_rate(uint64_t least) {
  note_clocks_at_load();  // a hook may come before the constructor
  TscRate rate;
  for (int tries = 0; tries < 8; ++tries) {
    const TscReading now = read_tsc();
    rate.measured_ns = now.ns > g_at_load.ns ? now.ns - g_at_load.ns : 0;
    const unsigned __int128 ticks = now.tick - g_at_load.tick;
    if (rate.measured_ns != 0) rate.per_second = static_cast<uint64_t>(ticks * 1'000'000'000 / rate.measured_ns);
    if (rate.measured_ns >= least) break;
    sleep_ns(least - rate.measured_ns);
  }
  return rate;
}

// The nominal rate, if the measured one agrees to 1 %, needs no better measurement.
bool is_nominal(const TscRate& rate) {
  const uint64_t nominal = nominal_rate();
  return nominal != 0 && rate.per_second > nominal - nominal / 100 && rate.per_second < nominal + nominal / 100;
}

std::atomic<bool> g_settled{false};

// CUPTI's clock begins now. Ticks have 64 bits and grow over centuries, so the product needs 128 bits. 32 fraction bits
// keep the rate exact to 1e-9.
void set_gpu_clock() {
  const bool tsc = g_clock.source == format::ClockSource::Tsc;
  const ClockReading now = read_clocks();
  g_clock.base_tick = now.tick;
  g_clock.base_ns = now.monotonic_ns;
  g_clock.shift = tsc ? 32 : 0;
  g_clock.multiplier =
      tsc ? static_cast<uint64_t>((static_cast<unsigned __int128>(1'000'000'000) << 32) / g_clock.ticks_per_second) : 1;
}

}  // namespace

void note_clocks_at_load() {
  if (g_at_load.ns == 0) g_at_load = read_tsc();
}

uint64_t kernel_clock_ns(clockid_t id) {
  timespec t{};
  g_read_clock.load(std::memory_order_relaxed)(id, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

uint64_t monotonic_ns() { return kernel_clock_ns(CLOCK_MONOTONIC); }

timespec timespec_of(uint64_t ns) {
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

void sleep_ns(uint64_t ns) {
  const timespec pause = timespec_of(ns);
  raw_call(SYS_nanosleep, word_of(&pause));  // the libc function would be a cancellation point
}

ClockReading read_clocks() {
  // The tick is read between two monotonic readings. The narrowest bracket of four tries is used.
  ClockReading best{};
  uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < 4; ++i) {
    const uint64_t before = monotonic_ns();
    const uint64_t tick = now_ticks();
    const uint64_t after = monotonic_ns();
    if (after - before >= best_width) continue;
    best_width = after - before;
    best.tick = tick;
    best.monotonic_ns = before + (after - before) / 2;
  }
  const uint64_t mono = monotonic_ns();
  const uint64_t real = kernel_clock_ns(CLOCK_REALTIME);
  best.realtime_ns = real - (mono - best.monotonic_ns);
  if (g_clock.source != format::ClockSource::Tsc) best.monotonic_ns = best.tick;  // ticks are the nanoseconds
  return best;
}

ClockSteps clock_steps(const ClockReading& earlier, const ClockReading& later) {
  constexpr int64_t kSet = 100'000'000;  // NTP slews by 0.5 ms in a second at most
  const auto offset = [](const ClockReading& r) { return static_cast<int64_t>(r.realtime_ns - r.monotonic_ns); };
  const int64_t moved = offset(later) - offset(earlier);
  if (later.tick < earlier.tick || later.monotonic_ns < earlier.monotonic_ns) return {true, false};
  constexpr uint64_t kUncounted = 10'000'000;
  const uint64_t passed = later.monotonic_ns - earlier.monotonic_ns, ticked = ns_of(later.tick - earlier.tick);
  // Two clocks differ by 0.01 % here, because the rate was measured in 5 ms.
  const bool uncounted = g_clock.source == format::ClockSource::Tsc && ticked + passed / 1000 + kUncounted < passed;
  return {uncounted, moved >= kSet || moved <= -kSet};
}

bool start_clock(const option::OneOf<option::Clock>& choice) {
  g_clock.read = monotonic_ns;
  g_clock.source = format::ClockSource::Monotonic;
  g_clock.ticks_per_second = 1'000'000'000;
  bool tsc = false, exact = true;
  const bool wanted = choice == option::Clock::Function;
  void* function = nullptr;
  if (wanted) {
    if (DlsymFunction lookup = real_dlsym(); lookup != nullptr) function = lookup(RTLD_DEFAULT, choice.text.data());
  }
  if (function != nullptr) {
    g_clock.read = reinterpret_cast<uint64_t (*)()>(function);
    g_clock.source = format::ClockSource::Named;
  }
  if (function == nullptr && choice != option::Clock::Monotonic && counter_is_steady()) {
    const TscRate rate = measure_tsc_rate(kLeastNs);
    tsc = rate.per_second != 0;
    if (tsc) {
      g_clock.source = format::ClockSource::Tsc;
      g_every_launch.tsc.store(true, std::memory_order_relaxed);
      exact = is_nominal(rate) || rate.measured_ns >= kExactNs;
      g_clock.ticks_per_second = is_nominal(rate) ? nominal_rate() : rate.per_second;
    } else {
      static std::atomic<bool> said{false};
      say(said, "the processor's counter does not advance with CLOCK_MONOTONIC; times are those of CLOCK_MONOTONIC");
    }
  }
  g_every_launch.tsc.store(tsc, std::memory_order_release);
  set_gpu_clock();
  g_settled.store(exact);
  return !wanted || function != nullptr;
}

void settle_clock() {
  if (clock_is_settled()) return;
  if (g_clock.source == format::ClockSource::Tsc) {
    if (const TscRate rate = measure_tsc_rate(kExactNs); rate.per_second != 0)
      g_clock.ticks_per_second = rate.per_second;
    set_gpu_clock();
  }
  g_settled.store(true);
}

bool clock_is_settled() { return g_settled.load(); }

uint64_t exact_ticks_per_second() {
  if (!clock_is_settled() && g_clock.source == format::ClockSource::Tsc) {
    const TscRate rate = measure_tsc_rate(0);
    return rate.measured_ns >= kExactNs ? rate.per_second : 0;
  }
  return g_clock.ticks_per_second;
}

uint64_t gpu_clock_ns() {
  const int64_t ticks = static_cast<int64_t>(now_ticks() - g_clock.base_tick);
  const __int128 ns = (static_cast<__int128>(ticks) * static_cast<__int128>(g_clock.multiplier)) >> g_clock.shift;
  return g_clock.base_ns + static_cast<uint64_t>(ns);
}

}  // namespace prof::preload
