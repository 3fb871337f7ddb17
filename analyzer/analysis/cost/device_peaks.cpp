#include "analyzer/analysis/cost/device_peaks.h"

#include "analyzer/base/rule_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>

namespace prof::analyzer {

namespace {

constexpr std::string_view kPeakTypeNames[kPeakTypes] = {"fp64", "fp64_matrix", "fp32", "tf32", "fp16",
                                                         "bf16", "fp8",         "int8", "fp4"};

struct BuiltIn {
  std::string_view name, keys;
  uint32_t units, mhz, tensor_mhz;
  double memory_gb, bandwidth_gbs;
  bool approximate;
  std::string_view link, date;
  std::array<double, kPeakTypes> tera;
};
constexpr BuiltIn kBuiltIn[] = {
#define PROF_DEVICE(name, keys, units, mhz, tensor_mhz, memory, bandwidth, approximate, link, date) \
  {                                                                                                 \
    name, keys, units, mhz, tensor_mhz, memory, bandwidth, approximate, link, date,
#define PROF_PEAKS(...) \
  { __VA_ARGS__ }       \
  }                     \
  ,
#include "analyzer/analysis/cost/device_peaks.def"
#undef PROF_DEVICE
#undef PROF_PEAKS
};

uint64_t property(const Device& device, std::string_view key) {
  for (const auto& [name, value] : device.properties) {
    if (name == key) return value;
  }
  return 0;
}

// Operations per clock and SM by compute capability: dense fp16 with the full accumulator, and fp32 of the vector
// units.
struct Capability {
  uint64_t major, minor;
  double fp16, fp16_geforce, fp32;
  bool has_bf16;  // and tf32, at half the rate
};
constexpr Capability kCapabilities[] = {{7, 0, 1024, 1024, 128, false}, {7, 5, 1024, 512, 128, false},
                                        {8, 0, 2048, 2048, 128, true},  {8, 6, 1024, 512, 256, true},
                                        {8, 9, 1024, 512, 256, true},   {9, 0, 4096, 4096, 256, true},
                                        {10, 0, 8192, 8192, 256, true}, {12, 0, 1024, 512, 256, true}};

// Logs have the memory clock and the bus width; the bus transfers two words per clock.
double bandwidth_gbs(const Device& device) {
  if (const uint64_t whole = property(device, "memoryBandwidthBytesPerSecond")) return static_cast<double>(whole) / 1e9;
  return 2 * static_cast<double>(property(device, "memoryClockRateHz")) *
         static_cast<double>(property(device, "memoryBusWidthBits")) / 8 / 1e9;
}

DevicePeaks computed(const Device& device, std::string reason) {
  DevicePeaks peaks;
  peaks.name = device.name;
  peaks.memory_gb = static_cast<double>(property(device, "totalGlobalMem")) / 1e9;
  peaks.units = static_cast<uint32_t>(property(device, "numSms"));
  peaks.bandwidth_gbs = bandwidth_gbs(device);
  const double hz = static_cast<double>(property(device, "clockRateHz"));
  peaks.mhz = peaks.tensor_mhz = static_cast<uint32_t>(hz / 1e6);
  const auto capability = std::find_if(std::begin(kCapabilities), std::end(kCapabilities), [&](const Capability& c) {
    return c.major == property(device, "computeMajor") && c.minor == property(device, "computeMinor");
  });
  const bool amd = device.name.find("AMD") != std::string::npos;  // AMD's capability numbers mean something else
  if (hz > 0 && peaks.units != 0 && capability != std::end(kCapabilities) && !amd) {
    const bool geforce = device.name.find("GeForce") != std::string::npos;
    const double clocks = hz * peaks.units / 1e12;
    const double fp16 = clocks * (geforce ? capability->fp16_geforce : capability->fp16);
    const auto set = [&](PeakType type, double tera) { peaks.tera[static_cast<size_t>(type)] = tera; };
    set(PeakType::Fp32, clocks * capability->fp32);
    set(PeakType::Fp16, fp16);
    if (capability->has_bf16) {
      set(PeakType::Bf16, fp16);
      set(PeakType::Tf32, fp16 / 2);
    }
    peaks.reason = reason + "; computed from SMs, clock and compute capability";
  } else if (peaks.bandwidth_gbs > 0) {
    peaks.reason = reason + (hz > 0 ? "; the operations a clock of its SMs are not known, only its bandwidth is"
                                    : "; the trace has its bandwidth but no clock");
  } else {
    peaks.reason = std::move(reason);
    return peaks;
  }
  peaks.origin = PeakOrigin::Computed;
  return peaks;
}

// For a name that several GPUs share: the row that matches the units and the memory size. Empty: none does.
std::string_view guessed_row(std::string_view key, uint64_t units, uint64_t memory_bytes) {
  constexpr uint64_t kGiga = 1'000'000'000;
  if (units == 0 || memory_bytes == 0) return {};
  if (key == "h100" && units == 114) return "h100 pcie";
  if (key == "h100" && units == 132 && memory_bytes <= 86 * kGiga) return "h100 80gb hbm3";
  if (key == "gh200" && units == 132) return memory_bytes <= 104 * kGiga ? "gh200 96gb" : "gh200 144gb";
  if ((key == "a100" || key == "a100 40gb") && units == 108 && memory_bytes <= 44 * kGiga) return "a100-sxm4-40gb";
  return {};
}

double number_of(std::string_view key, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value) || value <= 0 || value > 1e9)
    throw std::runtime_error(fmt::format("{}={}: a number above 0 and up to 10^9 is allowed", key, text));
  return value;
}

void set_value(DevicePeaks& row, std::string_view key, const std::string& text) {
  const auto type = std::find(std::begin(kPeakTypeNames), std::end(kPeakTypeNames), key);
  if (type != std::end(kPeakTypeNames)) {
    row.tera[static_cast<size_t>(type - std::begin(kPeakTypeNames))] = number_of(key, text);
  } else if (key == "bandwidth") {
    row.bandwidth_gbs = number_of(key, text);
  } else if (key == "memory") {
    row.memory_gb = number_of(key, text);
  } else if (key == "units") {
    row.units = static_cast<uint32_t>(number_of(key, text));
  } else if (key == "mhz") {
    row.mhz = static_cast<uint32_t>(number_of(key, text));
  } else if (key == "tensor_mhz") {
    row.tensor_mhz = static_cast<uint32_t>(number_of(key, text));
  } else {
    throw std::runtime_error(fmt::format("'{}' is none of {}, bandwidth, memory, units, mhz, tensor_mhz", key,
                                         fmt::join(kPeakTypeNames, ", ")));
  }
}

DevicePeaks parse_row(std::string_view line, PeakOrigin origin) {
  DevicePeaks row;
  row.origin = origin;
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || trimmed(line.substr(0, colon)).empty())
    throw std::runtime_error("no name with a colon after it");
  row.name = trimmed(line.substr(0, colon));
  std::string_view rest = trimmed(line.substr(colon + 1));
  if (rest.empty()) throw std::runtime_error("no number after the name");
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, std::min(rest.find_first_of(" \t"), rest.size()));
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) throw std::runtime_error(fmt::format("'{}' is not key=value", word));
    set_value(row, word.substr(0, equals), std::string(word.substr(equals + 1)));
    rest = trimmed(rest.substr(word.size()));
  }
  if (row.tensor_mhz == 0) row.tensor_mhz = row.mhz;
  return row;
}

// Values missing in a row of the user are copied from `base`, the peaks of the same GPU without that row. The reason
// names them.
void fill_from(const DevicePeaks& base, DevicePeaks& row) {
  if (!base.known()) return;
  std::vector<std::string_view> filled;
  const auto fill = [&](double& value, double other, std::string_view name) {
    if (value > 0 || other <= 0) return;
    value = other;
    filled.push_back(name);
  };
  for (size_t type = 0; type < kPeakTypes; ++type) fill(row.tera[type], base.tera[type], kPeakTypeNames[type]);
  fill(row.bandwidth_gbs, base.bandwidth_gbs, "bandwidth");
  if (row.memory_gb <= 0) row.memory_gb = base.memory_gb;
  if (row.units == 0) row.units = base.units;
  if (row.mhz == 0 && row.tensor_mhz == 0) {
    row.mhz = base.mhz;
    row.tensor_mhz = base.tensor_mhz;
  }
  if (filled.empty()) return;
  row.reason = fmt::format("{}: of {} ({})", fmt::join(filled, ", "), base.name, peak_origin_name(base.origin));
  if (!base.reason.empty()) row.reason += "; " + base.reason;
}

std::vector<std::string> split_keys(std::string_view keys) {
  std::vector<std::string> list;
  while (!keys.empty()) {
    const size_t end = std::min(keys.find('|'), keys.size());
    list.emplace_back(keys.substr(0, end));
    keys.remove_prefix(std::min(end + 1, keys.size()));
  }
  return list;
}

}  // namespace

std::string_view peak_type_name(PeakType type) { return kPeakTypeNames[static_cast<size_t>(type)]; }

std::string_view peak_origin_name(PeakOrigin origin) {
  switch (origin) {
    case PeakOrigin::None: return "unknown";
    case PeakOrigin::Table: return "table";
    case PeakOrigin::User: return "user";
    case PeakOrigin::Guessed: return "guessed";
    case PeakOrigin::Computed: return "computed";
    case PeakOrigin::Measured: break;
  }
  return "measured";
}

std::string device_key(std::string_view name) {
  std::string key;
  while (!name.empty()) {
    while (!name.empty() && (is_blank(name.front()) || name.front() == '\n')) name.remove_prefix(1);
    const size_t end = std::min(name.find_first_of(" \t\r\n"), name.size());
    std::string word(name.substr(0, end));
    name.remove_prefix(end);
    for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (word.empty() || word == "nvidia" || word == "amd" || word == "instinct" || word == "tesla" || word == "geforce")
      continue;
    if (!key.empty()) key += ' ';
    key += word;
  }
  return key;
}

DeviceTable::DeviceTable() {
  for (const BuiltIn& each : kBuiltIn) {
    DevicePeaks& row = rows_.emplace_back();
    row.name = each.name;
    row.tera = each.tera;
    row.bandwidth_gbs = each.bandwidth_gbs;
    row.memory_gb = each.memory_gb;
    row.units = each.units;
    row.mhz = each.mhz;
    row.tensor_mhz = each.tensor_mhz;
    row.approximate = each.approximate;
    row.link = each.link;
    row.date = each.date;
    row.origin = PeakOrigin::Table;
    if (each.approximate) row.reason = "public tables differ by up to 3 %";
    keys_.push_back(split_keys(each.keys));
    keys_.back().push_back(device_key(each.name));
  }
}

void DeviceTable::add_rows(std::string_view text, const std::string& file, PeakOrigin origin) {
  each_rule_line(text, file, "a row is: NAME: key=value …", [&](std::string_view line, const std::string& place) {
    DevicePeaks row = parse_row(line, origin);
    row.link = place;
    std::vector<std::string> keys{device_key(row.name)};
    for (size_t r = 0; r < user_rows_; ++r) {
      if (keys_[r] == keys) throw std::runtime_error(fmt::format("'{}' is there already: {}", row.name, rows_[r].link));
    }
    const auto at = static_cast<ptrdiff_t>(user_rows_++);
    rows_.insert(rows_.begin() + at, std::move(row));
    keys_.insert(keys_.begin() + at, std::move(keys));
  });
}

std::string measured_devices_file() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  const char* const home = std::getenv("HOME");
  if (config != nullptr && config[0] == '/') return std::string(config) + "/prof/measured-devices";
  return std::string(home != nullptr ? home : "") + "/.config/prof/measured-devices";
}

void DeviceTable::read_file(const std::string& file) {
  const bool measured = file == "measured";
  const std::string& path = measured ? measured_devices_file() : file;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  if (in) text.assign(std::istreambuf_iterator<char>(in), {});
  if (!in.good() && !in.eof()) {
    throw std::runtime_error(
        fmt::format("--devices {}: cannot be read{}", path, measured ? "; `prof devices --measure` makes it" : ""));
  }
  add_rows(text, path, measured ? PeakOrigin::Measured : PeakOrigin::User);
}

const DevicePeaks* DeviceTable::find(std::string_view name, size_t from) const {
  const std::string key = device_key(name);
  for (size_t r = from; r < rows_.size(); ++r) {
    if (!key.empty() && std::find(keys_[r].begin(), keys_[r].end(), key) != keys_[r].end()) return &rows_[r];
  }
  return nullptr;
}

bool DeviceTable::is_users(const DevicePeaks* row) const { return row < rows_.data() + user_rows_; }

DevicePeaks DeviceTable::of(const Device& device, const std::string& as) const {
  if (as.empty()) return by_name(device, 0);
  const DevicePeaks* const row = find(as, 0);
  if (row == nullptr)
    throw std::runtime_error(fmt::format("--device-as '{}': no such row; `prof devices` lists them", as));
  DevicePeaks peaks = *row;
  if (const DevicePeaks* const base = is_users(row) ? find(as, user_rows_) : nullptr) fill_from(*base, peaks);
  peaks.origin = PeakOrigin::User;
  const std::string filled = is_users(row) && !peaks.reason.empty() ? "; " + peaks.reason : "";
  peaks.reason = fmt::format("taken as {} because --device-as says so{}", row->name, filled);
  return peaks;
}

DevicePeaks DeviceTable::by_name(const Device& device, size_t from) const {
  const uint64_t units = property(device, "numSms");
  if (const DevicePeaks* const row = find(device.name, from)) {
    // A MIG slice has the name of the whole GPU and fewer SMs.
    if (units != 0 && row->units != 0 && units != row->units && !row->approximate)
      return computed(device, fmt::format("'{}' with {} SMs is not the GPU of the table, which has {}", device.name,
                                          units, row->units));
    DevicePeaks peaks = *row;
    if (is_users(row)) fill_from(by_name(device, user_rows_), peaks);
    return peaks;
  }
  if (const std::string_view key = guessed_row(device_key(device.name), units, property(device, "totalGlobalMem"));
      !key.empty()) {
    const DevicePeaks* const row = find(key, from);
    DevicePeaks peaks = *row;
    if (is_users(row)) fill_from(*find(key, user_rows_), peaks);
    peaks.origin = PeakOrigin::Guessed;
    const std::string filled = is_users(row) && !peaks.reason.empty() ? "; " + peaks.reason : "";
    peaks.reason = fmt::format("'{}' is several GPUs; by SMs and memory it is {}{}", device.name, peaks.name, filled);
    return peaks;
  }
  return computed(device, device.name.empty() ? "the trace does not name the device"
                                              : fmt::format("'{}' is not in the table of devices", device.name));
}

}  // namespace prof::analyzer
