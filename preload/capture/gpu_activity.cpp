#include "preload/capture/gpu_activity.h"

#include "preload/capture/bounded_flush.h"
#include "preload/capture/clock.h"
#include "preload/capture/cupti_buffers.h"
#include "preload/capture/cupti_library.h"
#include "preload/capture/cupti_records.h"
#include "preload/capture/decimal.h"
#include "preload/capture/devices.h"
#include "preload/capture/streams.h"
#include "preload/intercept/driver.h"
#include "preload/log/log_file.h"
#include "preload/runtime/options.h"
#include "preload/runtime/recorder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace prof::preload {

uint32_t g_gpu_activity_tried = 0;
std::atomic<GpuActivity> g_gpu_activity{GpuActivity::Cold};
std::atomic<bool> g_external_ids{false};
std::atomic<bool> g_whole_graphs{false};

namespace {

std::atomic<const char*> g_taken_by{nullptr};  // the function by which another tool took CUPTI over, whenever that was
CuptiLibrary g_library;                        // set while Taking, constant from then on
CuptiBuffers g_buffers;
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

void count_dropped() {
  if (g_library.api.cuptiActivityGetNumDroppedRecords == nullptr) return;
  size_t dropped = 0;
  if (g_library.api.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS && dropped != 0) {
    count(format::Counter::cupti_dropped, dropped);
  }
}

// On a program thread, inside its launch.
void CUPTIAPI buffer_requested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *max_records = 0;
  *size = 0;
  *buffer = g_buffers.take(*size);
  if (*buffer == nullptr) count(format::Counter::cupti_buffers_exhausted);
}

// On CUPTI's thread, or on one of ours that flushes.
void CUPTIAPI buffer_completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  void* const scratch = g_buffers.scratch(buffer);
  if (scratch == nullptr) return;
  const int saved = errno;
  ThreadLocal& local = t_local;
  const uint16_t helper = local.helper;
  if (valid_bytes != 0) {
    local.helper = 0;  // our own threads' records are welcome here
    const EventScope scope;
    local.helper = static_cast<uint16_t>(helper + 1);  // and hooks pass through
    if (scope.recording()) read_cupti_buffer(g_library.api, g_library.version, buffer, valid_bytes, scratch);
  }
  g_buffers.give_back(buffer, valid_bytes);
  count_dropped();
  local.helper = helper;
  errno = saved;
}

std::string_view result_name(CUptiResult result) {
  const char* text = nullptr;
  if (g_library.api.cuptiGetResultString != nullptr &&
      g_library.api.cuptiGetResultString(result, &text) == CUPTI_SUCCESS && text != nullptr) {
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
  say(g_said, "no GPU times: ", {reason, size}, "; the host side is recorded");
}

void disable_all() {
  for (const Kind& kind : kKinds) g_library.api.cuptiActivityDisable(kind.kind);
  if (g_whole_graphs.exchange(false)) g_library.api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  if (g_external_ids.exchange(false)) g_library.api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  if (g_library.api.cuptiActivityEnableDriverApi == nullptr) return;
  for (uint32_t i = 0; i < launching_driver_calls().count; ++i) {
    const uint32_t cbid = launching_driver_calls().data[i].cbid;
    if (driver_call_known(g_library.version, cbid)) g_library.api.cuptiActivityEnableDriverApi(cbid, 0);
  }
}

// By which records CUPTI tells what call an operation came from.
const char* enable_calls() {
  const Cupti& api = g_library.api;
  bool named = api.cuptiActivityEnableDriverApi != nullptr &&
               api.cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1) == CUPTI_SUCCESS;
  if (named) {
    for (uint32_t i = 0; i < launching_driver_calls().count; ++i) {
      const uint32_t cbid = launching_driver_calls().data[i].cbid;
      if (driver_call_known(g_library.version, cbid)) api.cuptiActivityEnableDriverApi(cbid, 1);
    }
    return "driver calls";
  }
  if (api.cuptiActivityPushExternalCorrelationId != nullptr && api.cuptiActivityPopExternalCorrelationId != nullptr &&
      api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) == CUPTI_SUCCESS) {
    g_external_ids.store(true, std::memory_order_release);
    return "external ids";
  }
  return "none";
}

// "whole" where asked for and possible: CUPTI then leaves out the records of a graph's nodes.
const char* enable_graphs() {
  if (std::strcmp(options().graphs, "whole") != 0) return "nodes";
  const CUptiResult result = g_library.api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  g_whole_graphs.store(result == CUPTI_SUCCESS, std::memory_order_relaxed);
  if (result == CUPTI_SUCCESS) return "whole";
  static std::atomic<bool> said{false};
  say(said, "CUPTI cannot time whole graphs (", result_name(result), "); each node is timed");
  return "nodes: whole graphs were refused";
}

bool enable_all() {
  const Cupti& api = g_library.api;
  // Once a process: registered twice it corrupts records. Before any kind is enabled, so that all times are of our clock.
  CUptiResult result = api.cuptiActivityRegisterTimestampCallback(gpu_clock_ns);
  if (result != CUPTI_SUCCESS) {
    give_up(g_library.path, ": cuptiActivityRegisterTimestampCallback: ", result_name(result));
    return false;
  }
  if (api.cuptiSetThreadIdType != nullptr) api.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (api.cuptiActivitySetAttribute != nullptr) {
    uint8_t zeroed = 1;  // our buffers come zeroed; else CUPTI does it inside the program's launches
    size_t size = sizeof zeroed;
    api.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
  }
  result = api.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
  if (result != CUPTI_SUCCESS) {
    give_up(g_library.path, ": cuptiActivityRegisterCallbacks: ", result_name(result));
    return false;
  }
  for (const Kind& kind : kKinds) {
    result = api.cuptiActivityEnable(kind.kind);
    if (result == CUPTI_SUCCESS || !kind.needed) continue;
    give_up(g_library.path, ": cuptiActivityEnable: ", result_name(result));
    disable_all();
    return false;
  }
  return true;
}

// The end of GPU times, decided by whoever moved the state away from On.
void tell_taken_away(const char* function) {
  count(format::Counter::cupti_taken_away);
  define_meta("gpu_times_end", function);
  say(g_said, "another tool took CUPTI over (", function, "): GPU times end here");
}

GpuActivity take() {
  const int driver_version = define_devices();
  if (std::strcmp(options().gpu, "off") == 0) {
    define_meta("gpu_times", "off");
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
  if (!find_cupti(options().cupti, driver_version, g_library)) {
    give_up(g_library.reason);
    return GpuActivity::Off;
  }
  define_meta("cupti_path", g_library.path);
  define_meta("cupti_found", g_library.how);
  define_meta("cupti_version", Decimal(g_library.version).text());
  if (!g_buffers.open()) {
    give_up("no memory for buffers");
    return GpuActivity::Off;
  }
  if (!enable_all()) return GpuActivity::Off;
  define_meta("graphs", enable_graphs());
  define_meta("gpu_correlation", enable_calls());
  define_meta("gpu_times", "on");
  return GpuActivity::On;
}

void store_pending() {
  format::CounterPage* const page = g_log.counters();
  if (page != nullptr) std::atomic_ref(page->gpu_pending).store(outstanding().unreported, std::memory_order_relaxed);
}

// After the forced flush: buffers that CUPTI still hands over, as long as they keep coming. Not until all records are there:
// some operations never get one (a copy from host to host), and CUPTI may keep an empty buffer for ever.
void await_late_buffers(uint64_t stop_ns) {
  constexpr uint64_t kPatienceNs = 300'000'000;
  uint64_t missing = outstanding().unreported;
  uint64_t give_up_ns = monotonic_ns() + kPatienceNs;
  while (missing != 0 && !g_buffers.all_free() && monotonic_ns() < std::min(stop_ns, give_up_ns)) {
    sleep_ns(2'000'000);
    const uint64_t now_missing = outstanding().unreported;
    if (now_missing != missing) give_up_ns = monotonic_ns() + kPatienceNs;
    missing = now_missing;
  }
}

// Collects until the GPU has finished what the program launched, as far as anything tells, then takes what there is.
void last_flush(uint64_t stop_ns) {
  const Cupti& api = g_library.api;
  api.cuptiActivityFlushAll(0);
  while (outstanding().unfinished != 0 && monotonic_ns() < stop_ns) {
    sleep_ns(2'000'000);
    api.cuptiActivityFlushAll(0);
  }
  api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  await_late_buffers(stop_ns);
  count_dropped();
  store_pending();
}

// The other tool's call waits for this: what is complete now and no more.
void parting_flush(uint64_t) {
  g_library.api.cuptiActivityFlushAll(0);
  count_dropped();
  store_pending();
  disable_all();
}

void flush_within(void (*work)(uint64_t), uint64_t wait_ns) {
  static std::atomic<bool> said{false};
  if (run_bounded(work, wait_ns) == FlushOutcome::Done) return;
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
  __atomic_store_n(&g_gpu_activity_tried, 1u, __ATOMIC_RELAXED);
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

void count_launch_before_gpu_times() { count(format::Counter::launches_before_gpu_times); }

void push_external_id(uint64_t begin_tick) {
  const OwnCalls own;
  g_library.api.cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, begin_tick);
}

void pop_external_id() {
  const OwnCalls own;
  uint64_t popped = 0;
  g_library.api.cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &popped);
}

void flush_gpu_activity(bool force) {
  if (g_gpu_activity.load(std::memory_order_acquire) != GpuActivity::On) return;
  const OwnCalls own;
  g_library.api.cuptiActivityFlushAll(force ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
  count_dropped();
  store_pending();
  static std::atomic<bool> counted{false};
  if (loaded_cuptis() > 1 && !counted.exchange(true)) count(format::Counter::second_cupti);
}

void finish_gpu_activity() {
  GpuActivity on = GpuActivity::On;
  if (!g_gpu_activity.compare_exchange_strong(on, GpuActivity::Finished, std::memory_order_acq_rel)) return;
  const OwnCalls own;
  flush_within(last_flush, options().exit_wait);
}

void gpu_activity_taken_away(const char* function) {
  g_taken_by.store(function, std::memory_order_release);
  GpuActivity on = GpuActivity::On;
  if (!g_gpu_activity.compare_exchange_strong(on, GpuActivity::TakenAway, std::memory_order_acq_rel)) return;
  const EventScope scope;
  const OwnCalls own;
  flush_within(parting_flush, options().exit_wait);
  if (scope.recording()) tell_taken_away(function);
}

void forget_gpu_activity() {
  g_external_ids.store(false, std::memory_order_relaxed);
  g_whole_graphs.store(false, std::memory_order_relaxed);
  g_said.store(false, std::memory_order_relaxed);
  if (g_gpu_activity.load(std::memory_order_relaxed) == GpuActivity::Cold) return;  // the parent had not come that far
  g_gpu_activity.store(GpuActivity::Off, std::memory_order_relaxed);
  g_buffers.forget();
}

const Cupti* cupti_in_use() {
  return g_gpu_activity.load(std::memory_order_acquire) == GpuActivity::On ? &g_library.api : nullptr;
}

}  // namespace prof::preload
