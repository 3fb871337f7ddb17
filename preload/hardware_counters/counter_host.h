// What stands before any measuring of hardware counters: may this GPU be measured, with which metrics, in how many passes? And behind it:
// what values are in an image that CUPTI filled? The same for the range profiler (counter_session.h) and for PM sampling (pm_sampler.h). In the
// program. One caller at a time; functions answer false where CUPTI refused, and `reason` says what.
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

  // Finds the metrics that `wanted` means on the device and makes CUPTI's configuration of them. `context` is the range profiler's. Of sets
  // (sampling_sets.def) that need more than one pass, those metrics are left out that would need a second one: PM sampling has one.
  bool open(const Cupti& api, By by, CUcontext context, uint32_t device, const option::WantedMetrics& wanted);
  void finish();
  void abandon();  // as finish(), without a call: the child of a fork, a context that is gone

  const CounterMetrics& metrics() const { return metrics_; }
  const char* chip() const { return chip_; }
  size_t passes() const { return passes_; }
  const OwnPages& config() const { return config_; }
  const char* reason() const { return reason_; }

  // Keeps the reason; false.
  bool refuse(const char* what, CUptiResult result, const char* name = "");
  bool refuse_in_words(std::string_view a, std::string_view b = {}, std::string_view c = {});
  // Adds to the reason that the device is a part of a GPU, if it is one.
  void explain_part(uint32_t device);

  // Values of the metrics in entry `index` of a counter data image.
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
