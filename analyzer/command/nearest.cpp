#include "analyzer/command/nearest.h"

#include "analyzer/output/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace prof::analyzer {

namespace {

std::string plain(std::string_view word) {
  while (word.starts_with('-')) word.remove_prefix(1);
  std::string lower;
  for (const char each : word)
    lower += each == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return lower;
}

// Insertions, deletions, replacements, and swaps of neighbours (optimal string alignment).
size_t differences(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string> names) {
  constexpr size_t kMost = 3, kLongest = 64;
  const std::string given = plain(word);
  if (given.empty() || given.size() > kLongest) return {};
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& name : names) {
    const std::string known = plain(name);
    const size_t different = differences(given, known);
    const size_t allowed = std::max<size_t>(1, std::max(given.size(), known.size()) / 3);
    const bool starts = given.size() >= 2 && known.starts_with(given);
    if (starts || (different <= allowed && different < known.size())) near.emplace_back(starts ? 1 : different, name);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> found;
  for (const auto& [different, name] : near) {
    if (found.size() < kMost && different <= near.front().first + 1 &&
        std::find(found.begin(), found.end(), name) == found.end())
      found.push_back(name);
  }
  return found;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> names) {
  const std::vector<std::string> near = nearest_names(word, names);
  return near.empty() ? "" : fmt::format(": did you mean {}?", words_text(near));
}

std::string unknown_word(std::string_view kind, std::string_view word, std::span<const std::string> names,
                         std::string_view advice) {
  return fmt::format("unknown {} {}{} ({})", kind, word, did_you_mean(word, names), advice);
}

}  // namespace prof::analyzer
