#include "analyzer/reports/advise/advise_kernel_lines.h"

#include "analyzer/analysis/kernel_lines/kernel_stalls.h"
#include "analyzer/analysis/kernel_lines/stall_reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace prof::analyzer {

namespace {

constexpr size_t kMostKernels = 3, kMostStalls = 2;
constexpr double kLeastKernel = 0.1, kLeastStall = 0.1;

// The line of a kernel with most samples of a reason: "kernels.cu:5", or "kernel+0x1a0".
std::string line_of(const KernelSums& sums, uint32_t kernel, StringId reason) {
  std::map<std::string, double> cycles;
  for (uint32_t p = 0; p < sums.by_place().size(); ++p) {
    const PcPlace& place = sums.places().places()[p];
    if (sums.by_place()[p].all.samples == 0 || sums.kernel_of(place.function) != kernel) continue;
    if (const double of = sums.by_place()[p].cycles_of(reason); of > 0) cycles[sums.place_text(place)] += of;
  }
  const auto most =
      std::max_element(cycles.begin(), cycles.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == cycles.end() ? std::string() : most->first;
}

}  // namespace

std::vector<std::string> kernel_line_sentences(const AnalysisInput& input) {
  std::vector<std::string> sentences;
  if (input.trace.pc_samples.empty()) return sentences;
  const KernelSums sums(input);
  for (uint32_t k = 0; k < std::min(kMostKernels, sums.kernels().size()); ++k) {
    const KernelStalls& kernel = sums.kernels()[k];
    if (kernel.sums.all.cycles < kLeastKernel * sums.whole().cycles) break;
    std::string text, action;
    size_t stalls = 0;
    for (const StallSums::Reason& each : kernel.sums.ordered()) {
      const StallReason reason = stall_reason(input.trace.text(each.name));
      const double share = each.sum.cycles / kernel.sums.all.cycles;
      if (share < kLeastStall || stalls == kMostStalls) break;
      if (reason.name == kIssued || reason.name == kReady) continue;
      const std::string line = line_of(sums, k, each.name);
      text += stalls++ == 0 ? fmt::format("{:.1f} % of its samples {}", 100 * share, reason.words)
                            : fmt::format("; {:.1f} % {}", 100 * share, reason.words);
      if (!line.empty()) text += fmt::format(", most at {}", line);
      if (action.empty()) action = reason.action;
    }
    if (text.empty()) continue;
    sentences.push_back(fmt::format("kernel {}, {:.1f} % of GPU time (estimate, +- {:.1f}): {}{}{}",
                                    sums.kernel_name(k), 100 * kernel.sums.all.cycles / sums.whole().cycles,
                                    100 * share_half_width(kernel.sums.all, sums.whole()), text,
                                    action.empty() ? "" : "; try: ", action));
  }
  return sentences;
}

}  // namespace prof::analyzer
