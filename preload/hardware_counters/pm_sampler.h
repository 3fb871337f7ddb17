// How does CUPTI's PM sampling run on one GPU? The hardware writes the counters of one pass into a buffer at an
// interval, whatever runs. hardware_sampling.cpp uses it, in the program. Only one caller at a time may use an object.
// Functions return false if CUPTI refused, and reason() contains the cause.
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
  // In ns. 0: the chip counts clock cycles instead, and the length of a sample is known only when it is read.
  uint64_t interval_ns() const { return interval_ns_; }

  // Passes the samples since the last read to `take`, in order of time, in blocks of up to samples_in_text().
  struct Read {
    bool ok = false;
    bool overflowed = false;  // the buffer was full: no further samples until restart()
    bool more = false;        // further samples may be ready; after stop(): until a read returns none
    uint64_t samples = 0, without_time = 0;
  };
  using Take = void (*)(void* to, const format::SampleSpan* spans, const double* values, uint32_t count);
  Read read(Take take, void* to);
  bool restart();
  // The end of the last sample, by gpu_clock_ns(); before the first sample, the time of start().
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
