// sass: where in the machine code of one kernel are its samples? An annotated listing: samples and reasons of each
// instruction with its source line. Without nvdisasm it has offsets in place of instructions.
#include "analyzer/analysis/kernel_lines/kernel_code.h"
#include "analyzer/analysis/kernel_lines/stall_causes.h"
#include "analyzer/base/name_pattern.h"
#include "analyzer/base/statistics.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

namespace {

// The kernel of --kernel, else the one with most samples. kNone: no kernel matches.
uint32_t choose_kernel(const AnalysisInput& input, const KernelSums& sums, Table& table) {
  if (input.options.kernel.empty()) return sums.kernels().empty() ? kNone : 0;
  const NamePattern pattern(input.options.kernel);
  std::vector<uint32_t> matching;
  for (uint32_t k = 0; k < sums.kernels().size(); ++k) {
    const PcFunction& function = sums.places().functions()[sums.kernels()[k].functions.front()];
    const std::string full = sums.places().name(function, NameForm::Full);
    const bool exact =
        input.options.kernel == sums.kernel_name(k) || input.options.kernel == input.trace.text(function.name);
    if (exact || pattern.matches(short_function_name(full), full)) matching.push_back(k);
  }
  if (matching.empty()) {
    table.notes.push_back(
        fmt::format("no kernel with samples matches '{}'; report stalls lists them", input.options.kernel));
    return kNone;
  }
  if (matching.size() > 1) {
    std::string others;
    for (size_t i = 1; i < std::min<size_t>(matching.size(), 4); ++i)
      others += fmt::format("{}{}", others.empty() ? "" : ", ", sums.kernel_name(matching[i]));
    table.notes.push_back(fmt::format("'{}' matches {} kernels: this is the one with most samples; others: {}{}",
                                      input.options.kernel, matching.size(), others, matching.size() > 4 ? ", …" : ""));
  }
  return matching.front();
}

// The machine code that the listing shows: functions of the kernel with equal cubins.
struct ListedCode {
  uint32_t function = kNone;            // the one with most samples
  std::map<uint64_t, StallSums> sums;   // by offset
  std::map<uint64_t, uint32_t> places;  // by offset: one of them
  SampleSum all;
  uint64_t elsewhere = 0;  // samples of the kernel in other cubins
};

ListedCode listed_code(const Trace& trace, const KernelSums& sums, uint32_t kernel) {
  const std::vector<PcFunction>& functions = sums.places().functions();
  const auto cubin_of = [&](uint32_t function) {
    const PcCubin& cubin = trace.pc_samples.cubins[functions[function].cubin];
    return std::pair(cubin.crc, cubin.bytes);
  };
  std::map<std::pair<uint64_t, uint64_t>, double> cycles;
  for (uint32_t p = 0; p < sums.by_place().size(); ++p) {
    const uint32_t function = sums.places().places()[p].function;
    if (sums.by_place()[p].all.samples != 0 && sums.kernel_of(function) == kernel)
      cycles[cubin_of(function)] += sums.by_place()[p].all.cycles;
  }
  const auto most =
      std::max_element(cycles.begin(), cycles.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  ListedCode code;
  for (uint32_t p = 0; p < sums.by_place().size(); ++p) {
    const StallSums& each = sums.by_place()[p];
    const PcPlace& place = sums.places().places()[p];
    if (each.all.samples == 0 || sums.kernel_of(place.function) != kernel) continue;
    if (cubin_of(place.function) != most->first) {
      code.elsewhere += each.all.samples;
      continue;
    }
    if (code.function == kNone) code.function = place.function;
    code.sums[place.offset].add(each);
    code.places.try_emplace(place.offset, p);
    code.all.add(each.all);
  }
  return code;
}

}  // namespace

Table report_sass(const AnalysisInput& input) {
  constexpr size_t kMostReasons = 3, kMostCauses = 2;
  const KernelSums sums(input);
  Table table("sass", "Samples of the instructions of a kernel");
  table.add_columns({ColumnId::pc_offset, ColumnId::pc_samples, ColumnId::kernel_percent, ColumnId::pc_share_half_width,
                     ColumnId::issue_percent, ColumnId::instruction, ColumnId::source, ColumnId::inlined,
                     ColumnId::stalls, ColumnId::stall_cause});
  if (!sums.any()) {
    table.notes.push_back(no_pc_samples_note(input.trace));
    return table;
  }
  const uint32_t kernel = choose_kernel(input, sums, table);
  if (kernel == kNone) return table;
  const KernelStalls& of = sums.kernels()[kernel];
  const ListedCode code = listed_code(input.trace, sums, kernel);
  const PcFunction& function = sums.places().functions()[code.function];
  const KernelCode& listing = *input.views.derived<KernelCodes>().of({&code.function, 1}).front();
  const StallCauses causes(input, sums, {&code.function, 1});
  std::map<uint64_t, std::string_view> instructions;
  for (const SassInstruction& each : listing.instructions) instructions.emplace(each.offset, each.text);
  std::vector<uint64_t> offsets;
  for (const auto& each : instructions) offsets.push_back(each.first);
  for (const auto& each : code.sums) offsets.push_back(each.first);
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  for (const uint64_t offset : offsets) {
    const auto found = code.sums.find(offset);
    const auto text = instructions.find(offset);
    Table::Row row = table.row();
    row.add(fmt::format("{:#06x}", offset));
    if (found == code.sums.end()) {
      row.empty().empty().empty().empty().add(text->second);
      continue;
    }
    const PcPlace& place = sums.places().places()[code.places.at(offset)];
    const std::span<const SymbolFrame> frames = sums.places().frames(place);
    row.add(found->second.all.samples).add_percent(found->second.all.cycles, code.all.cycles);
    row.add(100 * share_half_width(found->second.all, code.all)).add(issue_percent(input.trace, found->second));
    row.add_text(text == instructions.end() ? std::string_view() : text->second);
    row.add_text(frames.empty() ? std::string()
                                : fmt::format("{}:{}", sums.places().text(frames[0].file), frames[0].line));
    row.add_text(sums.calls_text(place)).add(reasons_text(input.trace, found->second, kMostReasons));
    row.add_text(causes.causes({&code.places.at(offset), 1}, kMostCauses));
  }
  table.notes.insert(table.notes.begin(),
                     fmt::format("kernel {}: {} samples, {:.1f} % of all", sums.kernel_name(kernel),
                                 of.sums.all.samples, 100 * of.sums.all.cycles / sums.whole().cycles));
  if (code.elsewhere != 0)
    table.notes.push_back(fmt::format("{} samples are in other machine code of this name", code.elsewhere));
  if (!listing.problem.empty())
    table.notes.push_back(
        fmt::format("{}: {}", instructions.empty() ? "no instructions" : "not all instructions", listing.problem));
  if (!function.problem.empty()) table.notes.push_back(fmt::format("no lines: {}", function.problem));
  const std::vector<std::string> notes = pc_notes(input, sums);
  table.notes.insert(table.notes.end(), notes.begin(), notes.end());
  return table;
}

}  // namespace prof::analyzer
