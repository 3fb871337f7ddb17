// CUPTI's PM sampling on one GPU: its hardware writes the counters of one pass into a buffer at an interval, whatever runs. In the program. One caller
// at a time; functions answer false where CUPTI refused, and `reason` says what.
//
//   open() start() … read() read() … stop() read() finish()
#pragma once

#include "preload/format/sample_codec.h"
#include "preload/hardware_counters/counter_host.h"

#include <cstdint>
#include <string_view>

namespace prof::preload {

class PmSampler {
 public:
  static constexpr uint32_t kMostSamples = 1024;  // of one read()

  bool open(const Cupti& api, uint32_t device, const option::WantedMetrics& wanted, uint64_t interval_ns);
  bool start();
  bool stop();
  void finish();
  void abandon();  // without a call

  const CounterHost& host() const { return host_; }
  const char* reason() const { return host_.reason(); }
  // 0: the chip counts clocks instead, and the length of a sample is known when it is there.
  uint64_t interval_ns() const { return interval_ns_; }

  // Samples since the last read, in the order of time, in parts of up to samples_in_text(): `take` gets each.
  struct Read {
    bool ok = false;
    bool overflowed = false;  // the buffer was full: nothing comes any more until begin_again()
    bool more = false;        // there may be others already; of a stopped one until a read gives none
    uint64_t samples = 0, without_time = 0;
  };
  using Take = void (*)(void* to, const format::SampleSpan* spans, const double* values, uint32_t count);
  Read read(Take take, void* to);
  bool begin_again();
  // Until when, by gpu_clock_ns(), there are samples; before the first, when it began.
  uint64_t covered_until() const { return covered_until_; }
  uint64_t wanted_ns() const { return wanted_ns_; }

 private:
  bool enable();
  bool configure();
  bool make_image();
  bool clear_image();
  bool evaluate(size_t completed, Take take, void* to, Read& read);

  const Cupti* api_ = nullptr;
  struct CUpti_PmSampling_Object* sampling_ = nullptr;
  uint32_t device_ = 0;
  uint64_t wanted_ns_ = 0, interval_ns_ = 0, covered_until_ = 0;
  bool started_ = false, first_ = false;
  CounterHost host_;
  OwnPages image_;
};

}  // namespace prof::preload
