// What is a kernel's part in an operator, and which units does it use, by its name?
#pragma once

#include "analyzer/analysis/cost/device_peaks.h"
#include "analyzer/analysis/cost/op_cost.h"
#include "analyzer/model/names.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// Main: it multiplies matrices, as its name has it. Helper: it prepares for or finishes what a main kernel does.
enum class KernelPart : uint8_t { Main, Other, Helper };
struct KernelRole {
  KernelPart part = KernelPart::Other;
  bool tf32 = false;  // it may use tensor cores for products of fp32
  bool input_gradient = false, weight_gradient = false;
};
// `name`: in full, in any case.
KernelRole kernel_role(std::string_view as_written);

// What the FLOPs of such a kernel are compared with; nothing: no peak is known for the type.
std::optional<PeakType> kernel_peak(const OpCost& cost, const KernelRole& role);

// KernelRoles reads each name of a trace's kernels once.
class KernelRoles {
 public:
  KernelRoles(const Trace& trace, const KernelNames& names) : names_(names), roles_(trace.kernels.size()) {}
  // Of a row of Trace::operations that has a kernel.
  const KernelRole& of(const GpuOperation& operation);

 private:
  const KernelNames& names_;
  std::vector<std::optional<KernelRole>> roles_;  // by KernelId of the name
};

}  // namespace prof::analyzer
