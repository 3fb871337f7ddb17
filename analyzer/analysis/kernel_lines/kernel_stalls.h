// What do the PC samples of a selection say about each kernel and each source line? Sums over processes and devices;
// `--group-by` of reports narrows the selection instead. Used by stalls, hot-lines, sass, advise, flame and the page.
#pragma once

#include "analyzer/analysis/kernel_lines/pc_places.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

// All functions of one mangled name.
struct KernelStalls {
  StringId name{};                  // mangled, of the trace
  std::vector<uint32_t> functions;  // indices of PcPlaces::functions()
  StallSums sums;
  uint64_t lined = 0;       // samples with a source line
  uint64_t ambiguous = 0;   // samples that may belong to another function
  uint64_t launches = 0;    // GPU operations of this name; 0: a device function, or none was timed
  int64_t gpu_time_ns = 0;  // of these
  std::string problem{};    // of the function with most instructions without lines; empty: none
};

// A source line, or an instruction that has none.
struct LineStalls {
  SymbolFrame frame{};  // the innermost one, texts of PcPlaces; line 0: an instruction without a line
  uint64_t offset = 0;  // of such an instruction
  StallSums sums;
  // Cycles by index of KernelSums::kernels, and the place with most of them by calls: (place, cycles).
  std::vector<std::pair<uint32_t, SampleSum>> kernels;
  std::vector<std::pair<uint32_t, double>> places;  // one for each chain of calls: a place that has it
  std::vector<uint32_t> all_places;
};

// The GPU time of a line or reason: an estimate.
struct EstimatedTime {
  double ns = 0, half_ns = 0;  // half of the 95 % interval
  bool whole = true;           // false: kernels without GPU times are missing
};

class KernelSums {
 public:
  explicit KernelSums(const AnalysisInput& input);

  bool any() const { return whole_.samples != 0; }
  const PcPlaces& places() const { return places_; }
  const std::vector<StallSums>& by_place() const { return by_place_; }
  // By GPU time, the largest first. Those without one: by their share of the samples.
  const std::vector<KernelStalls>& kernels() const { return kernels_; }
  const SampleSum& non_user() const { return non_user_; }                       // of kernels that are not the program's
  uint64_t without_cubin() const { return without_cubin_; }                     // samples: missing or damaged
  const SampleSum& whole() const { return whole_; }                             // of all: the base of shares
  uint32_t kernel_of(uint32_t function) const { return kernel_of_[function]; }  // index of kernels()
  // The measured time of the kernel, in percent of that of all kernels, also of those without samples. Nothing if it
  // has no GPU times.
  std::optional<double> time_percent(const KernelStalls& kernel) const;
  int64_t gpu_time_ns() const { return gpu_time_ns_; }  // of all kernels
  // The sum of the estimates of kernels by the share of their samples: kernel time × cycles ÷ cycles of the kernel.
  EstimatedTime time(const std::vector<std::pair<uint32_t, SampleSum>>& of_kernels) const;
  // By estimated time, then by cycles, the largest first.
  std::vector<LineStalls> lines() const;
  std::string kernel_name(uint32_t kernel) const;
  // "kernels.cu:5"; of an instruction without a line "kernel+0x1a0". `whole`: with the folders of the file.
  std::string line_text(const LineStalls& line, bool whole) const;
  std::string place_text(const PcPlace& place) const;                 // the same of an instruction, without folders
  std::string offset_text(uint32_t function, uint64_t offset) const;  // "kernel+0x1a0"
  // "scaled in scale_kernel (kernels.cu:5)": the calls around the innermost function, innermost first. Empty: not
  // inlined.
  std::string calls_text(const PcPlace& place) const;

 private:
  const AnalysisInput& input_;
  const PcPlaces& places_;
  std::vector<StallSums> by_place_;
  std::vector<KernelStalls> kernels_;
  std::vector<uint32_t> kernel_of_;
  SampleSum non_user_, whole_;
  uint64_t without_cubin_ = 0;
  int64_t gpu_time_ns_ = 0;
};

// "kernels.cu:5": a line without the folders of its file.
std::string short_place(std::string_view file, uint32_t line);

// "64.0 % wait for global or local memory, 12.0 % wait at a barrier": reasons with at least 1 % of the samples, at most
// `most` of them.
std::string reasons_text(const Trace& trace, const StallSums& sums, size_t most);
// Share of the samples whose warp issued, and of those in whose cycle the scheduler issued, in percent. Nothing without
// samples.
std::optional<double> issue_percent(const Trace& trace, const StallSums& sums);
std::optional<double> cycles_with_issue_percent(const StallSums& sums);
// Reasons of all kernels by cycles, the largest first. The warp's own issue is not among them.
std::vector<StringId> main_stalls(const KernelSums& sums, const Trace& trace, size_t most);

// Why a report has no rows: how to record samples.
std::string no_pc_samples_note(const Trace& trace);
// How many samples were taken in the selection, and what is known of them: a line of every report that uses samples.
std::string pc_coverage(const AnalysisInput& input, const KernelSums& sums);
// The lines of a header: what an estimate is, and how many samples were dropped or are ambiguous.
std::vector<std::string> pc_notes(const AnalysisInput& input, const KernelSums& sums);

}  // namespace prof::analyzer
