// How fast are copies and matrix products on a GPU of this machine? The results are the ceilings that a program can
// reach there, with the clocks and the power of this GPU. Called by `prof devices --measure`.
#pragma once

#include "analyzer/analysis/cost/device_peaks.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace prof::analyzer {

struct MeasuredDevice {
  DevicePeaks rates;                 // name, units and measured rates; 0 elsewhere
  std::string how;                   // sizes and library, for readers of the rates
  std::vector<std::string> missing;  // what could not be measured, with the reason
};

// Measures each kind of GPU of this machine once, on the first GPU of each name. cuMemcpyDtoDAsync: bytes read and
// written per second. cublasGemmEx, for each type that it supports: 2n³ operations per product. Both are the median of
// 20 runs after 3 warm-up runs. `cublas`: the file of the library; empty: searched. `progress` is called with the name
// of the next step. Throws std::runtime_error if there is no driver or no GPU.
std::vector<MeasuredDevice> measure_devices(const std::string& cublas,
                                            const std::function<void(const std::string&)>& progress);

}  // namespace prof::analyzer
