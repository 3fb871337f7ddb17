// Code around every driver call: the scripted cost and fault, the correlation id and CUPTI's enter and exit. The
// wrappers that generate_api.py writes call api_call(); implementations are written as SIM_API(name)(parameters) {...}.
// The driver never calls its own exported functions: a preloaded library that interposes them would see calls that the
// program did not make.
#pragma once
#include <atomic>
#include <cstdint>

#include "api_generated.h"
#include "tests/sim/activity_sink.h"
#include "tests/sim/cuda_headers.h"

#define SIM_API(name) CUresult sim::impl_##name

namespace sim {

struct ApiInfo {
  const char* name;
  const char* base;  // without _v2 and _ptsz: the name for cuGetProcAddress
  uint32_t cbid;
  int since;  // CUDA version
  bool per_thread;
  void* address;
};
extern const ApiInfo kApiTable[kApiCount];

struct ErrorInfo {
  int value;
  const char* name;
};
extern const ErrorInfo kErrorTable[];
extern const unsigned kErrorCount;

// Nothing to do around a call: real clock, no CUPTI, no faults, not a forked child. Benchmarks of hooks use this path.
extern std::atomic<bool> g_plain;

extern thread_local bool tl_per_thread_stream __attribute__((tls_model("initial-exec")));

class ApiScope {
 public:
  ApiScope(ApiId id, const void* params);
  ApiScope(const ApiScope&) = delete;
  bool refused() const { return refused_; }
  CUresult leave(CUresult result);
  CUresult fault() const { return fault_; }

 private:
  ApiId id_;
  bool refused_ = false;
  CUresult fault_ = CUDA_SUCCESS;
  ActivitySink* sink_ = nullptr;
  uint32_t outer_correlation_ = 0;
  ApiEvent event_{};
};

uint32_t new_correlation();      // for device operations that no API record explains
uint32_t next_correlation();     // of the call that comes next, on any thread
uint32_t current_correlation();  // of the call this thread is inside
void set_call_symbol(const char* kernel_name);
ActivitySink* activity_sink();
CUresult unsupported(ApiId id);

struct PerThreadScope {
  explicit PerThreadScope(bool on) : saved(tl_per_thread_stream) { tl_per_thread_stream = on; }
  ~PerThreadScope() { tl_per_thread_stream = saved; }
  bool saved;
};

template <ApiId id, bool per_thread, class Body, class Params> inline CUresult api_call(Body&& body, Params&& params) {
  if (g_plain.load(std::memory_order_relaxed)) [[likely]] {
    if constexpr (per_thread) {
      PerThreadScope scope(true);
      return body();
    } else {
      return body();
    }
  }
  PerThreadScope thread_scope(per_thread);
  auto packed = params();
  ApiScope scope(id, &packed);
  return scope.leave(scope.refused() ? scope.fault() : body());
}

}  // namespace sim
