#include "preload/capture/gpu_activity.h"

#include "preload/capture/bounded_flush.h"
#include "preload/capture/clock.h"
#include "preload/capture/counters.h"
#include "preload/capture/cupti_client.h"
#include "preload/capture/cupti_front.h"
#include "preload/capture/cupti_records.h"
#include "preload/capture/decimal.h"
#include "preload/capture/devices.h"
#include "preload/capture/streams.h"
#include "preload/intercept/driver.h"
#include "preload/log/log_file.h"
#include "preload/runtime/budget.h"
#include "preload/runtime/explain.h"
#include "preload/runtime/options.h"
#include "preload/runtime/recorder.h"
#include "preload/runtime/repeats.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace prof::preload {

uint32_t g_gpu_activity_tried = 0;
std::atomic<GpuActivity> g_gpu_activity{GpuActivity::Cold};
std::atomic<uint32_t> g_around_launches{0};
std::atomic<bool> g_whole_graphs{false};

namespace {

std::atomic<const char*> g_taken_by{nullptr};  // the function by which another tool took CUPTI over, whenever that was
std::atomic<bool> g_runtime_calls{false};      // collected, because another profiler came
std::atomic<bool> g_unified_memory{false};
std::atomic<bool> g_said{false};

struct Kind {
  CUpti_ActivityKind kind;
  const char* name;
  bool needed;
};
constexpr Kind kKinds[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "CONCURRENT_KERNEL", true},
    {CUPTI_ACTIVITY_KIND_MEMCPY, "MEMCPY", true},
    {CUPTI_ACTIVITY_KIND_MEMSET, "MEMSET", true},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, "MEMCPY2", false},
};

std::string_view result_name(CUptiResult result) {
  const char* text = nullptr;
  if (g_cupti.api.cuptiGetResultString != nullptr && g_cupti.api.cuptiGetResultString(result, &text) == CUPTI_SUCCESS &&
      text != nullptr) {
    return text;
  }
  return "an error";
}

void give_up(std::string_view a, std::string_view b = {}, std::string_view c = {}) {
  char reason[kPathBytes];
  size_t size = 0;
  for (const std::string_view part : {a, b, c}) {
    const size_t n = part.size() < sizeof reason - size ? part.size() : sizeof reason - size;
    if (n != 0) std::memcpy(reason + size, part.data(), n);
    size += n;
  }
  count(format::Counter::cupti_unavailable);
  define_meta("gpu_times", {reason, size});
  const bool counters = drop_counters({reason, size});
  say(g_said, counters ? "no hardware counters and no GPU times: " : "no GPU times: ", {reason, size},
      "; the host side is recorded");
}

bool is_collecting(GpuActivity state) { return state == GpuActivity::On || state == GpuActivity::Burst; }
bool is_attached(GpuActivity state) { return is_collecting(state) || state == GpuActivity::Resting; }
bool collecting() { return is_collecting(g_gpu_activity.load(std::memory_order_acquire)); }
bool attached() { return is_attached(g_gpu_activity.load(std::memory_order_acquire)); }

// False: there is nothing to leave.
bool leave_for(GpuActivity next) {
  GpuActivity state = g_gpu_activity.load(std::memory_order_acquire);
  while (is_attached(state)) {
    if (g_gpu_activity.compare_exchange_weak(state, next, std::memory_order_acq_rel)) return true;
  }
  return false;
}

std::atomic<uint64_t> g_bursts_miss{0};       // operations of bursts that were over before CUPTI had reported them
std::atomic<uint64_t> g_burst_begin_tick{0};  // everything had been turned on
std::atomic<bool> g_draining{false};          // a burst is over, CUPTI still collects
std::atomic<bool> g_drain_noted{false};
std::atomic<bool> g_bursts_described{false};
bool in_bursts() { return (around_launches() & kBursts) != 0; }  // PROF_BUDGET governs this life
bool external_ids() { return (around_launches() & kExternalIds) != 0; }
void forget_bursts() {
  g_around_launches.fetch_and(~uint32_t{kBursts}, std::memory_order_relaxed);
  for (std::atomic<bool>* const flag : {&g_bursts_described, &g_draining, &g_drain_noted})
    flag->store(false, std::memory_order_relaxed);
  g_bursts_miss.store(0, std::memory_order_relaxed);
}

// Nobody awaits the records of what is launched between bursts.
uint64_t awaited(uint64_t unreported) {
  if (!in_bursts()) return unreported;
  const bool in_burst = g_draining.load(std::memory_order_relaxed) ||
                        g_gpu_activity.load(std::memory_order_relaxed) == GpuActivity::Burst;
  return g_bursts_miss.load(std::memory_order_relaxed) + (in_burst ? unreported : 0);
}

// The same, and a burst that is under way or being drained is drained by the flush that follows.
bool leave_for_end(GpuActivity next) {
  const bool in_burst = g_gpu_activity.load(std::memory_order_acquire) == GpuActivity::Burst;
  if (!leave_for(next)) return false;
  if (in_burst) g_draining.store(true, std::memory_order_relaxed);
  return true;
}

// What another profiler uses stays on.
void disable_all() {
  const auto disable = [](CUpti_ActivityKind kind) {
    if (!cupti_client_uses(kind)) g_cupti.api.cuptiActivityDisable(kind);
  };
  for (const Kind& kind : kKinds) disable(kind.kind);
  if (g_whole_graphs.exchange(false)) disable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  if (g_unified_memory.exchange(false)) disable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  if ((g_around_launches.fetch_and(~uint32_t{kExternalIds}) & kExternalIds) != 0)
    disable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  if (g_runtime_calls.exchange(false)) disable(CUPTI_ACTIVITY_KIND_RUNTIME);
  if (cupti_client_uses(CUPTI_ACTIVITY_KIND_DRIVER)) return;
  if (g_cupti.api.cuptiActivityEnableDriverApi == nullptr) return;
  for (uint32_t i = 0; i < launching_driver_calls().count; ++i) {
    const uint32_t cbid = launching_driver_calls().data[i].cbid;
    if (driver_call_known(g_cupti.version, cbid)) g_cupti.api.cuptiActivityEnableDriverApi(cbid, 0);
  }
}

bool enable_driver_calls() {
  const Cupti& api = g_cupti.api;
  if (api.cuptiActivityEnableDriverApi == nullptr ||
      api.cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1) != CUPTI_SUCCESS) {
    return false;
  }
  for (uint32_t i = 0; i < launching_driver_calls().count; ++i) {
    const uint32_t cbid = launching_driver_calls().data[i].cbid;
    if (driver_call_known(g_cupti.version, cbid)) api.cuptiActivityEnableDriverApi(cbid, 1);
  }
  return true;
}

// By which records CUPTI tells what call an operation came from.
const char* enable_calls() {
  if (enable_driver_calls()) return "driver calls";
  const Cupti& api = g_cupti.api;
  if (api.cuptiActivityPushExternalCorrelationId != nullptr && api.cuptiActivityPopExternalCorrelationId != nullptr &&
      api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) == CUPTI_SUCCESS) {
    g_around_launches.fetch_or(kExternalIds, std::memory_order_release);
    return "external ids";
  }
  return "none";
}

// "whole" where asked for and possible: CUPTI then leaves out the records of a graph's nodes.
const char* enable_graphs() {
  if (std::strcmp(options().graphs, "whole") != 0) return "nodes";
  const CUptiResult result = g_cupti.api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  g_whole_graphs.store(result == CUPTI_SUCCESS, std::memory_order_relaxed);
  if (result == CUPTI_SUCCESS) return "whole";
  static std::atomic<bool> said{false};
  say(said, "CUPTI cannot time whole graphs (", result_name(result), "); each node is timed");
  return "nodes: whole graphs were refused";
}

// "on" where asked for and possible.
void enable_unified_memory() {
  if (std::strcmp(options().unified, "on") != 0) return;
  constexpr uint32_t kMostDevices = 16, kCounters = 8;  // CUPTI's kinds are 1 to 8
  CUpti_ActivityUnifiedMemoryCounterConfig wanted[kMostDevices * kCounters] = {};
  const Cupti& api = g_cupti.api;
  int devices = 0;
  if (g_driver.cuDeviceGetCount == nullptr || g_driver.cuDeviceGetCount(&devices) != CUDA_SUCCESS) devices = 0;
  uint32_t count = 0;
  for (uint32_t device = 0; device < std::min(kMostDevices, static_cast<uint32_t>(devices)); ++device) {
    for (uint32_t kind = 1; kind <= kCounters; ++kind) {
      wanted[count].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE;
      wanted[count].kind = static_cast<CUpti_ActivityUnifiedMemoryCounterKind>(kind);
      wanted[count].deviceId = device;
      wanted[count++].enable = 1;
    }
  }
  CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;
  if (api.cuptiActivityConfigureUnifiedMemoryCounter != nullptr)
    result = api.cuptiActivityConfigureUnifiedMemoryCounter(wanted, count);
  if (result == CUPTI_SUCCESS) result = api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  g_unified_memory.store(result == CUPTI_SUCCESS, std::memory_order_relaxed);
  define_meta("unified_memory", result == CUPTI_SUCCESS ? "on" : "refused");
  static std::atomic<bool> said{false};
  if (result != CUPTI_SUCCESS)
    say(said, "CUPTI cannot tell what happens to managed memory (", result_name(result), ")");
}

bool enable_all() {
  const Cupti& api = g_cupti.api;
  for (const Kind& kind : kKinds) {
    const CUptiResult result = api.cuptiActivityEnable(kind.kind);
    if (result == CUPTI_SUCCESS || !kind.needed) continue;
    give_up(g_cupti.path, ": cuptiActivityEnable: ", result_name(result));
    disable_all();
    return false;
  }
  return true;
}

// Finds and opens CUPTI, if nobody has. Another profiler's first call may have done so before the first launch did. The reason if not.
struct CannotOpen {
  std::string_view what, why;
};
std::optional<CannotOpen> open_cupti(int driver_version) {
  if (!cupti_front_open() && !open_cupti_front(options().cupti, driver_version)) return CannotOpen{g_cupti.reason, {}};
  if (cupti_major(g_cupti.version) <= static_cast<uint32_t>(driver_version / 1000)) return {};
  return CannotOpen{g_cupti.path, ": a newer CUDA than the driver's"};
}

// The end of GPU times, decided by whoever moved the state away from On.
void tell_taken_away(const char* function) {
  count(format::Counter::cupti_taken_away);
  define_meta("gpu_times_end", function);
  say(g_said, "the program uses a second libcupti (", function, "): GPU times end here");
}

GpuActivity collect() {
  if (!enable_all()) return GpuActivity::Off;
  define_meta("graphs", enable_graphs());
  enable_unified_memory();
  define_meta("gpu_correlation", enable_calls());
  define_meta("gpu_times", "on");
  explain("GPU times by ", g_cupti.path, ", found ", g_cupti.how);
  return GpuActivity::On;
}

// Some driver call is recorded while the first context is made, else none ever is; cuInit is over and costs a launch nothing.
void show_driver_calls() {
  if (g_cupti.api.cuptiActivityEnableDriverApi != nullptr)
    g_cupti.api.cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuInit, 1);
}

GpuActivity take() {
  const int driver_version = define_devices();
  if (std::strcmp(options().gpu, "off") == 0) {
    define_meta("gpu_times", "off");
    static std::atomic<bool> said{false};
    if (drop_counters("PROF_GPU=off")) say(said, "no hardware counters: PROF_GPU=off");
    return GpuActivity::Off;
  }
  if (const char* const function = g_taken_by.load(std::memory_order_acquire); function != nullptr) {
    give_up("another tool uses CUPTI (it called ", function, ")");
    return GpuActivity::Off;
  }
  if (driver_version == 0) {
    give_up("the driver does not tell its version");
    return GpuActivity::Off;
  }
  if (const auto reason = open_cupti(driver_version); reason.has_value()) {
    give_up(reason->what, reason->why);
    return GpuActivity::Off;
  }
  define_meta("cupti_path", g_cupti.path);
  define_meta("cupti_found", g_cupti.how);
  define_meta("cupti_version", Decimal(g_cupti.version).text());
  if (counters_on()) {
    show_driver_calls();  // should there be no counters after all
    return GpuActivity::Off;
  }
  if (!budget_on()) return collect();
  show_driver_calls();
  define_meta("gpu_times", "in bursts");
  g_around_launches.fetch_or(kBursts, std::memory_order_relaxed);
  return GpuActivity::Resting;
}

void store_pending() {
  format::CounterPage* const page = g_log.counters();
  if (page != nullptr)
    std::atomic_ref(page->gpu_pending).store(awaited(outstanding().unreported), std::memory_order_relaxed);
}

// After the forced flush: buffers that CUPTI still hands over, as long as they keep coming. Not until all records are there:
// some operations never get one (a copy from host to host), and CUPTI may keep an empty buffer for ever.
void await_late_buffers(uint64_t stop_ns) {
  constexpr uint64_t kPatienceNs = 300'000'000;
  uint64_t missing = awaited(outstanding_of_noted().unreported);
  uint64_t give_up_ns = monotonic_ns() + kPatienceNs;
  while (missing != 0 && !g_cupti_buffers.all_free() && monotonic_ns() < std::min(stop_ns, give_up_ns)) {
    sleep_ns(2'000'000);
    const uint64_t now_missing = awaited(outstanding_of_noted().unreported);
    if (now_missing != missing) give_up_ns = monotonic_ns() + kPatienceNs;
    missing = now_missing;
  }
}

// Collects until the GPU has finished what the program launched, as far as anything tells, then takes what there is.
void last_flush(uint64_t stop_ns) {
  const Cupti& api = g_cupti.api;
  api.cuptiActivityFlushAll(0);
  const auto awaits_any = [] {
    const Outstanding left = outstanding_of_noted();
    return left.unfinished != 0 && (!in_bursts() || awaited(left.unreported) != 0);
  };
  while (awaits_any() && monotonic_ns() < stop_ns) {
    sleep_ns(2'000'000);
    api.cuptiActivityFlushAll(0);
  }
  api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  await_late_buffers(stop_ns);
  count_cupti_dropped();
  store_pending();
}

// The other tool's call waits for this: what is complete now and no more.
void parting_flush(uint64_t) {
  g_cupti.api.cuptiActivityFlushAll(0);
  count_cupti_dropped();
  store_pending();
  disable_all();
}

void flush_within(void (*work)(uint64_t), uint64_t wait_ns) {
  static std::atomic<bool> said{false};
  if (run_bounded(work, wait_ns) == FlushOutcome::Done) {
    explain("GPU records collected, outstanding ", Decimal(outstanding().unreported).text());
    return;
  }
  count(format::Counter::cupti_flush_timeouts);
  store_pending();
  say(said, "CUPTI did not return from its last flush in time: GPU times of the last moments may be missing");
}

}  // namespace

void take_gpu_activity_slow() {
  const EventScope scope;
  if (!scope.recording()) return;  // asked again by the next launch
  GpuActivity cold = GpuActivity::Cold;
  if (!g_gpu_activity.compare_exchange_strong(cold, GpuActivity::Taking, std::memory_order_acq_rel)) return;
  if (options().launches == 0 && !repeats_awaited() && !counters_on())
    pass_gpu_activity();  // else each launch comes by: counted, repeated or measured
  const int saved = errno;
  {
    const DriverCall call;
    const GpuActivity reached = take();
    g_gpu_activity.store(reached, std::memory_order_release);
    // Another tool came meanwhile: it found the state Taking and left it to us.
    if (const char* const function = g_taken_by.load(std::memory_order_acquire); function != nullptr) {
      gpu_activity_taken_away(function);
    }
  }
  errno = saved;
}

void arm_gpu_activity() {
  if (std::strcmp(options().gpu, "off") == 0 || g_taken_by.load(std::memory_order_acquire) != nullptr) return;
  const DriverCall call;
  if (open_cupti(read_driver_version()).has_value()) return;  // said, if it is still so, where the recording begins
  show_driver_calls();
}

void collect_gpu_activity_after_all() {
  GpuActivity off = GpuActivity::Off;
  if (!g_gpu_activity.compare_exchange_strong(off, GpuActivity::Taking, std::memory_order_acq_rel)) return;
  g_gpu_activity.store(collect(), std::memory_order_release);
  if (options().launches == 0) pass_gpu_activity();
}

bool launch_before_gpu_times(GpuActivity state) {
  if (state != GpuActivity::Resting) count(format::Counter::launches_before_gpu_times);
  return false;
}

bool gpu_bursts_possible() {
  const GpuActivity state = g_gpu_activity.load(std::memory_order_acquire);
  return state == GpuActivity::Resting || state == GpuActivity::Burst;
}

// The calls first and last, so that no kernel's record lacks the one that names its launch.
bool begin_gpu_burst() {
  if (g_gpu_activity.load(std::memory_order_acquire) != GpuActivity::Resting) return false;
  const EventScope scope;
  const OwnCalls own;
  const char* const calls = enable_calls();
  const char* const graphs = enable_graphs();
  if (!enable_all()) {
    leave_for(GpuActivity::Off);
    return false;
  }
  give_up_unreported();
  g_burst_begin_tick.store(now_ticks(), std::memory_order_relaxed);
  GpuActivity resting = GpuActivity::Resting;
  if (!g_gpu_activity.compare_exchange_strong(resting, GpuActivity::Burst, std::memory_order_acq_rel)) {
    disable_all();
    return false;
  }
  if (!g_bursts_described.exchange(true) && scope.recording()) {
    define_meta("gpu_correlation", calls);
    define_meta("graphs", graphs);
  }
  return true;
}

// A launch counts itself before it asks: once some time has passed, every launch that the burst holds has been counted.
bool gpu_burst_holds(uint64_t begin_tick) {
  return g_gpu_activity.load(std::memory_order_acquire) == GpuActivity::Burst &&
         begin_tick >= g_burst_begin_tick.load(std::memory_order_relaxed);
}

void end_gpu_burst() {
  g_drain_noted.store(false, std::memory_order_relaxed);
  g_draining.store(true, std::memory_order_relaxed);
  GpuActivity burst = GpuActivity::Burst;
  if (!g_gpu_activity.compare_exchange_strong(burst, GpuActivity::Resting, std::memory_order_acq_rel)) {
    g_draining.store(false, std::memory_order_relaxed);
  }
}

// All is there when all of it is known to have finished. Completion marks tell that while a stream is used; of one that is not, the number of
// records does, which may count some of work from before the burst: hence not at once.
bool gpu_burst_drained(BurstDrain how) {
  if (!g_draining.load(std::memory_order_relaxed)) return true;
  const OwnCalls own;
  if (!g_drain_noted.exchange(true, std::memory_order_relaxed)) note_launched();
  g_cupti.api.cuptiActivityFlushAll(0);
  const Outstanding left = outstanding_of_noted();
  const bool reported = left.unreported == 0 && how != BurstDrain::Early;
  if (left.unfinished != 0 && !reported && how != BurstDrain::Late) return false;
  g_draining.store(false, std::memory_order_relaxed);
  if (g_gpu_activity.load(std::memory_order_acquire) == GpuActivity::Resting) disable_all();
  g_cupti.api.cuptiActivityFlushAll(0);
  g_bursts_miss.fetch_add(outstanding_of_noted().unreported, std::memory_order_relaxed);
  count_cupti_dropped();
  store_pending();
  return true;
}

void push_external_id(uint64_t begin_tick) {
  const OwnCalls own;
  g_cupti.api.cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, begin_tick);
}

void pop_external_id() {
  const OwnCalls own;
  uint64_t popped = 0;
  g_cupti.api.cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &popped);
}

void flush_gpu_activity(bool force) {
  if (!attached()) return;
  const OwnCalls own;
  g_cupti.api.cuptiActivityFlushAll(force ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
  count_cupti_dropped();
  store_pending();
  static std::atomic<bool> counted{false};
  if (loaded_cuptis() > 1 && !counted.exchange(true)) count(format::Counter::second_cupti);
}

void finish_gpu_activity() {
  if (!leave_for_end(GpuActivity::Finished)) return;
  const OwnCalls own;
  note_launched();
  flush_within(last_flush, options().exit_wait);
}

void end_gpu_activity() {
  if (!leave_for_end(GpuActivity::Finished)) return;
  const OwnCalls own;
  note_launched();
  flush_within(
      [](uint64_t stop_ns) {
        last_flush(stop_ns);
        // Else it took so long that another part of the run is being recorded.
        if (g_gpu_activity.load(std::memory_order_acquire) == GpuActivity::Finished) disable_all();
      },
      options().exit_wait);
}

void gpu_activity_taken_away(const char* function) {
  g_taken_by.store(function, std::memory_order_release);
  if (!leave_for_end(GpuActivity::TakenAway)) return;
  const EventScope scope;
  const OwnCalls own;
  flush_within(parting_flush, options().exit_wait);
  if (scope.recording()) tell_taken_away(function);
}

void restart_gpu_activity() {
  forget_bursts();
  g_gpu_activity.store(GpuActivity::Cold, std::memory_order_release);
  __atomic_store_n(&g_gpu_activity_tried, 0u, __ATOMIC_RELAXED);
}

void forget_gpu_activity() {
  forget_bursts();
  g_around_launches.store(0, std::memory_order_relaxed);
  g_whole_graphs.store(false, std::memory_order_relaxed);
  g_said.store(false, std::memory_order_relaxed);
  forget_cupti_client();
  abandon_cupti_front();
  if (g_gpu_activity.load(std::memory_order_relaxed) == GpuActivity::Cold) return;  // the parent had not come that far
  g_gpu_activity.store(GpuActivity::Off, std::memory_order_relaxed);
}

const Cupti* cupti_in_use() { return attached() ? &g_cupti.api : nullptr; }

bool gpu_activity_collects() {
  const GpuActivity state = g_gpu_activity.load(std::memory_order_acquire);
  return is_attached(state) || state == GpuActivity::TakenAway || state == GpuActivity::Finished;
}

bool gpu_activity_uses(CUpti_ActivityKind kind) {
  if (!collecting()) return false;
  for (const Kind& ours : kKinds) {
    if (ours.kind == kind) return true;
  }
  if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) return g_whole_graphs.load(std::memory_order_relaxed);
  return kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION && external_ids();
}

void gpu_activity_times_nodes() {
  if (!collecting() || !g_whole_graphs.exchange(false)) return;
  {
    const OwnCalls own;
    if (!cupti_client_uses(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) {
      g_cupti.api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    }
  }
  const EventScope scope;
  if (scope.recording()) define_meta("graphs", "nodes: another profiler in the program collects kernels");
}

bool gpu_activity_uses_driver_call(uint32_t cbid) {
  return collecting() && !external_ids() && is_launching_driver_call(cbid);
}

bool gpu_activity_uses_runtime_call(uint32_t cbid) {
  return collecting() && g_runtime_calls.load(std::memory_order_relaxed) && is_launching_runtime_call(cbid);
}

void gpu_activity_meets_runtime_calls() { g_runtime_calls.store(true, std::memory_order_relaxed); }

bool gpu_activity_keeps_calls(CUpti_ActivityKind kind) {
  if (!collecting()) return false;
  const Cupti& api = g_cupti.api;
  const bool driver = kind == CUPTI_ACTIVITY_KIND_DRIVER;
  if (driver ? external_ids() : !g_runtime_calls.load(std::memory_order_relaxed)) return false;
  const auto set = driver ? api.cuptiActivityEnableDriverApi : api.cuptiActivityEnableRuntimeApi;
  if (set == nullptr) return false;
  const OwnCalls own;
  const bool known = g_cupti.version >= CUPTI_API_VERSION;  // ids are only ever appended; those of CUDA 11.8 all have
  const uint32_t driver_end = known ? +CUPTI_DRIVER_TRACE_CBID_SIZE : +CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx;
  const uint32_t runtime_end =
      known ? +CUPTI_RUNTIME_TRACE_CBID_SIZE : +CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060;
  const uint32_t end = driver ? driver_end : runtime_end;
  for (uint32_t cbid = 1; cbid < end; ++cbid) {
    if (!(driver ? is_launching_driver_call(cbid) : is_launching_runtime_call(cbid))) set(cbid, 0);
  }
  return true;
}

}  // namespace prof::preload
