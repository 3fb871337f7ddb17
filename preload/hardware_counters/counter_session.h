// How are hardware counters measured on one context? CUPTI's range profiler is opened for the metrics that
// PROF_COUNTERS selects there. counter_slots.cpp uses it, in the program. Only one caller at a time may use an object,
// with the context current. Functions return false if CUPTI refused, and reason() contains the cause.
//
//   one pass          start() … begin(name) WORK end() … up to kRanges times … read() values by name, start()
//   several passes    begin() WORK, which CUPTI runs once a pass, end(), read(): the values of that work alone
//
// Values are assigned to a range by its name, or because the range is alone in the image. They are never assigned by
// order.
#pragma once

#include "preload/hardware_counters/counter_host.h"

#include <cstdint>

namespace prof::preload {

class CounterSession {
 public:
  static constexpr uint32_t kRanges = 1024;

  bool open(const Cupti& api, CUcontext context, uint32_t device, const option::WantedMetrics& wanted);
  // After finish(), CUPTI measures nothing on the context. abandon(): the context was destroyed, or this is the child
  // of a fork.
  void finish();
  void abandon();

  const CounterMetrics& metrics() const { return host_.metrics(); }
  const char* chip() const { return host_.chip(); }
  size_t passes() const { return host_.passes(); }
  bool replays() const { return passes() > 1; }
  const char* reason() const { return host_.reason(); }

  bool begin(uint32_t range);
  bool end();

  // Passes the values of every range since the last read to `take`; then the session is ready for new ranges. `range`
  // is the argument of begin(), or kRanges if CUPTI has another name for it.
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
