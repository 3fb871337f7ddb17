#include "analyzer/analysis/kernel_lines/kernel_code.h"

#include "analyzer/base/parallel.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr size_t kMostSearched = 200'000;  // of a function; large ones have 20,000

// "sm_90": since sm_70, each instruction has its scoreboards in its own 16 bytes.
bool has_scoreboards(const std::string& architecture) {
  const size_t digits = architecture.find_first_of("0123456789");
  return digits != std::string::npos && std::atoi(architecture.c_str() + digits) >= 70;
}

// The instructions and labels of a function of the section. Instructions are in order: each is after the last one.
void add_section(const SassSection& section, const CubinFunction& function, KernelCode& to) {
  const auto inside = [&](uint64_t offset) {
    return offset >= function.offset && offset - function.offset < function.bytes;
  };
  for (const SassInstruction& each : section.instructions) {
    if (!inside(each.offset)) continue;
    const uint64_t offset = each.offset - function.offset;
    if (to.instructions.empty() || offset > to.instructions.back().offset)
      to.instructions.push_back({offset, each.text});
  }
  for (const auto& [label, offset] : section.labels) {
    if (inside(offset)) to.labels.emplace_back(label, offset - function.offset);
  }
}

}  // namespace

std::vector<const KernelCode*> KernelCodes::of(std::span<const uint32_t> functions) const {
  const std::lock_guard lock(mutex_);
  std::vector<const KernelCode*> codes;
  std::map<const CubinFile*, std::pair<std::span<const uint8_t>, std::vector<Missing>>> missing;
  for (const uint32_t each : functions) {
    const PcFunction& function = places_.functions()[each];
    const PcCubin& cubin = trace_.pc_samples.cubins[function.cubin];
    std::unique_ptr<KernelCode>& code = codes_[{cubin.crc, cubin.bytes, static_cast<uint32_t>(function.name)}];
    if (code == nullptr) {
      code = std::make_unique<KernelCode>();
      const CubinFile* const file = places_.cubin(function, code->problem);
      const CubinFunction* const found = file == nullptr ? nullptr : file->find(trace_.text(function.name));
      if (found != nullptr) {
        missing[file].first = places_.cubin_bytes(function);
        missing[file].second.push_back({found, code.get()});
      } else if (code->problem.empty()) {
        code->problem = function.problem;
      }
    }
    codes.push_back(code.get());
  }
  if (missing.empty()) return codes;
  const std::string nvdisasm = find_nvdisasm();
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::pair<const CubinFile*, std::pair<std::span<const uint8_t>, std::vector<Missing>>>> cubins(
      missing.begin(), missing.end());
  parallel_for(cubins.size(), [&](size_t i) {
    const auto& [bytes, of_cubin] = cubins[i].second;
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < kMostSeconds) {
      read(*cubins[i].first, bytes, nvdisasm, of_cubin);
      return;
    }
    for (const Missing& each : of_cubin)
      each.to->problem = fmt::format("nvdisasm took more than {} s for other cubins", kMostSeconds);
  });
  return codes;
}

void KernelCodes::read(const CubinFile& cubin, std::span<const uint8_t> bytes, const std::string& nvdisasm,
                       const std::vector<Missing>& missing) const {
  std::vector<uint32_t> symbols;
  for (const Missing& each : missing) symbols.push_back(each.function->symbol);
  const SassListing listing = disassemble(bytes, nvdisasm, symbols);
  for (const auto& [function, to] : missing) {
    to->problem = listing.problem;
    for (const SassSection& section : listing.sections) {
      if (section.name == cubin.section_name(*function)) add_section(section, *function, *to);
    }
    if (to->instructions.empty() && to->problem.empty())
      to->problem = "nvdisasm printed no instructions of this function";
    if (to->instructions.size() > kMostSearched) {
      to->problem = fmt::format("the function has {} instructions; more than {} are not searched",
                                to->instructions.size(), kMostSearched);
      continue;
    }
    to->waits.emplace(to->instructions, to->labels,
                      has_scoreboards(cubin.architecture()) ? cubin.code(*function) : std::span<const uint8_t>());
  }
}

}  // namespace prof::analyzer
