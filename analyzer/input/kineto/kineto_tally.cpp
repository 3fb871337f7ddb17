#include "analyzer/input/kineto/kineto_tally.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace prof::analyzer {

size_t KinetoTally::category(std::string_view name) {
  const auto found =
      std::find_if(counts_.begin(), counts_.end(), [&](const KinetoCount& each) { return each.category == name; });
  if (found != counts_.end()) return static_cast<size_t>(found - counts_.begin());
  if (counts_.size() < kMostCategories) {
    const bool last = counts_.size() + 1 == kMostCategories;
    counts_.push_back({last ? "others" : std::string(name), 0});
  }
  return counts_.size() - 1;
}

void KinetoTally::damaged(uint64_t offset, std::string what) {
  ++damaged_;
  if (damage_.size() < kMostDamage) damage_.push_back({offset, std::move(what)});
}

void KinetoTally::clear() {
  counts_.clear();
  std::fill(std::begin(aside_), std::end(aside_), 0);
  damaged_ = 0;
  damage_.clear();
}

}  // namespace prof::analyzer
