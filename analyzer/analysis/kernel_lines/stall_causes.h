// What do the warps wait for that stall at an instruction? A PC sample has the instruction that waits. This is about
// the one that it waits for, by a backward slice (symbols/sass_waits.h). Used by hot-lines, sass and advise.
#pragma once

#include "analyzer/analysis/kernel_lines/kernel_stalls.h"
#include "analyzer/symbols/sass_operation.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

// What warps with a stall reason wait for. None: not for an earlier instruction.
SassStall stall_of(std::string_view cupti_name);

// The functions that are disassembled: those with most cycles that wait for an earlier instruction.
inline constexpr size_t kMostCauseFunctions = 20;

class StallCauses {
 public:
  // Of kMostCauseFunctions functions.
  StallCauses(const AnalysisInput& input, const KernelSums& sums);
  // Of these functions alone, by index of PcPlaces::functions().
  StallCauses(const AnalysisInput& input, const KernelSums& sums, std::span<const uint32_t> functions);

  // "global load at kernels.cu:12", or "one of 2 global loads: kernels.cu:12, kernels.cu:14": what the place waits for
  // with that reason. Empty: warps with that reason wait for no earlier instruction, or the function has no
  // instructions.
  std::string_view cause(uint32_t place, StringId reason) const;
  // The causes of places, by the cycles of the selection that wait for them: the largest first, at most `most` of them,
  // joined by "; ". Empty: no cause is known. `reason`: of this reason alone.
  std::string causes(std::span<const uint32_t> places, size_t most, std::string_view reason = {}) const;
  // Which functions have no causes, and why: a line for each reason.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void find(std::span<const uint32_t> functions);

  const AnalysisInput& input_;
  const KernelSums& sums_;
  std::map<std::pair<uint32_t, SassStall>, std::string> texts_;  // by place
  std::vector<std::string> notes_;
};

}  // namespace prof::analyzer
