#include "analyzer/reports/advise/advise_kernel_lines.h"

#include "analyzer/analysis/kernel_lines/stall_causes.h"
#include "analyzer/analysis/kernel_lines/stall_reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

namespace {

constexpr size_t kMostKernels = 3, kMostStalls = 2;
constexpr double kLeastKernel = 0.1, kLeastStall = 0.1;

// The line of a kernel with most samples of a reason: "kernels.cu:5", or "kernel+0x1a0". And what they wait for.
std::string line_of(const KernelSums& sums, const StallCauses& causes, uint32_t kernel, StringId reason,
                    std::string_view reason_name) {
  std::map<std::string, std::pair<double, std::vector<uint32_t>>> lines;
  for (uint32_t p = 0; p < sums.by_place().size(); ++p) {
    const PcPlace& place = sums.places().places()[p];
    if (sums.by_place()[p].all.samples == 0 || sums.kernel_of(place.function) != kernel) continue;
    const double of = sums.by_place()[p].cycles_of(reason);
    if (of <= 0) continue;
    auto& [cycles, places] = lines[sums.place_text(place)];
    cycles += of;
    places.push_back(p);
  }
  const auto most = std::max_element(lines.begin(), lines.end(),
                                     [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  if (most == lines.end()) return {};
  const std::string cause = causes.causes(most->second.second, 1, reason_name);
  return cause.empty() || cause.starts_with('[') ? most->first : fmt::format("{} (waits for: {})", most->first, cause);
}

}  // namespace

std::vector<std::string> kernel_line_sentences(const AnalysisInput& input) {
  std::vector<std::string> sentences;
  if (input.trace.pc_samples.empty()) return sentences;
  const KernelSums sums(input);
  std::vector<uint32_t> functions;
  for (size_t k = 0; k < std::min(kMostKernels, sums.kernels().size()); ++k) {
    const KernelStalls& kernel = sums.kernels()[k];
    functions.insert(functions.end(), kernel.functions.begin(), kernel.functions.end());
  }
  const StallCauses causes(input, sums, functions);
  for (uint32_t k = 0; k < std::min(kMostKernels, sums.kernels().size()); ++k) {
    const KernelStalls& kernel = sums.kernels()[k];
    const std::optional<double> time_percent = sums.time_percent(kernel);
    const double sample_percent = 100 * kernel.sums.all.cycles / sums.whole().cycles;
    if (time_percent.value_or(sample_percent) < 100 * kLeastKernel) break;
    std::string text, action;
    size_t stalls = 0;
    for (const StallSums::Reason& each : kernel.sums.ordered()) {
      const StallReason reason = stall_reason(input.trace.text(each.name));
      const double share = each.sum.cycles / kernel.sums.all.cycles;
      if (share < kLeastStall || stalls == kMostStalls) break;
      if (reason.name == kIssued || reason.name == kReady) continue;
      const std::string line = line_of(sums, causes, k, each.name, reason.name);
      text += stalls++ == 0 ? fmt::format("{:.1f} % of its samples {}", 100 * share, reason.words)
                            : fmt::format("; {:.1f} % {}", 100 * share, reason.words);
      if (!line.empty()) text += fmt::format(", most at {}", line);
      if (action.empty()) action = reason.action;
    }
    if (text.empty()) continue;
    const std::string part = time_percent ? fmt::format("{:.1f} % of GPU time", *time_percent)
                                          : fmt::format("{:.1f} % (+- {:.1f}) of the samples", sample_percent,
                                                        100 * share_half_width(kernel.sums.all, sums.whole()));
    sentences.push_back(
        fmt::format("kernel {}, {}: {}{}{}", sums.kernel_name(k), part, text, action.empty() ? "" : "; try: ", action));
  }
  sentences.insert(sentences.end(), causes.notes().begin(), causes.notes().end());
  sentences.push_back(pc_coverage(input, sums));
  return sentences;
}

}  // namespace prof::analyzer
