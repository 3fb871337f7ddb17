// The slow path of every driver call. See api_call.h.
#include "tests/sim/api_call.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "tests/sim/device.h"
#include "tests/sim/script.h"

namespace sim {

std::atomic<bool> g_plain{false};
thread_local bool tl_per_thread_stream = false;

namespace {

struct CallRule {
  Ns cost = 0;
  std::vector<Fault> faults;
  std::atomic<uint64_t> calls{0};
};

std::atomic<ActivitySink*> g_sink{nullptr};
std::atomic<uint32_t> g_next_correlation{1};
std::atomic<bool> g_used{false};
std::atomic<bool> g_shows_calls{false};
std::atomic<CUresult> g_lost{CUDA_SUCCESS};  // the result of every call once the process has no driver any more
thread_local uint32_t tl_correlation = 0;
thread_local RuntimeCall* tl_runtime = nullptr;
thread_local const char* tl_symbol = nullptr;

void lose_driver(CUresult result) {
  g_lost.store(result);
  g_plain.store(false);
}

CallRule* rules() {
  static CallRule* const all = [] {
    CallRule* made = new CallRule[kApiCount];
    for (unsigned i = 0; i < kApiCount; ++i) {
      const auto cost = script().api_costs.find(kApiTable[i].name);
      made[i].cost = cost == script().api_costs.end() ? script().api_cost : cost->second;
      const auto fault = script().faults.find(kApiTable[i].name);
      if (fault != script().faults.end()) made[i].faults = fault->second;
    }
    // A child of a process that used the device has no device: the real driver returns NOT_INITIALIZED for ever. CUPTI
    // does not observe the child's calls.
    pthread_atfork(nullptr, nullptr, [] {
      g_sink.store(nullptr);
      if (g_used.load()) lose_driver(CUDA_ERROR_NOT_INITIALIZED);
    });
    // The driver registers its exit handler in the first call. After it, calls are refused, but the device still works,
    // and CUPTI still delivers (an H100, driver 580.159).
    std::atexit([] { lose_driver(CUDA_ERROR_DEINITIALIZED); });
    return made;
  }();
  return all;
}

// Whether the call returns the error that a kernel left. Calls that use no context do not.
bool returns_device_error(const ApiInfo& info) {
  const std::string_view name = info.base;
  for (const std::string_view free :
       {"cuInit", "cuDriver", "cuGet", "cuDeviceGet", "cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent",
        "cuCtxSetCurrent", "cuThread", "cuProfiler"}) {
    if (name.starts_with(free)) return false;
  }
  return true;
}

bool has_asserting_kernel(const Script& told) {
  return told.default_kernel.asserts ||
         std::any_of(told.kernels.begin(), told.kernels.end(), [](const auto& row) { return row.second.asserts; });
}

void update_plain() {
  const Script& told = script();
  g_plain.store(clock_is_real() && !told.timed && !has_asserting_kernel(told) && told.faults.empty() &&
                told.sets_errno == 0 && g_sink.load() == nullptr && g_lost.load() == CUDA_SUCCESS);
}

Ns half(Ns cost) { return cost / 2; }

}  // namespace

uint32_t new_correlation() { return g_next_correlation.fetch_add(1); }
uint32_t next_correlation() { return g_next_correlation.load(); }
uint32_t current_correlation() { return tl_correlation; }
void set_call_symbol(const char* kernel_name) { tl_symbol = kernel_name; }
ActivitySink* activity_sink() { return g_sink.load(std::memory_order_acquire); }

CUresult unsupported(ApiId id) {
  ApiScope scope(id, nullptr);
  return scope.leave(scope.refused() ? scope.fault() : CUDA_ERROR_NOT_SUPPORTED);
}

ApiScope::ApiScope(ApiId id, const void* params) : id_(id) {
  CallRule& rule = rules()[static_cast<unsigned>(id)];
  if (const CUresult lost = g_lost.load(std::memory_order_relaxed); lost != CUDA_SUCCESS) {
    refused_ = true;
    fault_ = lost;
    return;
  }
  if (!g_used.load(std::memory_order_relaxed)) {
    g_used.store(true);
    update_plain();
  }
  const uint64_t call = rule.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  for (const Fault& fault : rule.faults) {
    if (call >= fault.first && call <= fault.last) {
      refused_ = true;
      fault_ = static_cast<CUresult>(fault.result);
    }
  }
  outer_correlation_ = tl_correlation;
  // A driver call inside a runtime call shares the runtime call's correlation id.
  tl_correlation = tl_runtime != nullptr ? tl_runtime->event.correlation
                                         : g_next_correlation.fetch_add(1, std::memory_order_relaxed);
  tl_symbol = nullptr;
  sink_ = activity_sink();
  event_.begin = now_ns();
  if (sink_ != nullptr) {
    const ApiInfo& info = kApiTable[static_cast<unsigned>(id)];
    event_.domain = ApiDomain::Driver;
    event_.cbid = info.cbid;
    event_.name = info.base;
    event_.params = params;
    event_.correlation = tl_correlation;
    event_.context = current_context_handle();
    event_.context_id = current_context_id();
    event_.inside_runtime = tl_runtime != nullptr;
    sink_->api_enter(event_);
    tl_correlation = event_.correlation;
  }
  // The call takes effect in its middle: operations that it submits start later, and values that it reads are of that
  // time.
  advance_ns(half(rule.cost));
  settle_device();
  if (device_error() != CUDA_SUCCESS && !refused_ && returns_device_error(kApiTable[static_cast<unsigned>(id)])) {
    refused_ = true;
    fault_ = device_error();
  }
}

CUresult ApiScope::leave(CUresult result) {
  if (g_lost.load(std::memory_order_relaxed) != CUDA_SUCCESS) return result;
  if (result == CUDA_SUCCESS && device_error() != CUDA_SUCCESS &&
      returns_device_error(kApiTable[static_cast<unsigned>(id_)]))
    result = device_error();
  const Ns cost = rules()[static_cast<unsigned>(id_)].cost;
  advance_ns(cost - half(cost));
  if (sink_ != nullptr && sink_ == activity_sink()) {
    event_.end = now_ns();
    event_.result = result;
    event_.symbol = tl_symbol;
    event_.context = current_context_handle();
    event_.context_id = current_context_id();
    sink_->api_exit(event_);
  }
  tl_correlation = outer_correlation_;
  if (script().sets_errno != 0)
    errno = script().sets_errno + static_cast<int>(kApiTable[static_cast<unsigned>(id_)].cbid);
  return result;
}

Ns rest_of_call_ns() {
  // From the middle of a call to its end; operations start after it unless the script sets `early_start`.
  return script().early_start ? 0 : script().api_cost - half(script().api_cost);
}

bool attach_sink(ActivitySink* sink) {
  static std::atomic<ActivitySink*> first{nullptr};
  ActivitySink* none = nullptr;
  if (sink == nullptr) {
    g_shows_calls.store(false);
  } else if (!first.compare_exchange_strong(none, sink) && none != sink) {
    return false;
  }
  g_sink.store(sink, std::memory_order_release);
  rules();
  update_plain();
  return true;
}

// As observed with CUDA 13: driver calls are recorded for ever if CUPTI wanted some when the first context was made,
// otherwise never, and never again after CUPTI was finalised.
bool shows_driver_calls() { return g_shows_calls.load(); }
void decide_on_driver_calls() {
  ActivitySink* const sink = activity_sink();
  if (all_contexts().empty()) g_shows_calls.store(sink != nullptr && sink->wants_driver_calls());
}

void runtime_enter(RuntimeCall* call, uint32_t cbid, const char* name, const void* params) {
  call->outer = tl_runtime;
  call->event = ApiEvent{};
  call->traced = false;
  if (g_plain.load(std::memory_order_relaxed)) return;
  call->event.correlation = tl_runtime != nullptr ? tl_runtime->event.correlation : g_next_correlation.fetch_add(1);
  tl_runtime = call;
  ActivitySink* sink = activity_sink();
  if (sink == nullptr) return;
  call->traced = true;
  call->event.domain = ApiDomain::Runtime;
  call->event.cbid = cbid;
  call->event.name = name;
  call->event.params = params;
  call->event.begin = now_ns();
  call->event.context = current_context_handle();
  call->event.context_id = current_context_id();
  sink->api_enter(call->event);
}

void runtime_exit(RuntimeCall* call, int result) {
  if (tl_runtime != call) return;
  tl_runtime = call->outer;
  ActivitySink* sink = activity_sink();
  if (!call->traced || sink == nullptr) return;
  call->event.end = now_ns();
  call->event.result = result;
  call->event.symbol = tl_symbol;
  call->event.context = current_context_handle();
  call->event.context_id = current_context_id();
  sink->api_exit(call->event);
}

}  // namespace sim

extern "C" SIM_EXPORT void sim_advance_ns(uint64_t amount) {
  sim::advance_ns(amount);
  sim::settle_device();
}
