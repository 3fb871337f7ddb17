// Which instruction, function and source lines does each PC sample belong to? Derived once from the model: samples are
// many, the instructions that have some are few. Lines come from the cubins that the recorder kept beside the log
// (symbols/cubins_of_log.h); where they are missing, the reason is kept for the rows of reports.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/symbols/cubin_lines.h"
#include "analyzer/symbols/cubins_of_log.h"

#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// A function of one cubin on one device: a kernel, or a device function that was not inlined.
struct PcFunction {
  ProcessId process{};
  DeviceId device{};
  StringId name{};        // mangled, of the trace
  uint32_t cubin = 0;     // index of PcSampleTable::cubins
  std::string problem{};  // why it has no instructions or lines; empty: no error
};

// An instruction of a function.
struct PcPlace {
  uint32_t function = 0;  // index of PcPlaces::functions()
  uint64_t offset = 0;    // bytes from the function's first instruction
  uint32_t first_frame = 0, frames = 0;
};

// 2^period, the cycles that a sample represents. Made of its bits: std::ldexp() takes as long as all else in a sum.
inline double period_cycles(uint8_t period) { return std::bit_cast<double>((uint64_t{1023} + period) << 52); }

// Sums of samples. Samples of different periods count by the cycles that they represent.
struct SampleSum {
  uint64_t samples = 0;
  double cycles = 0;   // of a multiprocessor
  double squares = 0;  // sum of squared cycles of the samples, for intervals

  void add(uint64_t count, uint8_t period) {
    const double weight = period_cycles(period);
    samples += count;
    cycles += static_cast<double>(count) * weight;
    squares += static_cast<double>(count) * weight * weight;
  }
  void add(const SampleSum& other);
};

// Half of the 95 % interval of the share part ÷ whole, between 0 and 1: the larger distance to the ends of Wilson's
// interval, for (Σw)² ÷ Σw² independent samples (Kish). 0 without samples.
double share_half_width(const SampleSum& part, const SampleSum& whole);

struct StallSums {
  struct Reason {
    StringId name{};  // CUPTI's, of the trace
    SampleSum sum;
  };
  SampleSum all;
  double not_issued_cycles = 0;  // of `all`: the scheduler issued no instruction
  std::vector<Reason> reasons;   // each once

  void add(StringId reason, uint64_t samples, uint64_t not_issued, uint8_t period);
  void add(const StallSums& other);
  double cycles_of(StringId reason) const;
  // By cycles, the largest first.
  std::vector<Reason> ordered() const;
};

class PcPlaces {
 public:
  PcPlaces(const Trace& trace, const Views& views);

  const std::vector<PcFunction>& functions() const { return functions_; }
  const std::vector<PcPlace>& places() const { return places_; }
  // Innermost function first; the last one is the place's function. Without a line: empty.
  std::span<const SymbolFrame> frames(const PcPlace& place) const {
    return {frames_.data() + place.first_frame, place.frames};
  }
  // The place of a row of Trace::pc_samples.
  uint32_t place_of(size_t row) const { return place_of_[row]; }
  std::string_view text(StringId id) const { return strings_[id]; }  // of frames
  // By place: sums of the selected samples. Reads all samples.
  std::vector<StallSums> sums(const Selection& selection) const;
  // The name of a function as reports show kernels.
  std::string name(const PcFunction& function, NameForm form) const;
  // The name of a function of a frame, without its signature unless the form is another one.
  std::string name(const SymbolFrame& frame, NameForm form) const;
  // The cubin of a function. Null: none, and `why` has the reason.
  const CubinFile* cubin(const PcFunction& function, std::string& why) const;
  std::span<const uint8_t> cubin_bytes(const PcFunction& function) const { return contents_[function.cubin]; }

 private:
  void find_places();
  void find_cubins();
  void find_lines();

  const Trace& trace_;
  const Views& views_;
  Column<uint32_t> place_of_;  // by row of Trace::pc_samples
  std::vector<PcFunction> functions_;
  std::vector<PcPlace> places_;
  std::vector<SymbolFrame> frames_;
  StringTable strings_;
  std::map<std::string, std::unique_ptr<KeptCubins>> kept_;  // by path of the log
  std::vector<std::span<const uint8_t>> contents_;           // by cubin
  std::vector<std::unique_ptr<CubinFile>> cubins_;           // by cubin; null: see problems_
  std::vector<std::string> problems_;                        // by cubin
};

inline const PcPlaces& pc_places(const Views& views) { return views.derived<PcPlaces>(); }

// Whether a report covers a batch or sample: its device, its process, and the end of its batch.
inline bool selects_pc(const Trace& trace, const Selection& selection, DeviceId device, int64_t time_ns) {
  const Device& of = trace.device(device);
  return selection.has_process(of.process) && time_ns >= selection.from_ns && time_ns < selection.to_ns &&
         (selection.devices.empty() ||
          std::find(selection.devices.begin(), selection.devices.end(), of.ordinal) != selection.devices.end());
}

}  // namespace prof::analyzer
