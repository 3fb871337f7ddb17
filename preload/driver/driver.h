// The driver's real functions, for calls of our own (names of kernels, ids of streams, completion marks). Resolved together
// with the rows of cuda_api.def; a member is null where this driver has no such function. Every call of our own that could
// disturb a capture is bracketed by DriverCall.
#pragma once

#include "preload/record/thread_local.h"

#include <cuda.h>

namespace prof::preload {

// name as exported by libcuda, type as declared in cuda.h for that exported name
struct Driver {
#define PROF_DRIVER_FUNCTION(name) decltype(&::name) name = nullptr;
#include "preload/driver/driver_functions.def"
#undef PROF_DRIVER_FUNCTION
};
extern Driver g_driver;

// Hooks pass through, and the thread's capture mode is RELAXED, while it lives.
template <class Calls> class RelaxedCalls {
 public:
  RelaxedCalls() {
    if (g_driver.cuThreadExchangeStreamCaptureMode != nullptr) g_driver.cuThreadExchangeStreamCaptureMode(&mode_);
  }
  ~RelaxedCalls() {
    if (g_driver.cuThreadExchangeStreamCaptureMode != nullptr) g_driver.cuThreadExchangeStreamCaptureMode(&mode_);
  }
  RelaxedCalls(const RelaxedCalls&) = delete;
  RelaxedCalls& operator=(const RelaxedCalls&) = delete;

 private:
  Calls own_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};
using DriverCall = RelaxedCalls<DirectCalls>;  // around functions of g_driver
using CuptiCall = RelaxedCalls<OwnCalls>;      // around CUPTI's, which call the driver

}  // namespace prof::preload
