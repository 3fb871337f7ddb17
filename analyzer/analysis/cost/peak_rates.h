// Sums of FLOPs, bytes and time of launches, and the rates and shares of peaks that follow: always sums over sums, over the
// launches whose number is known. Shared by `kernels --peaks` and `roofline`.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/cost/device_peaks.h"
#include "analyzer/analysis/cost/kernel_cost.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prof::analyzer {

// The peaks of each DeviceId, as the options say; notes say whose they are.
struct PeaksOfDevices {
  std::vector<DevicePeaks> of_device;
  std::vector<std::string> notes;
};
PeaksOfDevices peaks_of_devices(const AnalysisInput& input);

// The peak a kernel's FLOPs are compared with; 0: none is known. Double precision without matrix units: the ordinary ones.
double peak_flops(const DevicePeaks& device, PeakType type);

// What a launch takes at the peaks of its device. Neither is longer than 0 where its number or the peak is not known.
struct IdealTime {
  double compute_ns = 0, memory_ns = 0;
  bool known =
      false;  // the longer of both is the least that the launch can take: not where it has FLOPs without a peak, or no numbers

  double longer_ns() const { return compute_ns > memory_ns ? compute_ns : memory_ns; }
};
IdealTime ideal_time(const KernelCost& cost, const DevicePeaks& device);

struct PeakSums {
  uint64_t count = 0, with_flops = 0, with_useful = 0, with_bytes = 0, causal = 0;
  uint64_t without_peak = 0;  // of those with FLOPs, on a device whose peaks are known: none of their type
  int64_t total_ns = 0;
  double flops = 0, useful_flops = 0, bytes = 0;
  int64_t flops_ns = 0, useful_ns = 0, bytes_ns = 0;  // of the launches with that number
  double flops_at_peak_ns = 0, bytes_at_peak_ns = 0;  // what they would take at the peak
  double flops_with_peak = 0;
  int64_t flops_with_peak_ns = 0, bytes_with_peak_ns = 0;
  double ideal_ns = 0;          // the longer of both, launch by launch; not where FLOPs have no peak
  int64_t with_ideal_ns = 0;    // of the launches with an ideal time
  double compute_bound_ns = 0;  // of the ideal times: where the FLOPs take longer than the bytes
  // Of the launches with an ideal time, what they took themselves, and what those of them took that a launch's own cost bounds.
  int64_t judged_ns = 0, launch_bound_ns = 0;
  bool above_peak = false;  // a launch is faster than its peak
  bool assumed = false;
  uint32_t sources = 0;  // bit per CostSource
  uint32_t types = 0;    // bit per DataType of what has FLOPs or bytes
  uint32_t peaks = 0;    // bit per PeakType
  std::array<uint64_t, 16> missing_flops{}, missing_useful{}, missing_bytes{};  // launches by NoCost

  void add(const KernelCost& cost, int64_t duration_ns, const DevicePeaks& device);
  void add_all(const PeakSums& other);
  // Over another time than the launches' own: of operators and ranges the union of all that ran for them, and of what of it has an ideal time or
  // helps what has.
  void over(int64_t ns, int64_t with_ideal);
  int64_t unknown_ns() const { return total_ns - with_ideal_ns; }

  // Nothing: not known, or no time.
  std::optional<double> tera_flops() const;
  std::optional<double> useful_tera_flops() const;
  std::optional<double> giga_bytes() const;
  std::optional<double> flops_percent() const;
  std::optional<double> bytes_percent() const;
  std::optional<double> intensity() const;  // FLOPs a byte
  std::string type_text() const;            // "bf16", "fp32 (tf32)", "fp16, fp32"
  std::string source_text() const;
  std::string note() const;         // why a cell is empty; above the peak; causal
  std::string useful_note() const;  // why there are no useful FLOPs where there are FLOPs
};

}  // namespace prof::analyzer
