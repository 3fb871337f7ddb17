#include "analyzer/analysis/kernel_lines/stall_causes.h"

#include "analyzer/analysis/kernel_lines/kernel_code.h"
#include "analyzer/analysis/kernel_lines/stall_reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace prof::analyzer {

namespace {

constexpr std::string_view kNotFound = "[no such instruction found]";

std::string plural(std::string_view noun) {
  if (noun.ends_with("copy")) return fmt::format("{}ies", noun.substr(0, noun.size() - 1));
  if (noun.find(" of ") != std::string_view::npos) return fmt::format("instructions ({})", noun);
  return fmt::format("{}{}", noun, noun.ends_with("ch") ? "es" : "s");
}

// What an instruction waits for: its kind, and the line or offset of it.
struct NamedProducer {
  std::string_view noun;
  std::string line;
};

std::string cause_text(const std::vector<NamedProducer>& producers, bool overwrites, bool cut) {
  constexpr size_t kMostLines = 3;
  if (producers.empty()) return std::string(kNotFound);
  const std::string_view before = overwrites ? "operands of the " : "";
  if (producers.size() == 1 && !cut) return fmt::format("{}{} at {}", before, producers[0].noun, producers[0].line);
  const bool one_noun = std::all_of(producers.begin(), producers.end(),
                                    [&](const NamedProducer& each) { return each.noun == producers[0].noun; });
  std::vector<std::string> lines;
  for (const NamedProducer& each : producers) {
    std::string text = one_noun ? each.line : fmt::format("{} at {}", each.noun, each.line);
    if (std::find(lines.begin(), lines.end(), text) == lines.end()) lines.push_back(std::move(text));
  }
  std::string text = fmt::format("{}one of {}{}{}", overwrites ? "operands of " : "", cut ? "at least " : "",
                                 producers.size(), one_noun ? " " + plural(producers[0].noun) : "");
  for (size_t i = 0; i < std::min(kMostLines, lines.size()); ++i) text += (i == 0 ? ": " : ", ") + lines[i];
  if (lines.size() > kMostLines) text += ", …";
  return text;
}

}  // namespace

SassStall stall_of(std::string_view cupti_name) {
  constexpr std::pair<std::string_view, SassStall> kStalls[] = {{"long_scoreboard", SassStall::Long},
                                                                {"short_scoreboard", SassStall::Short},
                                                                {"barrier", SassStall::Barrier},
                                                                {"membar", SassStall::Fence},
                                                                {"branch_resolving", SassStall::Branch}};
  const std::string_view name = stall_reason(cupti_name).name;
  const auto found =
      std::find_if(std::begin(kStalls), std::end(kStalls), [&](const auto& each) { return each.first == name; });
  return found == std::end(kStalls) ? SassStall::None : found->second;
}

StallCauses::StallCauses(const AnalysisInput& input, const KernelSums& sums) : input_(input), sums_(sums) {
  std::map<uint32_t, double> cycles;  // that wait for another instruction, by function
  for (uint32_t p = 0; p < sums.by_place().size(); ++p) {
    for (const StallSums::Reason& each : sums.by_place()[p].reasons) {
      if (stall_of(input.trace.text(each.name)) == SassStall::None) continue;
      cycles[sums.places().places()[p].function] += each.sum.cycles;
    }
  }
  std::vector<uint32_t> functions;
  for (const auto& each : cycles) functions.push_back(each.first);
  std::stable_sort(functions.begin(), functions.end(), [&](uint32_t a, uint32_t b) { return cycles[a] > cycles[b]; });
  if (functions.size() > kMostCauseFunctions) {
    functions.resize(kMostCauseFunctions);
    notes_.push_back(fmt::format("{} of {} functions are disassembled: those whose warps wait most",
                                 kMostCauseFunctions, cycles.size()));
  }
  find(functions);
}

StallCauses::StallCauses(const AnalysisInput& input, const KernelSums& sums, std::span<const uint32_t> functions)
    : input_(input), sums_(sums) {
  find(functions);
}

void StallCauses::find(std::span<const uint32_t> functions) {
  const Trace& trace = input_.trace;
  const PcPlaces& places = sums_.places();
  const std::vector<const KernelCode*> codes = input_.views.derived<KernelCodes>().of(functions);
  std::map<uint32_t, const KernelCode*> code_of;
  std::map<std::string, std::set<uint32_t>> problems;  // kernels without causes, by reason
  for (size_t i = 0; i < functions.size(); ++i) {
    code_of[functions[i]] = codes[i];
    std::string why;
    if (!codes[i]->problem.empty() && places.cubin(places.functions()[functions[i]], why) != nullptr)
      problems[codes[i]->problem].insert(sums_.kernel_of(functions[i]));
  }
  for (const auto& [problem, kernels] : problems) {
    notes_.push_back(fmt::format("what warps wait for is not known in {} kernel{}: {}", kernels.size(),
                                 kernels.size() == 1 ? "" : "s", problem));
  }
  struct FoundWait {
    uint32_t place = 0;
    SassStall stall{};
    const KernelCode* code = nullptr;
    SassWait found{};
  };
  std::vector<FoundWait> waits;
  for (uint32_t p = 0; p < sums_.by_place().size(); ++p) {
    const PcPlace& place = places.places()[p];
    const auto code = code_of.find(place.function);
    if (code == code_of.end() || !code->second->waits || code->second->instructions.empty()) continue;
    for (const StallSums::Reason& each : sums_.by_place()[p].reasons) {
      const SassStall stall = stall_of(trace.text(each.name));
      if (stall == SassStall::None) continue;
      waits.push_back({p, stall, code->second});
    }
  }
  // The lines of all producers, with one request for each cubin.
  std::vector<CubinRequest> requests;
  std::map<const CubinFile*, size_t> request_of;
  std::vector<std::vector<std::pair<size_t, size_t>>> line_of(waits.size());  // request and PC, by producer
  for (size_t w = 0; w < waits.size(); ++w) {
    FoundWait& wait = waits[w];
    const PcPlace& place = places.places()[wait.place];
    const PcFunction& function = places.functions()[place.function];
    wait.found = wait.code->waits->at(place.offset, wait.stall);
    std::string why;
    const CubinFile* const cubin = places.cubin(function, why);
    const auto [request, added] = request_of.try_emplace(cubin, requests.size());
    if (added) requests.push_back({cubin, {}});
    for (const uint32_t producer : wait.found.producers) {
      line_of[w].emplace_back(request->second, requests[request->second].pcs.size());
      requests[request->second].pcs.push_back(
          {cubin->find(trace.text(function.name)), wait.code->instructions[producer].offset});
    }
  }
  StringTable strings;
  const std::vector<CubinLines> lines = find_cubin_lines(requests, strings);
  for (size_t w = 0; w < waits.size(); ++w) {
    const FoundWait& wait = waits[w];
    const PcPlace& place = places.places()[wait.place];
    std::vector<NamedProducer> named;
    for (size_t i = 0; i < wait.found.producers.size(); ++i) {
      const uint32_t producer = wait.found.producers[i];
      const auto [request, pc] = line_of[w][i];
      const std::span<const SymbolFrame> frames = lines[request].at(pc);
      named.push_back({wait.code->waits->operation(producer).noun,
                       frames.empty() || frames[0].line == 0
                           ? sums_.offset_text(place.function, wait.code->instructions[producer].offset)
                           : short_place(strings[frames[0].file], frames[0].line)});
    }
    texts_[{wait.place, wait.stall}] = cause_text(named, wait.found.overwrites, wait.found.cut);
  }
}

std::string_view StallCauses::cause(uint32_t place, StringId reason) const {
  const auto found = texts_.find({place, stall_of(input_.trace.text(reason))});
  return found == texts_.end() ? std::string_view() : found->second;
}

std::string StallCauses::causes(std::span<const uint32_t> places, size_t most, std::string_view reason) const {
  if (texts_.empty()) return {};
  std::map<std::string_view, double> cycles;
  for (const uint32_t place : places) {
    for (const StallSums::Reason& each : sums_.by_place()[place].reasons) {
      if (!reason.empty() && stall_reason(input_.trace.text(each.name)).name != reason) continue;
      if (const std::string_view text = cause(place, each.name); !text.empty()) cycles[text] += each.sum.cycles;
    }
  }
  std::vector<std::pair<double, std::string_view>> order;
  for (const auto& [text, of] : cycles) order.emplace_back(-of, text);
  std::sort(order.begin(), order.end());
  std::string text;
  for (size_t i = 0; i < std::min(most, order.size()); ++i) {
    if (i != 0) text += "; ";
    text += order[i].second;
  }
  return text;
}

}  // namespace prof::analyzer
