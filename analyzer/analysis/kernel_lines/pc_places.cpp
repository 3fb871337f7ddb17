#include "analyzer/analysis/kernel_lines/pc_places.h"

#include "analyzer/base/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

// The places of one function by offset. Instructions have 16 bytes, so nearly all offsets have a slot of their own.
class Offsets {
 public:
  uint32_t& operator[](uint64_t offset) {
    constexpr uint64_t kBytes = 16, kMostSlots = uint64_t{1} << 16;
    const uint64_t slot = offset / kBytes;
    if (offset % kBytes != 0 || slot >= kMostSlots) return others_[offset];
    if (slot >= slots_.size()) slots_.resize(std::max<size_t>(slot + 1, 2 * slots_.size()));
    return slots_[slot];
  }

 private:
  std::vector<uint32_t> slots_;  // 1 + place; 0: none
  std::unordered_map<uint64_t, uint32_t> others_;
};

}  // namespace

void SampleSum::add(const SampleSum& other) {
  samples += other.samples;
  cycles += other.cycles;
  squares += other.squares;
}

double share_half_width(const SampleSum& part, const SampleSum& whole) {
  if (whole.cycles <= 0 || whole.squares <= 0) return 0;
  constexpr double kNormalQuantile = 1.959963985;
  const double share = std::min(1.0, part.cycles / whole.cycles), number = whole.cycles * whole.cycles / whole.squares;
  const double scale = 1 + kNormalQuantile * kNormalQuantile / number;
  const double middle = (share + kNormalQuantile * kNormalQuantile / (2 * number)) / scale;
  const double half =
      kNormalQuantile / scale *
      std::sqrt(share * (1 - share) / number + kNormalQuantile * kNormalQuantile / (4 * number * number));
  return std::max(share - (middle - half), middle + half - share);
}

void StallSums::add(StringId reason, uint64_t samples, uint64_t not_issued, uint8_t period) {
  all.add(samples, period);
  not_issued_cycles += static_cast<double>(not_issued) * period_cycles(period);
  const auto found =
      std::find_if(reasons.begin(), reasons.end(), [&](const Reason& each) { return each.name == reason; });
  (found != reasons.end() ? *found : reasons.emplace_back(Reason{reason, {}})).sum.add(samples, period);
}

void StallSums::add(const StallSums& other) {
  all.add(other.all);
  not_issued_cycles += other.not_issued_cycles;
  for (const Reason& each : other.reasons) {
    const auto found =
        std::find_if(reasons.begin(), reasons.end(), [&](const Reason& own) { return own.name == each.name; });
    (found != reasons.end() ? *found : reasons.emplace_back(Reason{each.name, {}})).sum.add(each.sum);
  }
}

double StallSums::cycles_of(StringId reason) const {
  for (const Reason& each : reasons) {
    if (each.name == reason) return each.sum.cycles;
  }
  return 0;
}

std::vector<StallSums::Reason> StallSums::ordered() const {
  std::vector<Reason> order = reasons;
  std::stable_sort(order.begin(), order.end(), [](const Reason& a, const Reason& b) {
    return std::tuple(-a.sum.cycles, static_cast<uint32_t>(a.name)) <
           std::tuple(-b.sum.cycles, static_cast<uint32_t>(b.name));
  });
  return order;
}

PcPlaces::PcPlaces(const Trace& trace, const Views& views) : trace_(trace), views_(views) {
  find_places();
  find_cubins();
  find_lines();
}

void PcPlaces::find_places() {
  const PcSampleTable& samples = trace_.pc_samples;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> known;  // device, cubin, name
  std::vector<Offsets> offsets;                                        // by function
  place_of_.resize(samples.size());
  std::tuple<uint32_t, uint32_t, uint32_t> last{kNone, kNone, kNone};
  uint32_t function = kNone;
  for (size_t row = 0; row < samples.size(); ++row) {
    const std::tuple key{static_cast<uint32_t>(samples.device[row]), samples.cubin[row],
                         static_cast<uint32_t>(samples.function[row])};
    if (key != last || function == kNone) {
      const auto [found, added] = known.try_emplace(key, static_cast<uint32_t>(functions_.size()));
      if (added) {
        const DeviceId device = samples.device[row];
        functions_.push_back({trace_.device(device).process, device, samples.function[row], samples.cubin[row]});
        offsets.emplace_back();
      }
      function = found->second;
      last = key;
    }
    uint32_t& place = offsets[function][samples.offset[row]];
    if (place == 0) {
      places_.push_back({function, samples.offset[row]});
      place = static_cast<uint32_t>(places_.size());
    }
    place_of_[row] = place - 1;
  }
}

void PcPlaces::find_cubins() {
  const std::vector<PcCubin>& cubins = trace_.pc_samples.cubins;
  contents_.resize(cubins.size());
  cubins_.resize(cubins.size());
  problems_.resize(cubins.size());
  problems_[0] = "the log does not name the cubin";
  std::vector<bool> wanted(cubins.size());
  for (const PcFunction& function : functions_) wanted[function.cubin] = true;
  for (size_t i = 1; i < cubins.size(); ++i) {
    if (!wanted[i]) continue;
    const PcCubin& cubin = cubins[i];
    if (!cubin.kept) {
      problems_[i] = "the recorder did not keep the cubin (pc_cubins_not_kept)";
      continue;
    }
    std::unique_ptr<KeptCubins>& kept = kept_[cubin.log];
    if (kept == nullptr) kept = std::make_unique<KeptCubins>(cubin.log);
    contents_[i] = kept->find(cubin.crc, cubin.bytes, problems_[i]);
    if (contents_[i].empty()) continue;
    std::string why;
    cubins_[i] = CubinFile::from_memory(contents_[i], why);
    if (cubins_[i] == nullptr) problems_[i] = fmt::format("cubin {:#x}: {}", cubin.crc, why);
  }
}

void PcPlaces::find_lines() {
  std::vector<CubinRequest> requests;
  std::vector<std::vector<uint32_t>> of_request;            // places, by request
  std::vector<uint32_t> request_of(cubins_.size(), kNone);  // by cubin
  std::vector<const CubinFunction*> found(functions_.size());
  for (size_t f = 0; f < functions_.size(); ++f) {
    PcFunction& function = functions_[f];
    const CubinFile* const cubin = cubins_[function.cubin].get();
    if (cubin == nullptr) {
      function.problem = problems_[function.cubin];
      continue;
    }
    found[f] = cubin->find(trace_.text(function.name));
    if (found[f] == nullptr) {
      function.problem = "the cubin has no function of this name";
      continue;
    }
    uint32_t& request = request_of[function.cubin];
    if (request != kNone) continue;
    request = static_cast<uint32_t>(requests.size());
    requests.push_back({cubin, {}});
    of_request.emplace_back();
  }
  for (uint32_t p = 0; p < places_.size(); ++p) {
    const PcPlace& place = places_[p];
    if (found[place.function] == nullptr) continue;
    const uint32_t request = request_of[functions_[place.function].cubin];
    requests[request].pcs.push_back({found[place.function], place.offset});
    of_request[request].push_back(p);
  }
  if (requests.empty()) return;
  std::vector<CubinLines> lines = find_cubin_lines(requests, strings_);
  std::vector<bool> outside(functions_.size());
  for (size_t r = 0; r < requests.size(); ++r) {
    const auto base = static_cast<uint32_t>(frames_.size());
    frames_.insert(frames_.end(), lines[r].frames.begin(), lines[r].frames.end());
    for (size_t i = 0; i < of_request[r].size(); ++i) {
      PcPlace& place = places_[of_request[r][i]];
      const CubinLines::Span span = lines[r].of_pc[i];
      if (span.count == 0) outside[place.function] = true;
      if (span.count == 0 || frames_[base + span.first].line == 0) continue;
      place.first_frame = base + span.first;
      place.frames = span.count;
    }
  }
  for (size_t f = 0; f < functions_.size(); ++f) {
    if (found[f] == nullptr) continue;
    functions_[f].problem = lines[request_of[functions_[f].cubin]].problem;
    if (functions_[f].problem.empty() && outside[f])
      functions_[f].problem = "samples of instructions that are outside of the function in the cubin";
  }
}

std::vector<StallSums> PcPlaces::sums(const Selection& selection) const {
  const PcSampleTable& samples = trace_.pc_samples;
  std::vector<StallSums> sums(places_.size());
  const bool all = selection.all();
  // Each worker adds up a part of the places, so that sums do not depend on the number of workers. Nearly all time is
  // that of memory accesses to the sums.
  constexpr size_t kRowsOfAWorker = 200'000;
  const size_t parts = std::clamp<size_t>(samples.size() / kRowsOfAWorker, 1, worker_count());
  parallel_for(parts, [&](size_t part) {
    const auto first = static_cast<uint32_t>(part * places_.size() / parts),
               last = static_cast<uint32_t>((part + 1) * places_.size() / parts);
    for (size_t row = 0; row < samples.size(); ++row) {
      const uint32_t place = place_of_[row];
      if (place < first || place >= last) continue;
      if (!all && !selects_pc(trace_, selection, samples.device[row], samples.time_ns[row])) continue;
      sums[place].add(samples.reason[row], samples.samples[row], samples.not_issued[row], samples.period[row]);
    }
  });
  return sums;
}

std::string PcPlaces::name(const PcFunction& function, NameForm form) const {
  const std::string_view mangled = trace_.text(function.name);
  if (mangled.empty()) return "[unknown kernel]";
  const auto kernel = std::find_if(trace_.kernels.begin(), trace_.kernels.end(),
                                   [&](const Kernel& each) { return each.name == function.name; });
  if (kernel != trace_.kernels.end())
    return std::string(views_.names().name(KernelId{static_cast<uint32_t>(kernel - trace_.kernels.begin())}, form));
  if (form == NameForm::Mangled) return std::string(mangled);
  const std::string full = demangled_name(mangled);
  return form == NameForm::Full ? full : short_function_name(full);
}

std::string PcPlaces::name(const SymbolFrame& frame, NameForm form) const {
  const std::string_view mangled = strings_[frame.function];
  if (form == NameForm::Mangled) return std::string(mangled);
  const std::string full = demangled_name(mangled);
  return form == NameForm::Full ? full : short_function_name(full);
}

const CubinFile* PcPlaces::cubin(const PcFunction& function, std::string& why) const {
  if (cubins_[function.cubin] == nullptr) why = problems_[function.cubin];
  return cubins_[function.cubin].get();
}

}  // namespace prof::analyzer
