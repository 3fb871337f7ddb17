#include "analyzer/model/range_counters.h"
#include "analyzer/base/text_parts.h"

#include "analyzer/model/range_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>

namespace prof::analyzer {

namespace {

constexpr size_t kMostNumbers = 6;      // texts with more numbers are tables of values, not counters
constexpr size_t kMostDigits = 15;      // longer numbers are identifiers
constexpr uint64_t kFewestValues = 8;   // of a counter; fewer may be phases of a program
constexpr uint64_t kFewestRepeats = 3;  // of a counter that a word of repetition names
constexpr size_t kMostFolded = 4;       // names in a note

// A number after one of these words counts repetitions also where it starts again with its parent: batches of an epoch.
constexpr std::string_view kRepetitionWords[] = {"batch",  "epoch",     "frame", "it",     "iter",    "iteration",
                                                 "loop",   "minibatch", "rep",   "repeat", "request", "round",
                                                 "sample", "step",      "token", "trial"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The word before a position, in lower case, over separators: "epoch" before the number of "Epoch[ 7".
std::string word_before(std::string_view text, size_t at) {
  while (at != 0 && !is_letter(text[at - 1]) && !is_digit(text[at - 1])) --at;
  size_t first = at;
  while (first != 0 && is_letter(text[first - 1])) --first;
  std::string word(text.substr(first, at - first));
  std::transform(word.begin(), word.end(), word.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return word;
}

// One text: its words, and the numbers between them.
struct NumberedText {
  std::string words;  // the text with '\x01' in the place of each number
  std::vector<uint64_t> numbers;
  std::vector<std::string_view> digits;  // by number: as it is written, into the text
  std::vector<bool> repeats;             // by number: a word of repetition is before it
};

NumberedText numbered(std::string_view text) {
  NumberedText parsed;
  for (size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      parsed.words += text[at++];
      continue;
    }
    size_t last = at;
    while (last < text.size() && is_digit(text[last])) ++last;
    const std::string_view digits = text.substr(at, last - at);
    const bool fraction = (at >= 2 && text[at - 1] == '.' && is_digit(text[at - 2])) ||
                          (last + 1 < text.size() && text[last] == '.' && is_digit(text[last + 1]));
    const bool hexadecimal = last < text.size() && text[last] == 'x' && digits == "0";
    if (fraction || hexadecimal || digits.size() > kMostDigits) {
      // The digits of an address are letters too.
      if (hexadecimal) {
        ++last;
        while (last < text.size() && std::isxdigit(static_cast<unsigned char>(text[last])) != 0) ++last;
      }
      parsed.words.append(text.substr(at, last - at));
    } else {
      uint64_t value = 0;
      for (const char digit : digits) value = value * 10 + static_cast<uint64_t>(digit - '0');
      const std::string word = word_before(text, at);
      parsed.repeats.push_back(std::find(std::begin(kRepetitionWords), std::end(kRepetitionWords), word) !=
                               std::end(kRepetitionWords));
      parsed.numbers.push_back(value);
      parsed.digits.push_back(digits);
      parsed.words += '\x01';
    }
    at = last;
  }
  if (parsed.numbers.size() > kMostNumbers) parsed.numbers.clear();
  return parsed;
}

// What one number of one text did along one thread below one parent.
struct Course {
  uint64_t last = 0, most = 0;
  uint64_t ranges = 0, values = 0;          // values: ranges whose number was larger than all before
  uint64_t parents = 0, new_in_parent = 0;  // repetitions of the parent, and those that began with a larger number
  uint64_t falls = 0;                       // below the same parent, with the same numbers before it
  uint64_t restarts = 0;                    // falls with a new parent, or after a number before it changed
  uint64_t steps = 0;                       // ranges whose number differs from the one before

  void add(uint64_t value, bool new_parent, bool restart_allowed) {
    const bool first = ranges == 0, larger = first || value > most;
    if (new_parent) {
      ++parents;
      if (larger) ++new_in_parent;
    }
    if (!first && value < last) ++(new_parent || restart_allowed ? restarts : falls);
    if (first || value != last) ++steps;
    if (larger) {
      ++values;
      most = value;
    }
    last = value;
    ++ranges;
  }

  bool constant() const { return values <= 1 && falls == 0 && restarts == 0; }
  bool counts(bool repeats) const {
    if (repeats)
      return (values >= kFewestRepeats || restarts != 0) && falls * kFewestValues <= ranges && steps * 4 >= ranges;
    if (values < kFewestValues || falls != 0 || restarts != 0) return false;
    return parents >= 2 ? new_in_parent * 10 >= parents * 9 : values * 4 >= ranges;
  }
};

struct Place {
  uint64_t thread_and_words = 0;
  uint64_t parent = 0;
  bool operator==(const Place&) const = default;
};
struct PlaceHash {
  size_t operator()(const Place& place) const {
    uint64_t hash = place.thread_and_words * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 32) ^ place.parent) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
  }
};

// The numbers of one text in one place.
struct Courses {
  uint32_t words = 0;
  uint32_t parent_row = kNone;  // the parent's row of the range before
  bool any = false;
  std::vector<Course> of_number;
};

// How many ranges say that a number counts, and how many that it does not.
struct Votes {
  uint64_t counter = 0, other = 0;
  bool counts() const { return counter != 0 && counter > 9 * other; }
};

constexpr uint32_t kStartEnd = 1u << 31;  // in the place of a thread: the process of start/end ranges

class CounterReader {
 public:
  explicit CounterReader(const Trace& trace) : trace_(trace), words_of_label_(trace.labels.size(), kNone) {
    numbers_of_label_.resize(trace.labels.size());
    for (uint32_t label = 0; label < trace.labels.size(); ++label) {
      NumberedText text = numbered(text_of(label));
      const auto [found, added] = words_.try_emplace(text.words, static_cast<uint32_t>(repeats_.size()));
      if (added) repeats_.push_back(text.repeats);
      words_of_label_[label] = found->second;
      numbers_of_label_[label] = std::move(text.numbers);
    }
  }

  void read() {
    for (uint32_t row = 0; row < trace_.ranges.size(); ++row) add(trace_.ranges[row]);
    votes_.resize(repeats_.size());
    for (const auto& [place, courses] : places_) {
      std::vector<Votes>& votes = votes_[courses.words];
      votes.resize(courses.of_number.size());
      for (size_t n = 0; n < votes.size(); ++n) {
        const Course& course = courses.of_number[n];
        if (course.constant()) continue;
        (course.counts(repeats_[courses.words][n]) ? votes[n].counter : votes[n].other) += course.ranges;
      }
    }
  }

  // The text of a label with `*` in the place of its counters; empty if it has none.
  std::string folded(uint32_t label) const {
    if (text_of(label).starts_with(kProfilerStep)) return std::string(kAnyProfilerStep);
    const std::vector<Votes>& votes = votes_[words_of_label_[label]];
    if (votes.empty() || std::none_of(votes.begin(), votes.end(), [](const Votes& each) { return each.counts(); }))
      return {};
    const NumberedText parsed = numbered(text_of(label));
    std::string text;
    size_t number = 0;
    for (const char c : parsed.words) {
      if (c != '\x01') {
        text += c;
      } else {
        text += votes[number].counts() ? "*" : parsed.digits[number];
        ++number;
      }
    }
    return text;
  }

 private:
  std::string_view text_of(uint32_t label) const { return plain_range_text(trace_.text(trace_.labels[label].text)); }

  void add(const Range& range) {
    const auto label = index(range.label);
    const std::vector<uint64_t>& numbers = numbers_of_label_[label];
    if (numbers.empty() || (range.kind != RangeKind::Nvtx && range.kind != RangeKind::Annotation)) return;
    const bool nested = range.style == RangeStyle::PushPop;
    const uint32_t thread =
        nested ? index(range.thread) : kStartEnd | index(trace_.threads[index(range.thread)].process);
    const uint32_t parent = nested ? range.parent : kNone;
    const uint32_t words = words_of_label_[label];
    Place place;
    place.thread_and_words = uint64_t{thread} << 32 | words;
    place.parent = parent == kNone ? kNone : words_of_label_[index(trace_.ranges[parent].label)];
    Courses& courses = places_[place];
    courses.words = words;
    courses.of_number.resize(numbers.size());
    const bool new_parent = !courses.any || courses.parent_row != parent;
    std::vector<Course>& all = courses.of_number;
    const auto changed = [&](size_t n) { return courses.any && all[n].last != numbers[n]; };
    size_t last_changed = 0;  // the last number that differs from the range before
    for (size_t n = 0; n < numbers.size(); ++n) {
      if (changed(n)) last_changed = n;
    }
    bool before_changed = false;
    for (size_t n = 0; n < numbers.size(); ++n) {
      const bool changes = changed(n);
      // In "step 3 layer 4" after "step 3 layer 3", the step is the same one, and not repeated.
      const bool same_one = courses.any && !new_parent && !changes && n < last_changed;
      if (!same_one) all[n].add(numbers[n], new_parent, before_changed);
      before_changed = before_changed || changes;
    }
    courses.parent_row = parent;
    courses.any = true;
  }

  const Trace& trace_;
  std::unordered_map<std::string, uint32_t> words_;
  std::vector<std::vector<bool>> repeats_;  // by words
  std::vector<std::vector<Votes>> votes_;   // by words
  std::vector<uint32_t> words_of_label_;
  std::vector<std::vector<uint64_t>> numbers_of_label_;
  std::unordered_map<Place, Courses, PlaceHash> places_;
};

}  // namespace

RangeCounters::RangeCounters(const Trace& trace) : of_label_(trace.labels.size(), kNone) {
  CounterReader reader(trace);
  reader.read();
  std::unordered_map<std::string, uint32_t> known;
  for (uint32_t label = 0; label < trace.labels.size(); ++label) {
    std::string name = reader.folded(label);
    if (name.empty()) continue;
    const auto [found, added] = known.try_emplace(std::move(name), static_cast<uint32_t>(folded_.size()));
    if (added) folded_.push_back({found->first});
    ++folded_[found->second].texts;
    of_label_[label] = found->second;
  }
  if (folded_.empty()) return;
  for (const Range& range : trace.ranges) {
    const uint32_t row = of_label_[index(range.label)];
    if (row == kNone) continue;
    ++folded_[row].ranges;
    folded_[row].level = std::min(folded_[row].level, range.level);
  }
}

std::string_view RangeCounters::name_of(LabelId label) const {
  const uint32_t row = folded_as(label);
  return row == kNone ? std::string_view() : std::string_view(folded_[row].name);
}

uint32_t RangeCounters::steps() const {
  uint32_t best = kNone;
  const auto rank = [&](uint32_t row) {
    const FoldedRanges& each = folded_[row];
    const bool enough = each.ranges >= kFewestValues;
    return std::tuple(enough, enough ? -int{each.level} : 0, each.ranges);
  };
  for (uint32_t row = 0; row < folded_.size(); ++row) {
    if (best == kNone || rank(row) > rank(best)) best = row;
  }
  return best;
}

std::string folded_note(const std::vector<FoldedRanges>& folded) {
  std::string names;
  size_t count = 0;
  for (const FoldedRanges& each : folded) {
    if (each.name == kAnyProfilerStep || ++count > kMostFolded) continue;
    names += fmt::format("{}{} ({} texts)", names.empty() ? "" : ", ", each.name, each.texts);
  }
  if (count == 0) return {};
  if (count > kMostFolded) names += fmt::format(" and {} more", count - kMostFolded);
  return fmt::format("counters in range names are folded: {}; --ranges exact keeps each text", names);
}

}  // namespace prof::analyzer
