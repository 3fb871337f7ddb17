#include "preload/hardware_counters/hardware_sampling.h"

#include "preload/base/clock.h"
#include "preload/base/decimal.h"
#include "preload/base/exit_handler.h"
#include "preload/base/helper_wake.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/bounded_flush.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/cupti/cupti_last_error.h"
#include "preload/capture/cupti/gpu_state.h"
#include "preload/driver/driver.h"
#include "preload/driver/gpu_devices.h"
#include "preload/hardware_counters/counter_recording.h"
#include "preload/hardware_counters/counter_slots.h"
#include "preload/hardware_counters/pm_sampler.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/own_time.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"
#include "preload/record/thread_scope.h"

#include <cerrno>
#include <cstring>

namespace prof::preload {

std::atomic<bool> g_hardware_sampling{false};
std::atomic<bool> g_hardware_sampling_awaited{false};

namespace {

enum class Sampled : uint32_t { No, Refused, Running, Over, Finished };  // Finished: stopped, not closed

struct SampledDevice {
  std::atomic<Sampled> state{Sampled::No};
  OwnedLock lock;  // protects all fields below
  PmSampler sampler;
  format::SampledSetId set{};
  uint64_t due_ns = 0, pause_ns = 0;
};

constexpr uint32_t kDevices = 16;
SampledDevice g_devices[kDevices];
std::atomic<uint32_t> g_last_sampled_set{0};
OwnedLock g_hardware_sampling_opening;  // one GPU at a time
std::atomic<bool> g_over{false};        // the last samples are being read

// Between two reads at most half of the image fills: samples that arrive when it is full are lost.
uint64_t pause_of(uint64_t interval_ns) {
  constexpr uint64_t kLeast = 2'000'000, kMost = 100'000'000;
  const uint64_t half = interval_ns * (PmSampler::kMostSamples / 2);
  return half < kLeast ? kLeast : half > kMost ? kMost : half;
}

void define_set(SampledDevice& sampled, uint32_t device) {
  const CounterMetrics& metrics = sampled.sampler.host().metrics();
  char names[sizeof metrics.text];
  format::SampledSetDef set;
  set.id = sampled.set =
      static_cast<format::SampledSetId>(g_last_sampled_set.fetch_add(1, std::memory_order_relaxed) + 1);
  set.device = device;
  set.metrics = intern_lasting_string(join_names(metrics, names));
  set.interval_ns = sampled.sampler.interval_ns();
  set.chip = sampled.sampler.host().chip();
  define(set);
}

void emit_samples(void* to, const format::SampleSpan* spans, const double* values, uint32_t count) {
  const SampledDevice& sampled = *static_cast<const SampledDevice*>(to);
  uint8_t text[format::kMaxTextBytes + 16];
  const uint8_t* const end = format::put_samples(text, spans, values, count, sampled.sampler.host().metrics().count);
  format::HardwareSamples event;
  event.start = spans[0].start;
  event.set = sampled.set;
  event.samples = {reinterpret_cast<const char*>(text), static_cast<size_t>(end - text)};
  emit(event);
}

void report_refusal(SampledDevice& sampled, std::string_view what) {
  static std::atomic<bool> said{false};
  say(said, what, sampled.sampler.reason());
  define_meta("sampling", sampled.sampler.reason());
}

// PROF_SAMPLING_INTERVAL within the limits of the hardware's sampling.
uint64_t sampling_interval_ns() {
  constexpr uint64_t kShortest = 5'000, kLongest = 1'000'000'000;
  const uint64_t wanted = options().sampling_interval;
  static std::atomic<bool> said{false};
  if (wanted < kShortest) {
    say(said, "PROF_SAMPLING_INTERVAL is less than 5us: samples are 5us apart");
    return kShortest;
  }
  if (wanted > kLongest) {
    say(said, "PROF_SAMPLING_INTERVAL is more than 1s: samples are 1s apart");
    return kLongest;
  }
  return wanted;
}

// The caller holds the lock and is inside a scope that records.
void open_device(SampledDevice& sampled, uint32_t device) {
  await_device_no_more(device);
  const uint64_t interval = sampling_interval_ns();
  if (!sampled.sampler.open(g_cupti.api, device, options().sampling, interval) || !sampled.sampler.start()) {
    sampled.state.store(Sampled::Refused, std::memory_order_release);
    count(format::LossCounter::sampling_unavailable);
    report_refusal(sampled, "no samples of hardware counters: ");
    sampled.sampler.finish();
    return;
  }
  // CUPTI's libraries have exit handlers of their own, which must run after ours.
  static std::atomic<bool> registered{false};
  if (!registered.exchange(true)) register_exit_handlers();
  define_set(sampled, device);
  define_meta("sampling", "on");
  explain("samples hardware counters of GPU ", Decimal(device).text(), ", a ", sampled.sampler.host().chip());
  sampled.pause_ns = pause_of(interval);
  sampled.due_ns = monotonic_ns() + sampled.pause_ns;
  sampled.state.store(Sampled::Running);
  wake_helper();  // it sleeps longer than the pause
  if (!g_over.load()) return;
  sampled.sampler.finish();  // the recording ended meanwhile, so no other code finishes it
  sampled.state.store(Sampled::Over);
}

void open_if_new(uint32_t device) {
  if (device >= kDevices || !device_wanted(device)) return;
  SampledDevice& sampled = g_devices[device];
  if (sampled.state.load(std::memory_order_acquire) != Sampled::No) return;
  g_hardware_sampling_opening.take();
  sampled.lock.take();
  if (sampled.state.load(std::memory_order_relaxed) == Sampled::No && hardware_sampling_on() &&
      !g_over.load(std::memory_order_relaxed))
    open_device(sampled, device);
  sampled.lock.give();
  g_hardware_sampling_opening.give();
}

// The caller holds the lock and is inside a scope that records. True: further samples are ready.
bool take_samples(SampledDevice& sampled) {
  const PmSampler::Read read = sampled.sampler.read(emit_samples, &sampled);
  if (read.without_time != 0) count(format::LossCounter::samples_unread, read.without_time);
  if (read.overflowed) count(format::LossCounter::sampling_overflows);
  const bool again = read.overflowed && !g_over.load(std::memory_order_relaxed);
  if ((!read.ok && !read.overflowed) || (again && !sampled.sampler.restart())) {
    sampled.state.store(Sampled::Over, std::memory_order_release);
    count(format::LossCounter::sampling_unavailable);
    report_refusal(sampled, "samples of hardware counters end: ");
    return false;
  }
  return read.more;
}

// The caller holds the lock and is inside a scope that records. The time up to `end_ns` that no sample covers is
// counted, and a sample of length 0 marks its end. The last sample, which the stop cut, is not a missing one.
void note_missing(SampledDevice& sampled, uint64_t end_ns) {
  const uint64_t covered = sampled.sampler.covered_until(), interval = sampled.sampler.wanted_ns();
  if (covered == 0 || end_ns < covered + 2 * interval) return;
  count(format::LossCounter::samples_unread, (end_ns - covered) / interval);
  const format::SampleSpan end{end_ns, end_ns};
  const double none[CounterMetrics::kMost] = {};
  emit_samples(&sampled, &end, none, 1);
}

// The caller holds the lock and is inside a scope that records. The samples are read before the stop: one run on an
// H100 returned only one image after it (one run; the cause is not known).
void drain(SampledDevice& sampled, uint64_t stop_ns) {
  const uint64_t now = monotonic_ns();
  const uint64_t half_ns = stop_ns > now ? now + (stop_ns - now) / 2 : now;
  bool more = true;
  while (more && monotonic_ns() < half_ns) more = take_samples(sampled);
  const uint64_t end_ns = gpu_clock_ns();
  more = sampled.sampler.stop();
  while (more && monotonic_ns() < stop_ns) more = take_samples(sampled);
  note_missing(sampled, end_ns);
}

// Runs on its own thread, which may be abandoned.
void finish_all(uint64_t stop_ns, bool for_good) {
  for (SampledDevice& sampled : g_devices) {
    if (sampled.state.load(std::memory_order_acquire) != Sampled::Running) continue;
    if (sampled.lock.take(stop_ns) == OwnedLock::Taken::No) continue;
    const ThreadScope scope;
    if (sampled.state.load(std::memory_order_relaxed) == Sampled::Running && scope.recording()) {
      drain(sampled, stop_ns);
      if (for_good) sampled.sampler.finish();
      sampled.state.store(for_good ? Sampled::Over : Sampled::Finished, std::memory_order_release);
    }
    sampled.lock.give();
  }
}

void finish_hardware_sampling_with(void (*work)(uint64_t stop_ns)) {
  if (!hardware_sampling_on() || g_over.exchange(true)) return;
  g_hardware_sampling_awaited.store(false, std::memory_order_relaxed);
  bool any = false;
  for (const SampledDevice& sampled : g_devices) any |= sampled.state.load() == Sampled::Running;
  if (!any) return;
  const int saved = errno;
  const OwnCalls own;
  if (run_bounded(work, options().exit_wait) != FlushOutcome::Done) {
    count(format::LossCounter::cupti_flush_timeouts);
    static std::atomic<bool> said{false};
    say(said, "CUPTI did not return in time: samples of hardware counters of the last moments are missing");
  }
  errno = saved;
}

}  // namespace

void open_hardware_sampling() {
  const bool wanted = options().sampling.any();
  for (SampledDevice& sampled : g_devices) {
    const Sampled state = sampled.state.load(std::memory_order_relaxed);
    if (state == Sampled::Refused || state == Sampled::Over)
      sampled.state.store(Sampled::No, std::memory_order_relaxed);
  }
  await_devices(wanted ? (uint64_t{1} << kDevices) - 1 : 0);
  g_over.store(false, std::memory_order_relaxed);
  g_hardware_sampling_awaited.store(wanted, std::memory_order_relaxed);
  g_hardware_sampling.store(wanted, std::memory_order_release);
  if (wanted) await_launches();  // in a forked child the value was the parent's
}

void drop_hardware_sampling(std::string_view reason) {
  g_hardware_sampling_awaited.store(false, std::memory_order_relaxed);
  if (!g_hardware_sampling.exchange(false)) return;
  await_devices(0);
  count(format::LossCounter::sampling_unavailable);
  define_meta("sampling", reason);
  static std::atomic<bool> said{false};
  say(said, "no samples of hardware counters: ", reason);
}

void prepare_hardware_sampling(bool pass) {
  if (!hardware_sampling_awaited()) {
    if (pass) pass_gpu_activity();  // sampling may have been dropped a moment ago
    return;
  }
  if (any_open_capture()) return;
  if (!cupti_front_open()) {
    if (g_gpu_activity.load(std::memory_order_acquire) == GpuActivity::Off)
      drop_hardware_sampling("this is a child of a process that used CUPTI");
    if (pass && !hardware_sampling_awaited()) pass_gpu_activity();
    return;  // another thread is opening it
  }
  const int saved = errno;
  if (current_context_of_thread() != nullptr) {
    const CuptiCall call;
    const KeepCuptiError keep;
    CUdevice device = 0;
    if (g_driver.cuCtxGetDevice != nullptr && g_driver.cuCtxGetDevice(&device) == CUDA_SUCCESS)
      open_if_new(static_cast<uint32_t>(device));
    g_hardware_sampling_awaited.store(false, std::memory_order_relaxed);
    if (pass) pass_gpu_activity();
  }
  errno = saved;
}

uint64_t tend_hardware_sampling(uint64_t now_ns) {
  if (!hardware_sampling_on() || g_over.load(std::memory_order_acquire) || !cupti_front_open()) return ~0ull;
  const uint64_t begin = now_ticks();
  uint64_t next = ~0ull;
  bool worked = false;
  const uint64_t seen = g_seen_devices.load(std::memory_order_acquire);
  for (uint32_t device = 0; device < kDevices; ++device) {
    SampledDevice& sampled = g_devices[device];
    const ThreadScope scope;
    if (!scope.recording()) break;
    if ((seen >> device & 1) != 0 && !any_open_capture()) open_if_new(device);
    if (sampled.state.load(std::memory_order_acquire) != Sampled::Running) continue;
    if (sampled.due_ns <= now_ns) {
      bool more = false;
      if (sampled.lock.take(now_ns) != OwnedLock::Taken::No) {
        worked = true;
        more = sampled.state.load(std::memory_order_relaxed) == Sampled::Running && take_samples(sampled);
        sampled.lock.give();
      }
      sampled.due_ns = monotonic_ns() + (more ? 0 : sampled.pause_ns);
    }
    if (sampled.due_ns < next) next = sampled.due_ns;
  }
  if (worked) budget_spend(now_ticks() - begin);
  return next;
}

void finish_hardware_sampling() {
  finish_hardware_sampling_with([](uint64_t stop_ns) { finish_all(stop_ns, false); });
}

void stop_hardware_sampling() {
  finish_hardware_sampling_with([](uint64_t stop_ns) { finish_all(stop_ns, true); });
}

void abandon_hardware_sampling() {
  await_devices(0);
  g_hardware_sampling.store(false, std::memory_order_relaxed);
  g_hardware_sampling_awaited.store(false, std::memory_order_relaxed);
  g_hardware_sampling_opening.abandon();
  for (SampledDevice& sampled : g_devices) {
    sampled.lock.abandon();
    if (sampled.state.load(std::memory_order_relaxed) == Sampled::No) continue;
    sampled.sampler.abandon();
    sampled.state.store(Sampled::No, std::memory_order_relaxed);
  }
}

}  // namespace prof::preload
