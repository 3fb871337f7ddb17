#include "analyzer/analysis/cost/peak_rates.h"

#include "analyzer/base/saturated.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

std::optional<double> ratio(double above, double below, double scale) {
  if (below <= 0) return std::nullopt;
  return above / below * scale;
}

void append(std::string& text, std::string_view part, std::string_view between = ", ") {
  if (part.empty()) return;
  if (!text.empty()) text += between;
  text += part;
}

NoCost most_frequent(const std::array<uint64_t, 16>& missing) {
  const auto most = std::max_element(missing.begin(), missing.end());
  return *most == 0 ? NoCost::None : static_cast<NoCost>(most - missing.begin());
}

// The number of launches that should have a number but have none.
uint64_t really_missing(const std::array<uint64_t, 16>& missing) {
  uint64_t sum = 0;
  for (size_t reason = 0; reason < missing.size(); ++reason) {
    const auto why = static_cast<NoCost>(reason);
    if (why != NoCost::Helper && why != NoCost::NotCounted && why != NoCost::CountedInside) sum += missing[reason];
  }
  return sum;
}

// The shortest kernels of current GPUs take one to two microseconds whatever they do. A launch is bound by this if its
// own cost would take less time, and if this is at least half of its duration. A longer duration has another cause.
constexpr double kShortestKernelNs = 2000;
bool is_launch_bound(double ideal_ns, double taken_ns) {
  return ideal_ns < kShortestKernelNs && taken_ns <= 2 * kShortestKernelNs;
}

}  // namespace

PeaksOfDevices peaks_of_devices(const AnalysisInput& input) {
  DeviceTable table;
  for (const std::string& file : input.options.devices) table.read_file(file);
  PeaksOfDevices answer;
  for (const Device& device : input.trace.devices) {
    answer.of_device.push_back(table.of(device, input.options.device_as));
    const DevicePeaks& peaks = answer.of_device.back();
    std::string note = fmt::format("device {}: ", device.ordinal);
    if (peaks.known()) {
      note += fmt::format("peaks of {} ({}, dense)", peaks.name, peak_origin_name(peaks.origin));
      append(note, peaks.reason);
    } else {
      note += fmt::format("no peaks: {}", peaks.reason);
    }
    if (std::find(answer.notes.begin(), answer.notes.end(), note) == answer.notes.end()) answer.notes.push_back(note);
  }
  return answer;
}

double peak_flops(const DevicePeaks& device, PeakType type) {
  if (type == PeakType::Fp64Matrix && device.peak(type) == 0) type = PeakType::Fp64;
  return device.peak(type) * 1e12;
}

IdealTime ideal_time(const KernelCost& cost, const DevicePeaks& device) {
  IdealTime ideal;
  const double peak = cost.flops && cost.peak ? peak_flops(device, *cost.peak) : 0;
  if (peak > 0) ideal.compute_ns = static_cast<double>(*cost.flops) / peak * 1e9;
  if (cost.bytes && device.bandwidth_gbs > 0)
    ideal.memory_ns = static_cast<double>(*cost.bytes) / device.bandwidth_gbs;  // 10^9 bytes/s = bytes/ns
  // FLOPs without a peak may take longer than the bytes.
  ideal.known = ideal.longer_ns() > 0 && (cost.flops.value_or(0) == 0 || ideal.compute_ns > 0);
  return ideal;
}

void PeakSums::add(const KernelCost& cost, int64_t duration_ns, const DevicePeaks& device) {
  ++count;
  grow(total_ns, duration_ns);
  const auto ns = static_cast<double>(duration_ns);
  const IdealTime ideal = ideal_time(cost, device);
  const auto& [compute_ns, memory_ns, has_ideal] = ideal;
  if (cost.flops) {
    ++with_flops;
    flops += static_cast<double>(*cost.flops);
    grow(flops_ns, duration_ns);
    sources |= 1u << static_cast<unsigned>(cost.flops_source);
    if (cost.peak) peaks |= 1u << static_cast<unsigned>(*cost.peak);
    if (cost.peak && peak_flops(device, *cost.peak) > 0) {
      flops_at_peak_ns += compute_ns;
      grow(flops_with_peak_ns, duration_ns);
      flops_with_peak += static_cast<double>(*cost.flops);
    } else if (device.known() && *cost.flops != 0) {
      ++without_peak;
    }
  } else {
    ++missing_flops[static_cast<size_t>(cost.no_flops)];
  }
  if (cost.useful_flops) {
    ++with_useful;
    useful_flops += static_cast<double>(*cost.useful_flops);
    grow(useful_ns, duration_ns);
  } else if (cost.flops) {
    ++missing_useful[static_cast<size_t>(cost.no_useful)];
  }
  if (cost.causal) ++causal;
  if (cost.bytes) {
    ++with_bytes;
    bytes += static_cast<double>(*cost.bytes);
    grow(bytes_ns, duration_ns);
    sources |= 1u << static_cast<unsigned>(cost.bytes_source);
    if (device.bandwidth_gbs > 0) {
      bytes_at_peak_ns += memory_ns;
      grow(bytes_with_peak_ns, duration_ns);
    }
  } else {
    ++missing_bytes[static_cast<size_t>(cost.no_bytes)];
  }
  if (cost.flops || cost.bytes) {
    types |= 1u << static_cast<unsigned>(cost.type);
    assumed = assumed || cost.assumed;
  }
  if (has_ideal) {
    const double longer_ns = ideal.longer_ns();
    ideal_ns += longer_ns;
    grow(with_ideal_ns, duration_ns);
    grow(judged_ns, duration_ns);
    if (is_launch_bound(longer_ns, ns)) grow(launch_bound_ns, duration_ns);
    if (compute_ns >= memory_ns) compute_bound_ns += longer_ns;
  }
  above_peak = above_peak || compute_ns > ns || memory_ns > ns;
}

void PeakSums::add_all(const PeakSums& other) {
  count += other.count;
  with_flops += other.with_flops;
  with_useful += other.with_useful;
  with_bytes += other.with_bytes;
  causal += other.causal;
  without_peak += other.without_peak;
  grow(total_ns, other.total_ns);
  flops += other.flops;
  useful_flops += other.useful_flops;
  bytes += other.bytes;
  grow(flops_ns, other.flops_ns);
  grow(useful_ns, other.useful_ns);
  grow(bytes_ns, other.bytes_ns);
  flops_at_peak_ns += other.flops_at_peak_ns;
  bytes_at_peak_ns += other.bytes_at_peak_ns;
  flops_with_peak += other.flops_with_peak;
  grow(flops_with_peak_ns, other.flops_with_peak_ns);
  grow(bytes_with_peak_ns, other.bytes_with_peak_ns);
  ideal_ns += other.ideal_ns;
  grow(with_ideal_ns, other.with_ideal_ns);
  compute_bound_ns += other.compute_bound_ns;
  grow(judged_ns, other.judged_ns);
  grow(launch_bound_ns, other.launch_bound_ns);
  above_peak = above_peak || other.above_peak;
  assumed = assumed || other.assumed;
  sources |= other.sources;
  types |= other.types;
  peaks |= other.peaks;
  for (size_t reason = 0; reason < missing_flops.size(); ++reason) {
    missing_flops[reason] += other.missing_flops[reason];
    missing_useful[reason] += other.missing_useful[reason];
    missing_bytes[reason] += other.missing_bytes[reason];
  }
}

void PeakSums::over(int64_t ns, int64_t with_ideal) {
  for (int64_t* const time : {&flops_ns, &useful_ns, &bytes_ns, &flops_with_peak_ns, &bytes_with_peak_ns}) {
    if (*time != 0) *time = ns;
  }
  total_ns = ns;
  with_ideal_ns = with_ideal;
}

// FLOPs per ns are 10^9 FLOPs per second.
std::optional<double> PeakSums::tera_flops() const { return ratio(flops, static_cast<double>(flops_ns), 1e-3); }
std::optional<double> PeakSums::useful_tera_flops() const {
  return ratio(useful_flops, static_cast<double>(useful_ns), 1e-3);
}
std::optional<double> PeakSums::giga_bytes() const { return ratio(bytes, static_cast<double>(bytes_ns), 1); }
std::optional<double> PeakSums::flops_percent() const {
  return ratio(flops_at_peak_ns, static_cast<double>(flops_with_peak_ns), 100);
}
std::optional<double> PeakSums::bytes_percent() const {
  return ratio(bytes_at_peak_ns, static_cast<double>(bytes_with_peak_ns), 100);
}
std::optional<double> PeakSums::intensity() const {
  if (with_flops == 0) return std::nullopt;
  return ratio(flops, bytes, 1);
}

std::string PeakSums::type_text() const {
  std::string text;
  for (unsigned type = 1; type <= static_cast<unsigned>(DataType::Complex128); ++type) {
    if ((types >> type & 1) == 0) continue;
    const bool tf32 =
        static_cast<DataType>(type) == DataType::Fp32 && (peaks >> static_cast<unsigned>(PeakType::Tf32) & 1);
    append(text, tf32 ? "fp32 (tf32)" : data_type_name(static_cast<DataType>(type)));
  }
  if (assumed) append(text, "assumed", " ");
  return text;
}

std::string PeakSums::source_text() const {
  std::string text;
  for (const CostSource source : {CostSource::Counters, CostSource::Library, CostSource::Nominal, CostSource::Shapes,
                                  CostSource::Inductor, CostSource::Event}) {
    if (sources >> static_cast<unsigned>(source) & 1) append(text, cost_source_name(source));
  }
  return text;
}

std::string PeakSums::note() const {
  std::string text;
  if (above_peak) text = "above the peak";
  if (causal != 0)
    append(text, causal == with_flops ? "causal" : fmt::format("causal: {} of {} launches", causal, count));
  if (without_peak != 0)
    append(text, without_peak == with_flops ? "no peak of its type"
                                            : fmt::format("no peak of {} of {} launches", without_peak, count));
  const NoCost flops_missing = most_frequent(missing_flops), bytes_missing = most_frequent(missing_bytes);
  if (with_flops == 0 && flops_missing == bytes_missing) {
    append(text, no_cost_text(flops_missing));
  } else {
    if (with_flops == 0 && flops_missing != NoCost::NotCounted)
      append(text, fmt::format("FLOPs: {}", no_cost_text(flops_missing)));
    if (with_bytes == 0) append(text, fmt::format("bytes: {}", no_cost_text(bytes_missing)));
  }
  const uint64_t no_flops = really_missing(missing_flops), no_bytes = really_missing(missing_bytes);
  if (with_flops != 0 && no_flops != 0) append(text, fmt::format("no FLOPs of {} of {} launches", no_flops, count));
  if (with_bytes != 0 && no_bytes != 0) append(text, fmt::format("no bytes of {} of {} launches", no_bytes, count));
  return text;
}

std::string PeakSums::useful_note() const {
  if (with_flops == 0) return {};
  if (with_useful == 0) return fmt::format("useful FLOPs: {}", no_cost_text(most_frequent(missing_useful)));
  const uint64_t none = with_flops - with_useful;
  return none == 0 ? std::string() : fmt::format("no useful FLOPs of {} of {} launches", none, count);
}

}  // namespace prof::analyzer
