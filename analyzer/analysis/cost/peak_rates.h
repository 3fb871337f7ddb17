// What rates and shares of peaks do launches reach? Sums of FLOPs, bytes and time; a rate is always a sum over a sum,
// of the launches whose number is known. Used by `kernels --peaks` and `roofline`.
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

// The peaks of each DeviceId according to the options. The notes name their origin.
struct PeaksOfDevices {
  std::vector<DevicePeaks> of_device;
  std::vector<std::string> notes;
};
PeaksOfDevices peaks_of_devices(const AnalysisInput& input);

// The peak that FLOPs of a type are compared with; 0: unknown. A GPU without fp64 matrix units uses its fp64 vector
// peak.
double peak_flops(const DevicePeaks& device, PeakType type);

// The time that a launch takes at the peaks of its device. A time is 0 if its number or its peak is unknown.
struct IdealTime {
  double compute_ns = 0, memory_ns = 0;
  bool known =
      false;  // false: no numbers, or FLOPs without a peak; else the longer time is the minimum duration of the launch

  double longer_ns() const { return compute_ns > memory_ns ? compute_ns : memory_ns; }
};
IdealTime ideal_time(const KernelCost& cost, const DevicePeaks& device);

struct PeakSums {
  uint64_t count = 0, with_flops = 0, with_useful = 0, with_bytes = 0, causal = 0;
  uint64_t without_peak = 0;  // launches with FLOPs on a device with peaks, but none of their type
  int64_t total_ns = 0;
  double flops = 0, useful_flops = 0, bytes = 0;
  int64_t flops_ns = 0, useful_ns = 0, bytes_ns = 0;  // of the launches that have the number
  double flops_at_peak_ns = 0, bytes_at_peak_ns = 0;  // time at the peak
  double flops_with_peak = 0;
  int64_t flops_with_peak_ns = 0, bytes_with_peak_ns = 0;
  double ideal_ns = 0;          // the longer time per launch; only launches with an ideal time
  int64_t with_ideal_ns = 0;    // of the launches with an ideal time
  double compute_bound_ns = 0;  // ideal times where FLOPs take longer than bytes
  // Measured time of the launches with an ideal time, and of those bound by the shortest possible duration of a launch.
  int64_t judged_ns = 0, launch_bound_ns = 0;
  bool above_peak = false;  // a launch is faster than a peak
  bool assumed = false;
  uint32_t sources = 0;  // bit per CostSource
  uint32_t types = 0;    // bit per DataType of launches with FLOPs or bytes
  uint32_t peaks = 0;    // bit per PeakType
  std::array<uint64_t, 16> missing_flops{}, missing_useful{}, missing_bytes{};  // launches by NoCost

  void add(const KernelCost& cost, int64_t duration_ns, const DevicePeaks& device);
  void add_all(const PeakSums& other);
  // Replaces the launches' own time. For operators and ranges, `ns` is the union of the times of all their operations.
  // `with_ideal` is the union of those that have an ideal time or support an operation that has one.
  void over(int64_t ns, int64_t with_ideal);
  int64_t unknown_ns() const { return total_ns - with_ideal_ns; }

  // nullopt: unknown, or no time.
  std::optional<double> tera_flops() const;
  std::optional<double> useful_tera_flops() const;
  std::optional<double> giga_bytes() const;
  std::optional<double> flops_percent() const;
  std::optional<double> bytes_percent() const;
  std::optional<double> intensity() const;  // FLOPs per byte
  std::string type_text() const;            // "bf16", "fp32 (tf32)", "fp16, fp32"
  std::string source_text() const;
  std::string note() const;         // why a cell is empty; above a peak; causal
  std::string useful_note() const;  // why there are no useful FLOPs although there are FLOPs
};

}  // namespace prof::analyzer
