// May this GPU be measured, with which metrics, and in how many passes? And after the measurement: which values are in
// an image that CUPTI filled? The range profiler (counter_session.h) and PM sampling (pm_sampler.h) use it, in the
// program. Only one caller at a time may use an object. Functions return false if CUPTI refused, and reason() contains
// the cause.
#pragma once

#include "preload/capture/cupti/cupti_library.h"
#include "preload/hardware_counters/counter_metrics.h"
#include "preload/hardware_counters/own_pages.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::preload {

class CounterHost {
 public:
  enum class By { RangeProfiler, PmSampling };

  // Finds the metrics that `wanted` names on the device and makes CUPTI's configuration for them. Only the range
  // profiler needs `context`. PM sampling has one pass: metrics of a set (sampling_sets.def) that need a second one are
  // left out.
  bool open(const Cupti& api, By by, CUcontext context, uint32_t device, const option::WantedMetrics& wanted);
  void finish();
  void abandon();  // as finish(), without a call: the child of a fork, a destroyed context

  const CounterMetrics& metrics() const { return metrics_; }
  const char* chip() const { return chip_; }
  size_t passes() const { return passes_; }
  const OwnPages& config() const { return config_; }
  const char* reason() const { return reason_; }

  // Stores the reason and returns false.
  bool refuse(const char* what, CUptiResult result, const char* name = "");
  bool refuse_in_words(std::string_view a, std::string_view b = {}, std::string_view c = {});
  // If the device is a part of a GPU (MIG), adds that to the reason.
  void explain_part(uint32_t device);

  // Writes the values of the metrics in entry `index` of a counter data image to `values`.
  bool evaluate(const OwnPages& image, size_t index, double* values);

 private:
  bool check_device(uint32_t device);
  bool read_availability(CUcontext context, uint32_t device);
  bool make_object();
  void destroy_object();
  bool choose(const option::WantedMetrics& wanted);
  CUptiResult try_metrics();
  bool refuse_suffix(const char* metric);
  bool add_metrics();
  bool configure();
  bool cut_to_one_pass();

  const Cupti* api_ = nullptr;
  By by_{};
  struct CUpti_Profiler_Host_Object* object_ = nullptr;
  size_t passes_ = 0;
  char chip_[32] = "";
  CounterMetrics metrics_;
  OwnPages availability_, config_;
  char reason_[1024] = "";
};

}  // namespace prof::preload
