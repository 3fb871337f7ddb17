// What do the values of options mean? There is one reader for each type of a row of options.def. The recorder,
// `prof record` and `prof doctor` use them. Readers are constant expressions, so the defaults run no code when the
// library is loaded. They must not allocate. A value that keeps text points into the text that was read. That text must
// end in a NUL and outlive the value.
// A reader returns false if the text is not valid; the value is then undefined.
#pragma once

#include "preload/format/number_list.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::format::option {

// The argument after the colon of a word. None: nothing; Number: digits; Label: any text; Range: NAME or NAME@DOMAIN of
// an NVTX range; Time: a time above 0. Rest: the word itself is any text.
enum class Argument : uint8_t { None, Number, Label, Range, Time, Rest };
struct Word {
  std::string_view text;
  Argument argument = Argument::None;
};

// The enums and words of the choices. The index of a word equals the value of its enumerator.
template <class Enum> struct WordsOf;

#define PROF_OPTION(...)
#define PROF_ALL(word)
#define PROF_NONE(word)
#define PROF_METRICS(text)
#define PROF_CHOICES(member, variable, Type, Enum, initial, flag, words, help) enum class Enum : uint8_t { words };
#define PROF_WORD(Name, word) Name,
#define PROF_WORD_WITH(Name, word, argument, text) Name,
#define PROF_OTHER(Name, text) Name,
#define PROF_ITEM(Name, word) Name,
#include "preload/format/options.def"
#undef PROF_CHOICES
#undef PROF_WORD
#undef PROF_WORD_WITH
#undef PROF_OTHER
#undef PROF_ITEM

#define PROF_CHOICES(member, variable, Type, Enum, initial, flag, words, help) \
  template <> struct WordsOf<Enum> { static constexpr Word kWords[] = {words}; };
#define PROF_WORD(Name, word) {word},
#define PROF_WORD_WITH(Name, word, argument, text) {word, Argument::argument},
#define PROF_OTHER(Name, text) {{}, Argument::Rest},
#define PROF_ITEM(Name, word) {word},
#include "preload/format/options.def"
#undef PROF_CHOICES
#undef PROF_WORD
#undef PROF_WORD_WITH
#undef PROF_OTHER
#undef PROF_ITEM

// The values of a row as messages show them, after the first character: "|off|on" for words, ",launch,copy|all" for
// items.
template <class Enum> struct ValuesOf;
#define PROF_CHOICES(member, variable, Type, Enum, initial, flag, words, help) \
  template <> struct ValuesOf<Enum> {                                          \
    static constexpr char kJoined[] = words;                                   \
    static constexpr const char* text() { return kJoined + 1; }                \
  };
#define PROF_WORD(Name, word) "|" word
#define PROF_WORD_WITH(Name, word, argument, text) "|" word ":" text
#define PROF_OTHER(Name, text) "|" text
#define PROF_ITEM(Name, word) "," word
#undef PROF_ALL
#undef PROF_NONE
#undef PROF_METRICS
#define PROF_ALL(word) "|" word
#define PROF_NONE(word) "|" word
#define PROF_METRICS(text) "|" text
#include "preload/format/options.def"
#undef PROF_CHOICES
#undef PROF_WORD
#undef PROF_WORD_WITH
#undef PROF_OTHER
#undef PROF_ITEM
#undef PROF_ALL
#undef PROF_NONE
#undef PROF_METRICS

// The words for "every item" and "no item", if a row has them.
template <class Enum> struct WholeWordsOf;
#define PROF_CHOICES(member, variable, Type, Enum, initial, flag, words, help) \
  template <> struct WholeWordsOf<Enum> {                                      \
    std::string_view all, none;                                                \
    constexpr WholeWordsOf() { words }                                         \
  };
#define PROF_WORD(Name, word)
#define PROF_WORD_WITH(Name, word, argument, text)
#define PROF_OTHER(Name, text)
#define PROF_ITEM(Name, word)
#define PROF_METRICS(text)
#define PROF_ALL(word) all = word;
#define PROF_NONE(word) none = word;
#include "preload/format/options.def"
#undef PROF_CHOICES
#undef PROF_WORD
#undef PROF_WORD_WITH
#undef PROF_OTHER
#undef PROF_ITEM
#undef PROF_ALL
#undef PROF_NONE
#undef PROF_METRICS
#undef PROF_OPTION

// The text from `at` on. (string_view::substr can throw, which needs the C++ library.)
constexpr std::string_view tail(std::string_view text, size_t at) { return {text.data() + at, text.size() - at}; }

// Reads a number such as "123" or "1.5" and multiplies it by `scale`. Decimals from the tenth on are ignored. The text
// after the number remains in `text`. `exact` reports whether the product is a whole number.
constexpr bool read_decimal(std::string_view& text, uint64_t scale, uint64_t& out, bool& exact) {
  uint64_t whole = 0;
  size_t i = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    if (whole > UINT64_MAX / 16 / scale) return false;
    whole = whole * 10 + static_cast<uint64_t>(text[i] - '0');
  }
  size_t digits = i;
  uint64_t numerator = 0;
  uint64_t denominator = 1;
  if (i < text.size() && text[i] == '.') {
    for (++i; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i, ++digits) {
      if (denominator == 1'000'000'000) continue;
      numerator = numerator * 10 + static_cast<uint64_t>(text[i] - '0');
      denominator *= 10;
    }
  }
  text.remove_prefix(i);
  const auto part = static_cast<unsigned __int128>(numerator) * scale;
  exact = part % denominator == 0;
  out = whole * scale + static_cast<uint64_t>(part / denominator);
  return digits != 0;
}

constexpr bool read_scaled(std::string_view text, uint64_t& out, bool& exact) {
  if (text.empty()) return false;
  uint64_t scale = 1;
  switch (text.back()) {
    case 'K':
    case 'k': scale = 1ull << 10; break;
    case 'M':
    case 'm': scale = 1ull << 20; break;
    case 'G':
    case 'g': scale = 1ull << 30; break;
    case 'T':
    case 't': scale = 1ull << 40; break;
    default: break;
  }
  if (scale != 1) text.remove_suffix(1);
  return read_decimal(text, scale, out, exact) && text.empty();
}

// Reads digits only. Returns false if the number is above `most`.
constexpr bool read_digits(std::string_view text, uint64_t most, uint64_t& out) {
  out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || out > (most - static_cast<uint64_t>(c - '0')) / 10) return false;
    out = out * 10 + static_cast<uint64_t>(c - '0');
  }
  return !text.empty();
}

struct Flag {
  using Value = bool;
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    out = text == "1" || text == "on" || text == "yes" || text == "true";
    return out || text == "0" || text == "off" || text == "no" || text == "false";
  }
};

struct Switch {
  using Value = bool;
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    out = text == "on";
    return out || text == "off";
  }
};

struct Bytes {
  using Value = uint64_t;
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    bool exact = false;
    return read_scaled(text, out, exact);
  }
};

// A whole number. If the values of the row are a range "FROM..TO", it must be in that range.
struct Count {
  using Value = uint64_t;
  static constexpr bool read(std::string_view text, std::string_view values, Value& out) {
    bool exact = false;
    if (!read_scaled(text, out, exact) || !exact) return false;
    const size_t dots = values.find("..");
    uint64_t from = 0, to = 0;
    if (dots == std::string_view::npos || !read_digits({values.data(), dots}, UINT64_MAX, from) ||
        !read_digits(tail(values, dots + 2), UINT64_MAX, to))
      return true;
    return out >= from && out <= to;
  }
};

// A time; the value is in nanoseconds.
struct Seconds {
  using Value = uint64_t;
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    bool exact = false;
    if (!read_decimal(text, 1'000'000'000, out, exact)) return false;
    if (text == "ms") out /= 1'000;
    if (text == "us") out /= 1'000'000;
    return text.empty() || text == "s" || text == "ms" || text == "us";
  }
};

struct Text {
  using Value = const char*;  // never null
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    out = text.data();
    return true;
  }
};

// Patterns separated by commas, in which * matches any characters.
struct Names {
  using Value = Names;
  std::string_view list;
  bool every = false;  // "*": every name
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    out = {text, text == "*"};
    return true;
  }
};

// "all", or a list such as "0,2-3" (number_list.h).
struct Numbers {
  using Value = Numbers;
  std::string_view list;
  bool every = false;
  constexpr bool has(uint64_t number) const { return every || number_in_list(list, number); }
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    out = {text, text == "all"};
    return is_number_list(text);
  }
};

// What a ring keeps: the last bytes or the last seconds. If both are 0, there is no ring.
struct Ring {
  using Value = Ring;
  static constexpr uint64_t kLeastBytes = 1u << 20;  // the recorder enlarges a smaller ring
  uint64_t bytes = 0, ns = 0;
  constexpr bool wanted() const { return bytes != 0 || ns != 0; }
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    out = {};
    if (text == "off") return true;
    return text.ends_with('s') ? Seconds::read(text, {}, out.ns) : Bytes::read(text, {}, out.bytes);
  }
};

// A share above 0 % and up to 100 %, with or without the percent sign.
struct Percent {
  using Value = Percent;
  double share = 0;  // fraction of 1; 0: off
  std::string_view text;
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    out = {0, text};
    if (text == "off") return true;
    if (text.ends_with('%')) text.remove_suffix(1);
    uint64_t billionths = 0;
    bool exact = false;
    if (!read_decimal(text, 1'000'000'000, billionths, exact) || !text.empty()) return false;
    out.share = static_cast<double>(billionths) / 1e9 / 100;
    return billionths != 0 && billionths <= 100'000'000'000;
  }
};

// How often host threads are sampled: "off", a number of samples a second, or "starved[:HZ]".
struct HostRate {
  using Value = HostRate;
  static constexpr uint64_t kUsual = 99, kMost = 2000;
  uint64_t hz = 0;  // 0: off
  bool starved = false;
  constexpr bool wanted() const { return hz != 0; }
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    out = {};
    if (text == "off") return true;
    constexpr std::string_view kStarved = "starved";
    out.starved = text.starts_with(kStarved);
    if (text == kStarved) {
      out.hz = kUsual;
      return true;
    }
    if (out.starved) {
      if (text[kStarved.size()] != ':') return false;
      text = tail(text, kStarved.size() + 1);
    }
    return read_digits(text, kMost, out.hz) && out.hz != 0;
  }
  // In 12 bits, for ControlWords.
  static constexpr uint32_t kStarvedBit = 2048;
  constexpr uint32_t word() const { return static_cast<uint32_t>(hz) | (starved ? kStarvedBit : 0); }
  static constexpr Value of_word(uint32_t word) {
    return {.hz = word & (kStarvedBit - 1), .starved = (word & kStarvedBit) != 0};
  }
  constexpr bool operator==(const HostRate&) const = default;
};
static_assert(HostRate::kMost < HostRate::kStarvedBit);

// How often PC samples are taken: "off", "auto", or "2^N": each 2^N cycles of a multiprocessor.
struct PcPeriod {
  using Value = PcPeriod;
  static constexpr uint64_t kLeast = 5, kMost = 31, kUsual = 16;
  uint64_t exponent = 0;   // 0: off
  bool automatic = false;  // the exponent is where it starts
  constexpr bool wanted() const { return exponent != 0; }
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    out = {};
    if (text == "off") return true;
    out.automatic = text == "auto";
    if (out.automatic) {
      out.exponent = kUsual;
      return true;
    }
    return text.starts_with("2^") && read_digits(tail(text, 2), kMost, out.exponent) && out.exponent >= kLeast;
  }
};

// "NAME[:K]=N": launch K (from 1) of the kernel NAME is repeated N times. NAME may contain colons.
struct Repeat {
  using Value = Repeat;
  static constexpr uint64_t kMost = 1'000'000;
  std::string_view kernel;  // as the user wrote it; empty: off
  uint64_t launch = 1, times = 0;
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    out = {};
    if (text == "off") return true;
    const size_t equals = text.rfind('=');
    if (equals == std::string_view::npos || !read_digits(tail(text, equals + 1), kMost, out.times) || out.times == 0)
      return false;
    out.kernel = {text.data(), equals};
    const size_t colon = out.kernel.rfind(':');
    if (colon != std::string_view::npos && colon != 0 && out.kernel[colon - 1] != ':') {
      if (!read_digits(tail(out.kernel, colon + 1), UINT64_MAX / 16, out.launch) || out.launch == 0) return false;
      out.kernel = {out.kernel.data(), colon};
    }
    return !out.kernel.empty();
  }
};

// NVTX ranges by their name. Without a domain, or with the domain *, they match in every domain. An empty domain is the
// default domain.
struct RangeName {
  std::string_view name, domain;
  bool every_domain = true;
  constexpr bool in_domain(std::string_view of) const { return every_domain || of == domain; }
};
constexpr RangeName read_range_name(std::string_view text) {
  const size_t at = text.rfind('@');
  if (at == std::string_view::npos) return {text, {}, true};
  return {{text.data(), at}, tail(text, at + 1), tail(text, at + 1) == "*"};
}

// One of the words, and its argument.
struct ChosenWord {
  uint32_t index = 0;
  std::string_view text;  // Label: the text after the colon; Rest: the whole text
  uint64_t number = 0;    // Number: its value; Time: in nanoseconds
  RangeName range;
};

constexpr bool read_argument(std::string_view text, const Word& word, ChosenWord& out) {
  const size_t colon = word.text.size();
  if (!text.starts_with(word.text) || text.size() < colon + 2 || text[colon] != ':') return false;
  const std::string_view argument = tail(text, colon + 1);
  switch (word.argument) {
    case Argument::Number: return read_digits(argument, UINT64_MAX, out.number);
    case Argument::Time: return Seconds::read(argument, {}, out.number) && out.number != 0;
    case Argument::Range: out.range = read_range_name(argument); return !out.range.name.empty();
    default: out.text = argument; return true;
  }
}

constexpr bool read_word(std::string_view text, const Word* words, uint32_t count, ChosenWord& out) {
  for (uint32_t i = 0; i < count; ++i) {
    out = {};
    out.index = i;
    switch (words[i].argument) {
      case Argument::None:
        if (text == words[i].text) return true;
        break;
      case Argument::Rest: out.text = text; return !text.empty();
      default:
        if (read_argument(text, words[i], out)) return true;
        break;
    }
  }
  return false;
}

template <class Enum> struct OneOf : ChosenWord {
  using Value = OneOf;
  constexpr Enum word() const { return static_cast<Enum>(index); }
  constexpr bool operator==(Enum other) const { return word() == other; }
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    return read_word(text, WordsOf<Enum>::kWords, sizeof WordsOf<Enum>::kWords / sizeof(Word), out);
  }
};

// Any of the items, separated by commas.
template <class Enum> struct SomeOf {
  using Value = SomeOf;
  uint32_t bits = 0;  // bit i: item i
  static constexpr uint32_t bit(Enum item) { return 1u << static_cast<uint32_t>(item); }
  constexpr bool has(Enum item) const { return (bits & bit(item)) != 0; }

  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    out = {};
    while (!text.empty()) {
      const std::string_view item = next_part(text, ',');
      if (!item.empty() && !read_item(item, out)) return false;
    }
    return true;
  }

 private:
  static constexpr bool read_item(std::string_view item, Value& out) {
    constexpr WholeWordsOf<Enum> kWhole;
    constexpr uint32_t kItems = sizeof WordsOf<Enum>::kWords / sizeof *WordsOf<Enum>::kWords;
    if (item == kWhole.none) return true;
    for (uint32_t i = 0; i < kItems; ++i) {
      if (item != kWhole.all && item != WordsOf<Enum>::kWords[i].text) continue;
      out.bits |= item == kWhole.all ? (1u << kItems) - 1 : 1u << i;
      return true;
    }
    return false;
  }
};

// Named sets of metrics, and metrics by name, in the order of the list.
struct WantedMetrics {
  static constexpr uint32_t kMost = 64;
  struct Item {
    uint32_t set = 0;  // bit i: set i of the row's words; 0: it is a metric
    std::string_view metric;
  };
  Item items[kMost];
  uint32_t count = 0;
  constexpr bool any() const { return count != 0; }
};
template <class Enum> struct Metrics {
  using Value = WantedMetrics;
  static constexpr bool read(std::string_view text, std::string_view, Value& out) {
    out.count = 0;
    if (text == WholeWordsOf<Enum>().none) return true;
    while (!text.empty()) {
      const std::string_view item = next_part(text, ',');
      if (item.empty()) continue;
      if (out.count == WantedMetrics::kMost) return false;
      out.items[out.count++] = {set_of(item), item};
    }
    return out.any();
  }

 private:
  static constexpr uint32_t set_of(std::string_view item) {
    uint32_t bit = 1;
    for (const Word& word : WordsOf<Enum>::kWords) {
      if (word.text == item) return bit;
      bit <<= 1;
    }
    return 0;
  }
};

}  // namespace prof::format::option
