#include "preload/capture/gpu_activity.h"

#include "preload/base/about.h"
#include "preload/base/clock.h"
#include "preload/base/decimal.h"
#include "preload/base/exit_handler.h"
#include "preload/base/image.h"
#include "preload/base/joined_text.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/cupti_client.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/cupti/cupti_inside.h"
#include "preload/capture/cupti/cupti_kinds.h"
#include "preload/capture/cupti/cupti_last_error.h"
#include "preload/capture/cupti_records.h"
#include "preload/capture/gpu_bursts.h"
#include "preload/capture/gpu_flushes.h"
#include "preload/capture/streams/streams.h"
#include "preload/capture/wait_flushes.h"
#include "preload/driver/driver.h"
#include "preload/driver/gpu_devices.h"
#include "preload/hardware_counters/counter_recording.h"
#include "preload/hardware_counters/hardware_sampling.h"
#include "preload/log/count.h"
#include "preload/record/launch_extras.h"
#include "preload/record/own_time.h"
#include "preload/record/recording_window.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"
#include "preload/record/thread_scope.h"

#include <cerrno>
#include <cstring>
#include <optional>

namespace prof::preload {

namespace {

std::atomic<bool> g_said{false};
constexpr std::string_view kRefused = ": cuptiActivityEnable: ";

void report_no_gpu_times(std::string_view a, std::string_view b = {}, std::string_view c = {}, std::string_view d = {},
                         std::string_view e = {}) {
  const JoinedText joined{a, b, c, d, e};
  const std::string_view reason = joined.view();
  count(format::LossCounter::cupti_unavailable);
  define_meta("gpu_times", reason);
  const bool counters = drop_counters(reason);
  drop_hardware_sampling(reason);
  say(g_said, counters ? "no hardware counters and no GPU times: " : "no GPU times: ", reason,
      "; the host side is recorded");
}

// Reports that CUPTI refused. The usual cause is another CUPTI, linked statically, that was used first.
void report_refusal(std::string_view reason) {
  const char* const other = object_with_cupti();
  if (other == nullptr) return report_no_gpu_times(g_cupti.path, kRefused, reason);
  report_no_gpu_times(g_cupti.path, kRefused, reason, "; another CUPTI is linked into ",
                      may_tell(option::About::Paths) ? other : "the program or a library of it");
}

bool attached() { return is_attached(g_gpu_activity.load(std::memory_order_acquire)); }

// Leaves the states in which CUPTI is open for us. False: the state was none of them.
bool detach_to(GpuActivity next) {
  GpuActivity state = g_gpu_activity.load(std::memory_order_seq_cst);
  while (is_attached(state)) {
    if (g_gpu_activity.compare_exchange_weak(state, next, std::memory_order_acq_rel)) return true;
  }
  return false;
}

// As detach_to(). A burst that runs or is being drained is drained by the flush that follows.
bool detach_to_finish() {
  const bool in_burst = g_gpu_activity.load(std::memory_order_acquire) == GpuActivity::Burst;
  if (!detach_to(GpuActivity::Finished)) return false;
  if (in_burst) gpu_burst_ends_with_recording();
  return true;
}

// Finds and opens CUPTI, unless it is open. Another profiler's first call may have opened it before the first launch.
// Returns the reason if it cannot be opened.
struct CannotOpen {
  std::string_view what, why;
};
std::optional<CannotOpen> open_cupti(int driver_version) {
  // The program itself contains a profiler, which would fail beside us. With PROF_CUPTI, CUPTI is opened all the same.
  if (const char* object;
      !cupti_front_open() && options().cupti[0] == 0 && (object = object_with_own_cupti()) != nullptr)
    return CannotOpen{may_tell(option::About::Paths) ? object : "the program or a library of it",
                      ": a CUPTI of its own is linked into it, and two cannot share a process"};
  if (!cupti_front_open() && !open_cupti_front(options().cupti, driver_version, read_cupti_buffer))
    return CannotOpen{g_cupti.reason, {}};
  if (cupti_major(g_cupti.version) <= static_cast<uint32_t>(driver_version / 1000)) return {};
  return CannotOpen{g_cupti.path, ": a newer CUDA than the driver's"};
}

// Ends the state Taking. If the recording ended meanwhile, it found nothing to stop, so this thread stops GPU activity.
// If the next recording has started, that one takes CUPTI again. (Dekker: the recording ends first and then reads the
// state, all sequentially consistent.)
void reach(GpuActivity reached) {
  GpuActivity taking = GpuActivity::Taking;
  if (reached == GpuActivity::On) open_wait_flushes();
  if (!g_gpu_activity.compare_exchange_strong(taking, reached)) return close_wait_flushes();
  if (g_window.load() != static_cast<uint32_t>(Window::Open)) stop_gpu_activity();
}

GpuActivity collect() {
  if (const std::string_view reason = enable_cupti_kinds(); !reason.empty()) {
    report_refusal(reason);
    return GpuActivity::Off;
  }
  define_meta("graphs", enable_cupti_graphs());
  enable_unified_memory();
  define_meta("gpu_correlation", enable_cupti_calls());
  define_meta("gpu_times", "on");
  explain("GPU times by ", g_cupti.path, ", found ", g_cupti.how);
  return GpuActivity::On;
}

GpuActivity take() {
  const int driver_version = define_devices();
  if (!options().gpu) {
    define_meta("gpu_times", "off");
    static std::atomic<bool> said{false};
    if (drop_counters("PROF_GPU=off")) say(said, "no hardware counters: PROF_GPU=off");
    drop_hardware_sampling("PROF_GPU=off");
    return GpuActivity::Off;
  }
  if (driver_version == 0) {
    report_no_gpu_times("the driver does not tell its version");
    return GpuActivity::Off;
  }
  const OwnCalls own;
  if (const auto reason = open_cupti(driver_version); reason.has_value()) {
    report_no_gpu_times(reason->what, reason->why);
    return GpuActivity::Off;
  }
  define_meta("cupti_path", g_cupti.path);
  define_meta("cupti_found", g_cupti.how);
  define_meta("cupti_version", Decimal(g_cupti.version).text());
  if (hardware_counters_on()) {
    drop_hardware_sampling("PROF_COUNTERS measures launches by the same hardware");
    show_driver_calls();  // in case there are no counters after all
    return GpuActivity::Off;
  }
  if (!budget_on()) return collect();
  show_driver_calls();
  define_meta("gpu_times", "in bursts");
  expect_gpu_bursts();
  return GpuActivity::Resting;
}

}  // namespace

void take_gpu_activity_slow(bool pass) {
  const ThreadScope scope;
  if (!scope.recording()) return;  // the next launch tries again
  GpuActivity cold = GpuActivity::Cold;
  if (!g_gpu_activity.compare_exchange_strong(cold, GpuActivity::Taking, std::memory_order_acq_rel)) return;
  if (pass && !hardware_sampling_awaited())
    pass_gpu_activity();  // else each launch calls: counted, repeated, measured, or the first that is sampled
  const int saved = errno;
  const uint64_t begin = now_ticks();
  {
    const DriverCall call;
    const KeepCuptiError keep;
    reach(take());
  }
  // The driver and CUPTI have exit handlers by now, which must run after ours: a driver that has ended does not answer
  // which contexts failed, and the exit would wait for records that cannot come.
  static std::atomic<bool> registered{false};
  if (!registered.exchange(true)) register_exit_handlers();
  if (budget_on()) budget_spend_cupti_open(now_ticks() - begin);
  errno = saved;
}

void refuse_gpu_activity(std::string_view reason) {
  report_refusal(reason);
  detach_to(GpuActivity::Off);
}

void arm_gpu_activity() {
  if (!options().gpu) return;
  const CuptiCall call;
  const KeepCuptiError keep;
  if (open_cupti(read_driver_version()).has_value()) return;  // reported when the recording starts, if it is still so
  show_driver_calls();
}

void collect_gpu_activity_after_all() {
  GpuActivity off = GpuActivity::Off;
  if (!g_gpu_activity.compare_exchange_strong(off, GpuActivity::Taking, std::memory_order_acq_rel)) return;
  const KeepCuptiError keep;
  reach(collect());
  if (options().launches == 0) pass_gpu_activity();
}

bool launch_before_gpu_times(GpuActivity state) {
  if (state != GpuActivity::Resting) count(format::LossCounter::launches_before_gpu_times);
  return false;
}

namespace {

std::atomic<bool> g_pc_samples_load{false};

// A flush while the program's own range profiler replays a kernel never returned, and neither did the program's call
// (4 of 6 runs of CUPTI's sample auto_range_profiling on an H200, CUDA 13.0). Range profilers evaluate their counters
// with this library; programs without one do not load it.
bool program_has_range_profiler() {
  static std::atomic<bool> found{false};
  if (found.load(std::memory_order_relaxed)) return true;
  const auto ignore = [](void*, const char*, void*) {};
  if (options().counters.any() || options().sampling.any() || g_pc_samples_load.load(std::memory_order_relaxed))
    return false;  // it may be there for the recorder
  if (visit_exports("libnvperf_host.so", ignore, nullptr) == 0) return false;
  if (!found.exchange(true))
    explain("the program has a range profiler: GPU records are collected at the end, not every PROF_FLUSH");
  return true;
}

}  // namespace

void pc_samples_load_range_profiler(bool they_do) { g_pc_samples_load.store(they_do, std::memory_order_relaxed); }

void flush_gpu_activity() {
  if (!attached() || program_has_range_profiler()) return;
  const OwnCalls own;
  g_cupti.api.cuptiActivityFlushAll(0);
  count_cupti_dropped();
  store_gpu_pending();
}

void finish_gpu_activity() {
  if (!detach_to_finish()) return;
  const OwnCalls own;
  note_launched();
  flush_within(last_flush, options().exit_wait);
}

void stop_gpu_activity() {
  if (!detach_to_finish()) return;
  const OwnCalls own;
  note_launched();
  flush_within(flush_of_part, options().exit_wait);
}

void restart_gpu_activity() {
  reset_gpu_bursts();
  close_wait_flushes();
  g_gpu_activity.store(GpuActivity::Cold, std::memory_order_release);
  await_launches();
}

void abandon_gpu_activity() {
  reset_gpu_bursts();
  close_wait_flushes();
  abandon_cupti_kinds();
  g_said.store(false, std::memory_order_relaxed);
  reset_cupti_clients();
  abandon_cupti_front();
  if (g_gpu_activity.load(std::memory_order_relaxed) == GpuActivity::Cold) return;  // the parent had not opened CUPTI
  g_gpu_activity.store(GpuActivity::Off, std::memory_order_relaxed);
}

}  // namespace prof::preload
