#include "analyzer/input/kineto/kineto_summary.h"

#include "analyzer/input/kineto/kineto_category.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace prof::analyzer {

namespace {

constexpr size_t kMostDamage = 1000;  // damaged events of a file that are listed one by one

struct AsideText {
  std::string_view key;   // of the fact: "skipped" or "changed"
  std::string_view text;  // after the number of events
};

constexpr AsideText kAsideTexts[] = {
#define KINETO_ASIDE(name, what, text) {what, text},
#include "analyzer/input/kineto/kineto_aside.def"
#undef KINETO_ASIDE
};

}  // namespace

void KinetoSummary::add(const KinetoTally& stretch) {
  for (const KinetoCount& count : stretch.counts()) {
    counts_[count.category] += count.events;
    events_ += count.events;
  }
  for (size_t i = 0; i < std::size(aside_); ++i) aside_[i] += stretch.set_aside(static_cast<KinetoAside>(i));
  damaged_ += stretch.damaged_events();
  for (const KinetoDamage& each : stretch.damage()) {
    if (damage_.size() < kMostDamage) damage_.push_back(each);
  }
}

void KinetoSummary::write(const KinetoHeader& header, KinetoTextDamage text,
                          const std::vector<std::string>& counter_facts, const std::string& path,
                          Process& process) const {
  process.facts.emplace_back("events", std::to_string(events_));
  for (const auto& [category, count] : counts_) process.facts.emplace_back("events " + category, std::to_string(count));
  for (size_t i = 0; i < std::size(kAsideTexts); ++i) {
    if (aside_[i] != 0)
      process.facts.emplace_back(kAsideTexts[i].key, fmt::format("{} {}", aside_[i], kAsideTexts[i].text));
  }
  for (const std::string& fact : counter_facts) process.facts.emplace_back("hardware counters", fact);
  std::vector<KinetoDamage>& damage = text.listed;
  for (const std::string& what : header.unread) damage.push_back({0, what});
  damage.insert(damage.end(), damage_.begin(), damage_.end());
  std::stable_sort(damage.begin(), damage.end(),
                   [](const KinetoDamage& a, const KinetoDamage& b) { return a.offset < b.offset; });
  for (const KinetoDamage& each : damage)
    process.damage.push_back(path + ": " + each.what + " (at offset " + std::to_string(each.offset) + " of the text)");
  process.damaged_places = text.places + header.unread.size() + damaged_;
  process.damage_lost = text.lost_events + damaged_;
  write_partial(process);
  process.finished = damage.empty();
}

// What is not understood makes the answer partial.
void KinetoSummary::write_partial(Process& process) const {
  std::string categories;
  for (const auto& [category, count] : counts_) {
    if (kineto_class(category) == KinetoClass::Foreign) categories += (categories.empty() ? ": " : ", ") + category;
  }
  for (const KinetoAside reason : {KinetoAside::ForeignOperation, KinetoAside::ForeignSkipped}) {
    const uint64_t events = aside_[static_cast<size_t>(reason)];
    if (events != 0)
      process.partial.push_back(
          fmt::format("{} {}{}", events, kAsideTexts[static_cast<size_t>(reason)].text, categories));
  }
}

}  // namespace prof::analyzer
