#include "analyzer/analysis/stacks/fold_rules.h"

#include "analyzer/base/rule_lines.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace prof::analyzer {

namespace {

constexpr std::string_view kBuiltInRules[] = {
#define PROF_FOLD_RULE(text) text,
#include "analyzer/analysis/stacks/fold_rules.def"
#undef PROF_FOLD_RULE
};

// Removes the first word from `text` and returns it.
std::string_view next_word(std::string_view& text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  text.remove_prefix(begin);
  const size_t end = std::min(text.find_first_of(" \t\r"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

}  // namespace

FoldRules FoldRules::read(const std::vector<std::string>& words) {
  FoldRules rules;
  bool only = false;
  for (const std::string& word : words) {
    if (word == "none") {
      only = true;
      continue;
    }
    std::ifstream file(word);
    if (!file) throw std::runtime_error(fmt::format("--fold: cannot read '{}'", word));
    std::string line;
    for (size_t number = 1; std::getline(file, line); ++number)
      rules.add(line, fmt::format("{}:{}", word, number), only);
    if (file.bad()) throw std::runtime_error(fmt::format("--fold: cannot read '{}'", word));
  }
  if (!only) {
    for (const std::string_view rule : kBuiltInRules) rules.add(rule, "fold_rules.def", only);
  }
  return rules;
}

void FoldRules::add(std::string_view text, const std::string& where, bool& only) {
  const std::string_view action = next_word(text);
  if (action.empty() || action.starts_with('#')) return;
  FoldRule rule;
  if (action == "only") {
    only = true;
    return;
  } else if (action == "keep") {
    rule.action = FoldAction::Keep;
  } else if (action == "hide") {
    rule.action = FoldAction::Hide;
  } else if (action == "interpreter") {
    rule.action = FoldAction::Interpreter;
  } else if (action == "fold") {
    rule.action = FoldAction::Fold;
    rule.label = next_word(text);
  } else {
    throw std::runtime_error(fmt::format("{}: '{}' is none of keep, hide, interpreter, fold, only", where, action));
  }
  std::string_view module = next_word(text);
  const std::string_view function = trimmed(text);
  if (function.empty()) throw std::runtime_error(fmt::format("{}: a rule names a module and a function", where));
  constexpr std::string_view kPython = "python:";
  rule.python = module.starts_with(kPython);
  if (rule.python) module.remove_prefix(kPython.size());
  rule.module = module;
  try {
    if (function != "*") rule.function.emplace(function);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}: {}", where, error.what()));
  }
  rules_.push_back(std::move(rule));
}

const FoldRule* FoldRules::find(const FoldSubject& subject) const {
  const std::string module(subject.module);
  for (const FoldRule& rule : rules_) {
    if (rule.python != subject.python) continue;
    if (rule.module != "*" && fnmatch(rule.module.c_str(), module.c_str(), 0) != 0) continue;
    if (!rule.function || rule.function->matches(subject.function, subject.full)) return &rule;
  }
  return nullptr;
}

}  // namespace prof::analyzer
