// See log_lines.h. Most changes are after the header, whose many lines have little effect.
#include "tests/fuzz/log_lines.h"

#include "analyzer/input/log/log_file.h"
#include "analyzer/input/log/log_text.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

namespace prof::tests {

namespace {

using Lines = std::vector<std::string>;

size_t below(size_t limit, FuzzRandom& random) { return limit == 0 ? 0 : random() % limit; }

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The first line of a block; without blocks the first line of all.
size_t body_of(const Lines& lines) {
  const auto body =
      std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("block "); });
  return body == lines.end() ? 0 : static_cast<size_t>(body - lines.begin());
}

size_t any_line(const Lines& lines, FuzzRandom& random) {
  const size_t first = random() % 8 == 0 ? 0 : body_of(lines);
  return first + below(lines.size() - first, random);
}

// Start and length of a piece of `line`.
using Stretch = std::pair<size_t, size_t>;

std::vector<Stretch> numbers_in(const std::string& line) {
  std::vector<Stretch> found;
  for (size_t at = 1; at < line.size(); ++at) {
    const char before = line[at - 1];
    if (!std::isdigit(static_cast<unsigned char>(line[at])) ||
        (before != '=' && before != ' ' && before != '[' && before != ':'))
      continue;
    size_t end = at;
    while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end]))) ++end;
    found.emplace_back(at, end - at);
    at = end;
  }
  return found;
}

std::vector<Stretch> texts_in(const std::string& line) {
  std::vector<Stretch> found;
  for (size_t at = line.find('"'); at != std::string::npos; at = line.find('"', at)) {
    size_t end = at + 1;
    while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
    if (end >= line.size()) break;
    found.emplace_back(at, end + 1 - at);
    at = end + 1;
  }
  return found;
}

std::vector<Stretch> fields_in(const std::string& line) {  // with the space before them
  std::vector<Stretch> found;
  for (size_t at = line.find(' '); at != std::string::npos;) {
    const size_t end = std::min(line.find(' ', at + 1), line.size());
    found.emplace_back(at, end - at);
    at = end == line.size() ? std::string::npos : end;
  }
  return found;
}

std::string other_number(const std::string& old, const Lines& lines, FuzzRandom& random) {
  static constexpr uint64_t kEdges[] = {0,          1,
                                        2,          127,
                                        128,        0xffff,
                                        0x7fffffff, 0x80000000,
                                        0xffffffff, uint64_t{1} << 32,
                                        INT64_MAX,  uint64_t{1} << 63,
                                        UINT64_MAX};
  const uint64_t value = old.size() < 20 ? std::stoull(old) : 0;
  switch (random() % 4) {
    case 0: return std::to_string(kEdges[below(std::size(kEdges), random)]);
    case 1: return std::to_string(value + random() % 33 - 16);  // a negative number wraps to a large one
    case 2: return std::to_string(uint64_t{1} << random() % 64);
    default: {
      const std::string& line = lines[any_line(lines, random)];
      const std::vector<Stretch> numbers = numbers_in(line);
      if (numbers.empty()) return "3";
      const auto [at, size] = numbers[below(numbers.size(), random)];
      return line.substr(at, size);
    }
  }
}

std::string other_text(const std::string& old, const Lines& lines, FuzzRandom& random) {
  const std::string inside = old.substr(1, old.size() - 2);
  switch (random() % 4) {
    case 0: return "\"\"";
    case 1: return std::string("\"").append(random() % 300, 'a').append(inside).append("\"");
    case 2: return std::string("\"").append(inside).append("\\xff\\n<&\\\"\\x00\"");
    default: {
      const std::string& line = lines[any_line(lines, random)];
      const std::vector<Stretch> texts = texts_in(line);
      if (texts.empty()) return old;
      const auto [at, size] = texts[below(texts.size(), random)];
      return line.substr(at, size);
    }
  }
}

template <class Replacement>
void replace_one(std::string& line, const std::vector<Stretch>& all, FuzzRandom& random, Replacement make) {
  if (all.empty()) return;
  const auto [at, size] = all[below(all.size(), random)];
  const std::string made = make(line.substr(at, size));
  line.replace(at, size, made);
}

void change_one(Lines& lines, FuzzRandom& random) {
  if (lines.empty()) return;
  const size_t at = any_line(lines, random);
  const auto place = lines.begin() + static_cast<std::ptrdiff_t>(at);
  const uint64_t what = random() % 16;
  if (what == 0) {
    lines.erase(place);
  } else if (what <= 2) {
    const std::string copy = lines[any_line(lines, random)];
    lines.insert(place, copy);
  } else if (what == 3) {
    std::swap(lines[at], lines[any_line(lines, random)]);
  } else if (what <= 5) {
    replace_one(lines[at], texts_in(lines[at]), random,
                [&](const std::string& old) { return other_text(old, lines, random); });
  } else if (what == 6) {
    replace_one(lines[at], fields_in(lines[at]), random, [](const std::string&) { return std::string(); });
  } else {
    replace_one(lines[at], numbers_in(lines[at]), random,
                [&](const std::string& old) { return other_number(old, lines, random); });
  }
}

}  // namespace

std::string text_of_log(const std::vector<uint8_t>& bytes) {
  const analyzer::LogOpenResult opened = analyzer::LogFile::from_memory(bytes, "fuzz");
  std::string text;
  if (!opened) return text;
  analyzer::Sink sink(&text);
  analyzer::write_log_text(*opened.log, sink, {});
  sink.close();
  return text;
}

std::string change_lines(std::string_view text, FuzzRandom& random) {
  Lines lines = lines_of(text);
  for (uint64_t i = 1 + random() % 6; i > 0; --i) change_one(lines, random);
  return text_of(lines);
}

std::string splice_lines(std::string_view text, std::string_view other, FuzzRandom& random) {
  Lines lines = lines_of(text);
  const Lines from = lines_of(other);
  const size_t body = body_of(from);
  const size_t first = body + below(from.size() - body, random);
  const size_t count = std::min(from.size() - first, size_t{1} + random() % 32);
  const size_t to = body_of(lines) + below(lines.size() - body_of(lines) + 1, random);
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), from.begin() + static_cast<std::ptrdiff_t>(first),
               from.begin() + static_cast<std::ptrdiff_t>(first + count));
  return text_of(lines);
}

}  // namespace prof::tests
