#include "analyzer/analysis/stacks/stack_groups.h"

#include "analyzer/analysis/stacks/call_stacks.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace prof::analyzer {

bool StackGroups::parse(std::string_view word, uint32_t& most) {
  constexpr std::string_view kWord = "stack";
  if (!word.starts_with(kWord)) return false;
  word.remove_prefix(kWord.size());
  if (word.empty()) {
    most = UINT32_MAX;
    return true;
  }
  uint32_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data() + 1, end, number);
  if (word[0] != ':' || at != end || error != std::errc() || number == 0) return false;
  most = number;
  return true;
}

uint32_t StackGroups::parse_only(std::string_view report, const std::vector<std::string>& words) {
  uint32_t most = 0;
  for (const std::string& word : words) {
    if (!parse(word, most))
      throw std::runtime_error(fmt::format("--group-by '{}': {} is grouped by stack:N or stack", word, report));
  }
  return most;
}

uint32_t StackGroups::of(StackId stack) {
  const auto [found, added] = group_of_.try_emplace(static_cast<uint32_t>(stack), 0);
  if (added) found->second = static_cast<uint32_t>(texts_.intern(stacks().text(stack, most_)));
  return found->second;
}

void StackGroups::add_column(Table& table) const {
  if (wanted()) table.add_column(ColumnId::stack);
}

void StackGroups::add_cell(Table::Row& row, uint32_t group) const {
  if (!wanted()) return;
  if (group == 0) {
    row.empty();
  } else {
    row.add(text(group));
  }
}

}  // namespace prof::analyzer
