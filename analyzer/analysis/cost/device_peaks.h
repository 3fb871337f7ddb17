// What are the peak rates of a GPU? Dense peaks by data type and memory bandwidth: from the table device_peaks.def,
// from rows of the user, or computed from the device's properties in the trace. Called by every report that gives a
// share of a peak, and by `prof devices`. An unknown peak is 0 here and an empty cell in a report, never an unmarked
// guess.
#pragma once

#include "analyzer/model/trace.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class PeakType : uint8_t { Fp64, Fp64Matrix, Fp32, Tf32, Fp16, Bf16, Fp8, Int8, Fp4 };
inline constexpr size_t kPeakTypes = 9;
// "fp64", "fp64_matrix", "fp32" …
std::string_view peak_type_name(PeakType type);

// The origin of peaks. Guessed: several GPUs share the name; units and memory size decide. Computed: units ×
// operations per clock × clock, from units, clock and compute capability in the trace. Measured: by `prof devices
// --measure`.
enum class PeakOrigin : uint8_t { None, Table, User, Guessed, Computed, Measured };
std::string_view peak_origin_name(PeakOrigin origin);

struct DevicePeaks {
  std::string name;
  std::array<double, kPeakTypes> tera{};  // 10^12 operations per second; 0: unknown
  double bandwidth_gbs = 0;               // 10^9 bytes per second; 0: unknown
  double memory_gb = 0;
  uint32_t units = 0;  // SMs or compute units
  uint32_t mhz = 0, tensor_mhz = 0;
  bool approximate = false;
  std::string link, date;
  PeakOrigin origin = PeakOrigin::None;
  std::string reason;  // None: why there are no peaks; else a remark that is shown with the numbers

  double peak(PeakType type) const { return tera[static_cast<size_t>(type)]; }
  bool known() const { return origin != PeakOrigin::None; }
};

class DeviceTable {
 public:
  DeviceTable();

  // Adds rows of a file, one per line, with precedence over the built-in rows: "NAME: key=value …" with the keys fp64
  // … fp4 (TFLOP/s), bandwidth (GB/s), memory (GB), units, mhz, tensor_mhz. Empty lines and lines that start with #
  // are ignored. Throws std::runtime_error with file and line for a bad row and for a second row of a name.
  // read_file("measured") reads measured_devices_file().
  void add_rows(std::string_view text, const std::string& file, PeakOrigin origin = PeakOrigin::User);
  void read_file(const std::string& file);

  // The peaks of a device of a trace, by its name, else computed from its properties. Values missing in a row of the
  // user are those that the device has without that row; `reason` names them. `as`: use the row of that name instead;
  // throws std::runtime_error if there is none.
  DevicePeaks of(const Device& device, const std::string& as = {}) const;

  const std::vector<DevicePeaks>& rows() const { return rows_; }  // rows of the user come first

 private:
  const DevicePeaks* find(std::string_view name, size_t from) const;  // searches rows from `from` on; null: none
  bool is_users(const DevicePeaks* row) const;                        // or is measured
  DevicePeaks by_name(const Device& device, size_t from) const;
  std::vector<DevicePeaks> rows_;
  std::vector<std::vector<std::string>> keys_;  // of each row
  size_t user_rows_ = 0;
};

// The file in which `prof devices --measure` stores its rows: prof/measured-devices in $XDG_CONFIG_HOME, else in
// ~/.config.
std::string measured_devices_file();

// "NVIDIA GeForce RTX 4090" -> "rtx 4090": lower case, without the words of manufacturers and product families.
std::string device_key(std::string_view name);

}  // namespace prof::analyzer
