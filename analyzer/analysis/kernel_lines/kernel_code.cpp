#include "analyzer/analysis/kernel_lines/kernel_code.h"

#include "analyzer/base/parallel.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace prof::analyzer {

std::vector<const KernelCode*> KernelCodes::of(std::span<const uint32_t> functions) const {
  const std::lock_guard lock(mutex_);
  std::vector<const KernelCode*> codes;
  std::vector<std::pair<uint32_t, KernelCode*>> missing;
  for (const uint32_t each : functions) {
    const PcFunction& function = places_.functions()[each];
    const PcCubin& cubin = trace_.pc_samples.cubins[function.cubin];
    std::unique_ptr<KernelCode>& code = codes_[{cubin.crc, cubin.bytes, static_cast<uint32_t>(function.name)}];
    if (code == nullptr) {
      code = std::make_unique<KernelCode>();
      missing.emplace_back(each, code.get());
    }
    codes.push_back(code.get());
  }
  if (missing.empty()) return codes;
  const std::string nvdisasm = find_nvdisasm();
  const auto start = std::chrono::steady_clock::now();
  parallel_for(missing.size(), [&](size_t i) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < kMostSeconds) {
      read(missing[i].first, nvdisasm, *missing[i].second);
    } else {
      missing[i].second->problem = fmt::format("nvdisasm took more than {} s for other functions", kMostSeconds);
    }
  });
  return codes;
}

void KernelCodes::read(uint32_t number, const std::string& nvdisasm, KernelCode& to) const {
  const PcFunction& function = places_.functions()[number];
  const CubinFile* const cubin = places_.cubin(function, to.problem);
  const CubinFunction* const found = cubin == nullptr ? nullptr : cubin->find(trace_.text(function.name));
  if (found == nullptr) {
    if (to.problem.empty()) to.problem = function.problem;
    return;
  }
  SassListing listing = disassemble(places_.cubin_bytes(function), nvdisasm, found->symbol);
  to.problem = std::move(listing.problem);
  for (SassSection& section : listing.sections) {
    if (section.name != cubin->section_name(*found)) continue;
    const auto inside = [&](uint64_t offset) {
      return offset >= found->offset && offset - found->offset < found->bytes;
    };
    for (SassInstruction& each : section.instructions) {
      // Instructions are in order: each is after the last one.
      if (!inside(each.offset) ||
          (!to.instructions.empty() && each.offset - found->offset <= to.instructions.back().offset))
        continue;
      to.instructions.push_back({each.offset - found->offset, std::move(each.text)});
    }
    for (auto& [label, offset] : section.labels) {
      if (inside(offset)) to.labels.emplace_back(std::move(label), offset - found->offset);
    }
  }
  if (to.instructions.empty() && to.problem.empty()) to.problem = "nvdisasm printed no instructions of this function";
  to.waits.emplace(to.instructions, to.labels, cubin->code(*found));
}

}  // namespace prof::analyzer
