// Hardware counters on one context: CUPTI's range profiler, opened for the metrics that PROF_COUNTERS means there. In the program. One caller at a
// time, the context current; functions answer false where CUPTI refused, and `reason` says what.
//
//   one pass          start() … begin(name) WORK end() … up to kRanges times … read() values by name, start()
//   several passes    begin() WORK, which CUPTI runs once a pass, end(), read(): the values of that work alone
//
// Values belong to a range by its name or by being alone in the image, never by order.
#pragma once

#include "preload/hardware_counters/counter_host.h"

#include <cstdint>

namespace prof::preload {

class CounterSession {
 public:
  static constexpr uint32_t kRanges = 1024;

  bool open(const Cupti& api, CUcontext context, uint32_t device, const option::WantedMetrics& wanted);
  // CUPTI measures nothing on the context any more. abandon(): the context is gone, or this is the child of a fork.
  void finish();
  void abandon();

  const CounterMetrics& metrics() const { return host_.metrics(); }
  const char* chip() const { return host_.chip(); }
  size_t passes() const { return host_.passes(); }
  bool replays() const { return passes() > 1; }
  const char* reason() const { return host_.reason(); }

  bool begin(uint32_t range);
  bool end();

  // The values of every range since the last read, each to `take`; then the session is ready for others. `range` is what begin() was told,
  // kRanges where CUPTI calls it something else.
  struct Read {
    bool ok = false;
    uint64_t ranges = 0, dropped = 0;
  };
  using Take = void (*)(void* to, uint32_t range, const double* values, uint32_t count);
  Read read(Take take, void* to);

 private:
  bool open_profiler();
  bool clear_image();
  bool start();
  bool stop();
  bool evaluate(Take take, void* to, Read& read);

  const Cupti* api_ = nullptr;
  CUcontext context_ = nullptr;
  struct CUpti_RangeProfiler_Object* profiler_ = nullptr;
  bool started_ = false;
  CounterHost host_;
  OwnPages image_;
};

}  // namespace prof::preload
