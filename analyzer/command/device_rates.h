// How fast are a copy and products of matrices on a GPU of this machine? Asked by `prof devices --measure`: the ceilings that a program
// can really reach there, under the clocks and the power that this GPU has.
#pragma once

#include "analyzer/analysis/cost/device_peaks.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace prof::analyzer {

struct MeasuredDevice {
  DevicePeaks rates;                 // name, units, and what was measured; 0 elsewhere
  std::string how;                   // sizes and library, for the reader of the numbers
  std::vector<std::string> missing;  // what could not be measured, and why
};

// Measures each kind of GPU of this machine once (the first of a name): cuMemcpyDtoDAsync, bytes read and written a second, and cublasGemmEx for
// each type it has, 2n³ operations a product; both the median of 20 after 3 that warm up. `cublas`: the library's file; empty: searched. `progress` is told
// what comes next. Throws std::runtime_error if there is no driver or no GPU.
std::vector<MeasuredDevice> measure_devices(const std::string& cublas,
                                            const std::function<void(const std::string&)>& progress);

}  // namespace prof::analyzer
