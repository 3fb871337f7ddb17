// How fast could a GPU be? Dense peaks by data type and the bandwidth of its memory: from the table device_peaks.def, from rows of
// the user's own, or worked out from what the trace says of the device. Called by every report that gives a share of a peak,
// and by `prof devices`. A peak that is not known is no peak: 0 here, an empty cell there, never a guess without its mark.
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

// Where peaks are from. Guessed: a name that several GPUs have, told apart by units and memory. Computed: units × operations a
// clock × clock, all three from the trace and its compute capability. Measured: by `prof devices --measure`.
enum class PeakOrigin : uint8_t { None, Table, User, Guessed, Computed, Measured };
std::string_view peak_origin_name(PeakOrigin origin);

struct DevicePeaks {
  std::string name;
  std::array<double, kPeakTypes> tera{};  // 10^12 operations a second; 0: not known
  double bandwidth_gbs = 0;               // 10^9 bytes a second; 0: not known
  double memory_gb = 0;
  uint32_t units = 0;  // SMs or compute units
  uint32_t mhz = 0, tensor_mhz = 0;
  bool approximate = false;
  std::string link, date;
  PeakOrigin origin = PeakOrigin::None;
  std::string reason;  // None: why there are no peaks; else what the reader should know beside the numbers

  double peak(PeakType type) const { return tera[static_cast<size_t>(type)]; }
  bool known() const { return origin != PeakOrigin::None; }
};

class DeviceTable {
 public:
  DeviceTable();

  // Rows of a file, one a line, looked at before all others: "NAME: key=value …" with the keys fp64 … fp4 (TFLOP/s),
  // bandwidth (GB/s), memory (GB), units, mhz, tensor_mhz. Empty lines and lines that begin with # say nothing. Throws
  // std::runtime_error with file and line. read_file("measured") reads measured_devices_file().
  void add_rows(std::string_view text, const std::string& file, PeakOrigin origin = PeakOrigin::User);
  void read_file(const std::string& file);

  // The peaks of a device of a trace, by its name, else by what the trace says of it. What a row of the user's own lacks is
  // what the device would have without that row; `reason` names it. `as`: take the row of that name instead; throws
  // std::runtime_error if there is none.
  DevicePeaks of(const Device& device, const std::string& as = {}) const;

  const std::vector<DevicePeaks>& rows() const { return rows_; }  // the user's first

 private:
  const DevicePeaks* find(std::string_view name, size_t from) const;  // rows from that one on; null: none
  bool is_users(const DevicePeaks* row) const;                        // or measured
  DevicePeaks by_name(const Device& device, size_t from) const;
  std::vector<DevicePeaks> rows_;
  std::vector<std::vector<std::string>> keys_;  // of each row
  size_t user_rows_ = 0;
};

// Where `prof devices --measure` keeps its rows: prof/measured-devices in $XDG_CONFIG_HOME, else in ~/.config.
std::string measured_devices_file();

// "NVIDIA GeForce RTX 4090" -> "rtx 4090": lower case, without makers' and families' words.
std::string device_key(std::string_view name);

}  // namespace prof::analyzer
