// What became of the events of one stretch of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// Why an event is not in the model, or has other values there than in the file.
enum class KinetoAside : uint8_t {
#define KINETO_ASIDE(name, what, text) name,
#include "analyzer/input/kineto/kineto_aside.def"
#undef KINETO_ASIDE
  kCount
};

// Text that cannot be read.
struct KinetoDamage {
  uint64_t offset = 0;  // in the text of the file
  std::string what;
};

// What is wrong with the text of a file: the first places, the number of all, and how many events they cost.
struct KinetoTextDamage {
  std::vector<KinetoDamage> listed;
  uint64_t places = 0;
  uint64_t lost_events = 0;
};

// The events of one category, or of one phase if they have no category.
struct KinetoCount {
  std::string category;
  uint64_t events = 0;
};

// KinetoTally counts the events of one stretch: how many each category has, how many are skipped and why, how many
// are no JSON and where these are. Every event of a trace is counted in exactly one category, or as damaged.
// KinetoSummary adds up the tallies of a file.
class KinetoTally {
 public:
  // Index into counts() for a category that this stretch has not used since the last call. Linear in the number of
  // categories. After kMostCategories all further categories share the entry "others".
  size_t category(std::string_view name);
  void count(size_t category) { ++counts_[category].events; }
  void aside(KinetoAside reason, uint64_t events = 1) { aside_[static_cast<size_t>(reason)] += events; }
  // An event at `offset` that is no JSON. The first kMostDamage are listed with their place, all are counted.
  void damaged(uint64_t offset, std::string what);
  void clear();

  const std::vector<KinetoCount>& counts() const { return counts_; }
  uint64_t set_aside(KinetoAside reason) const { return aside_[static_cast<size_t>(reason)]; }
  uint64_t damaged_events() const { return damaged_; }
  const std::vector<KinetoDamage>& damage() const { return damage_; }

  static constexpr size_t kMostCategories = 256;
  static constexpr size_t kMostDamage = 64;

 private:
  std::vector<KinetoCount> counts_;
  uint64_t aside_[static_cast<size_t>(KinetoAside::kCount)] = {};
  uint64_t damaged_ = 0;
  std::vector<KinetoDamage> damage_;
};

}  // namespace prof::analyzer
