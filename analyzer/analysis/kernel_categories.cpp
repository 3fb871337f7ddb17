#include "analyzer/analysis/kernel_categories.h"

#include "analyzer/base/rule_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

namespace prof::analyzer {

namespace {

constexpr std::string_view kCompute = "compute", kCommunication = "communication", kOther = "other", kTriton = "triton";

const CategoryRules& built_in_rules() {
  static const CategoryRules kRules = [] {
    CategoryRules rules;
#define PROF_KERNEL_RULE(category, pattern) rules.push_back({#category, NamePattern(pattern)});
#include "analyzer/analysis/kernel_categories.def"
#undef PROF_KERNEL_RULE
    return rules;
  }();
  return kRules;
}

bool is_purpose(std::string_view category) { return category == kCompute || category == kCommunication; }

// The result of the rules for one name; null: no rule matched.
struct Judgement {
  const std::string* purpose = nullptr;
  const std::string* category = nullptr;
};

void judge(const CategoryRules& rules, std::string_view function, const std::string& full, Judgement& verdict) {
  for (const CategoryRule& rule : rules) {
    const std::string*& decided = is_purpose(rule.category) ? verdict.purpose : verdict.category;
    if (decided == nullptr && rule.pattern.matches(function, full)) decided = &rule.category;
    if (verdict.purpose != nullptr && verdict.category != nullptr) return;
  }
}

// Names under which torch.profiler records the launch of a Triton kernel: operators with Triton's arguments.
std::unordered_set<uint32_t> triton_names(const Trace& trace) {
  std::unordered_set<uint32_t> names;
  if (trace.details.empty()) return names;
  for (const Range& range : trace.ranges) {
    const OperatorDetail* const detail = trace.detail(range);
    if (detail != nullptr && index(detail->other) != 0) names.insert(index(trace.labels[index(range.label)].text));
  }
  return names;
}

CategoryRule parse_rule(std::string_view line) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
  const size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view category = line.substr(0, end);
  if (!std::all_of(category.begin(), category.end(), is_word)) {
    throw std::runtime_error(fmt::format("category '{}': letters, digits, _ and - are allowed", category));
  }
  const std::string_view pattern = trimmed(line.substr(end));
  if (pattern.empty()) throw std::runtime_error(fmt::format("category '{}' has no pattern after it", category));
  return {std::string(category), NamePattern(pattern)};
}

}  // namespace

CategoryRules parse_category_rules(std::string_view text, const std::string& file) {
  CategoryRules rules;
  each_rule_line(text, file, "a rule is: category pattern",
                 [&](std::string_view line, const std::string&) { rules.push_back(parse_rule(line)); });
  return rules;
}

CategoryRules read_category_rules(const std::vector<std::string>& files) {
  CategoryRules rules;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::string text;
    if (in) text.assign(std::istreambuf_iterator<char>(in), {});
    if (!in.good() && !in.eof()) throw std::runtime_error(fmt::format("--rules {}: cannot be read", file));
    CategoryRules of_file = parse_category_rules(text, file);
    std::move(of_file.begin(), of_file.end(), std::back_inserter(rules));
  }
  return rules;
}

uint32_t KernelCategories::intern(std::string_view category) {
  const auto found = std::find(categories_.begin(), categories_.end(), category);
  if (found == categories_.end()) {
    categories_.emplace_back(category);
    return static_cast<uint32_t>(categories_.size() - 1);
  }
  return static_cast<uint32_t>(found - categories_.begin());
}

KernelCategories::KernelCategories(const Trace& trace, const KernelNames& names, const CategoryRules& rules)
    : names_(names) {
  const std::unordered_set<uint32_t> triton = triton_names(trace);
  std::unordered_map<uint32_t, Entry> of_name;
  of_kernel_.reserve(trace.kernels.size());
  for (uint32_t k = 0; k < trace.kernels.size(); ++k) {
    const uint32_t name = index(trace.kernels[k].name);
    const auto [found, added] = of_name.try_emplace(name);
    if (added) {
      const std::string full(names.name(KernelId{k}, NameForm::Full));
      const std::string function = short_function_name(full);
      Judgement verdict;
      judge(rules, function, full, verdict);
      judge(built_in_rules(), function, full, verdict);
      if (verdict.purpose != nullptr && *verdict.purpose == kCommunication)
        found->second.purpose = Purpose::Communication;
      found->second.category = intern(verdict.category != nullptr ? std::string_view(*verdict.category)
                                      : triton.contains(name)     ? kTriton
                                                                  : kOther);
    }
    of_kernel_.push_back(found->second);
  }
}

uint32_t KernelCategories::category_index(const GpuOperation& operation) const {
  switch (operation.kind()) {
    case GpuKind::Kernel:
    case GpuKind::Graph: return of(operation).category;
    case GpuKind::Copy: return 0;
    case GpuKind::Fill: break;
  }
  return 1;
}

}  // namespace prof::analyzer
