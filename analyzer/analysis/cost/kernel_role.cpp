#include "analyzer/analysis/cost/kernel_role.h"

#include "analyzer/analysis/cost/library_call_text.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace prof::analyzer {

namespace {

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

}  // namespace

KernelRole kernel_role(std::string_view as_written) {
  std::string name(as_written);
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  KernelRole role;
  role.tf32 = has_any(name, {"tf32", "s1688", "nvjet"});
  const bool helps = has_any(
      name, {"splitkreduce", "nchwtonhwc", "nhwctonchw", "transpose", "reduction", "winogradwgraddata",
             "winogradwgraddelta", "winogradwgradoutput", "winogradforward", "winogradtiles", "reduce_kernel",
             "workspace", "scalepacked", "memset", "im2col", "col2im", "convert_dq", "dot_do_o", "compute_dot"});
  const bool works = has_any(name, {"gemm", "conv", "fprop", "dgrad", "wgrad", "flash", "fmha", "attention", "sdpa",
                                    "nvjet", "xmma", "cutlass", "cijk", "gemv", "mma_"});
  if (helps) {
    role.part = KernelPart::Helper;
  } else {
    role.part = works ? KernelPart::Main : KernelPart::Other;
    role.input_gradient = has_any(name, {"dgrad"});
    role.weight_gradient = has_any(name, {"wgrad"});
  }
  return role;
}

std::optional<PeakType> kernel_peak(const OpCost& cost, const KernelRole& role) {
  if (!cost.matrix) return vector_peak(cost.type);
  return matrix_peak(cost.type, role.tf32 ? PeakType::Tf32 : PeakType::Fp32);
}

const KernelRole& KernelRoles::of(const GpuOperation& operation) {
  const KernelId id = names_.named_by(operation);
  std::optional<KernelRole>& role = roles_[index(id)];
  if (!role) role = kernel_role(names_.name(id, NameForm::Full));
  return *role;
}

}  // namespace prof::analyzer
