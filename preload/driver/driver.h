// The driver's real functions, for calls that libprof.so makes itself (names of kernels, ids of streams, completion
// marks). They are resolved together with the rows of cuda_api.def. A member is null if this driver has no such
// function. DriverCall brackets every call of ours that could disturb a capture.
#pragma once

#include "preload/base/clock.h"
#include "preload/driver/own_calls.h"
#include "preload/record/thread_local.h"

#include <cuda.h>

#include <cstdint>

namespace prof::preload {

// The name is the one that libcuda exports. The type is the one that cuda.h declares for that name.
struct Driver {
#define PROF_DRIVER_FUNCTION(name) decltype(&::name) name = nullptr;
#include "preload/driver/driver_functions.def"
#undef PROF_DRIVER_FUNCTION
};
extern Driver g_driver;

// While an object of this class exists, hooks call the driver directly and the thread's capture mode is RELAXED.
template <class Calls> class RelaxedCalls {
 public:
  RelaxedCalls() {
    if (g_note_own_calls.load(std::memory_order_relaxed)) begin_ = gpu_clock_ns();
    if (g_driver.cuThreadExchangeStreamCaptureMode != nullptr) g_driver.cuThreadExchangeStreamCaptureMode(&mode_);
  }
  ~RelaxedCalls() {
    if (g_driver.cuThreadExchangeStreamCaptureMode != nullptr) g_driver.cuThreadExchangeStreamCaptureMode(&mode_);
    if (begin_ != 0) note_own_calls(begin_);
  }
  RelaxedCalls(const RelaxedCalls&) = delete;
  RelaxedCalls& operator=(const RelaxedCalls&) = delete;

 private:
  Calls own_;
  uint64_t begin_ = 0;  // 0: not noted
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};
using DriverCall = RelaxedCalls<DirectCalls>;  // around functions of g_driver
using CuptiCall = RelaxedCalls<OwnCalls>;      // around CUPTI's functions, which call the driver

}  // namespace prof::preload
