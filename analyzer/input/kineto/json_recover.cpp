#include "analyzer/input/kineto/json_recover.h"

#include "analyzer/base/json/json_extent.h"
#include "analyzer/base/json/json_scan.h"

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <cstring>

namespace prof::analyzer {

namespace {

constexpr std::string_view kEventMembers[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "id"};

const char* skip_spaces(const char* p, const char* end) {
  while (p != end && is_json_space(*p)) ++p;
  return p;
}

// `p` is after the {.
bool names_event_member(const char* p, const char* end) {
  p = skip_spaces(p, end);
  if (p == end || *p != '"') return false;
  const char* const name = ++p;
  while (p != end && *p >= 'a' && *p <= 'z') ++p;
  if (p == end || *p != '"') return false;
  const std::string_view found(name, static_cast<size_t>(p - name));
  p = skip_spaces(p + 1, end);
  return p != end && *p == ':' &&
         std::find(std::begin(kEventMembers), std::end(kEventMembers), found) != std::end(kEventMembers);
}

}  // namespace

const char* next_event_start(const char* p, const char* end) {
  const char* const begin = p;
  for (; p < end; ++p) {
    p = static_cast<const char*>(std::memchr(p, '{', static_cast<size_t>(end - p)));
    if (p == nullptr) return nullptr;
    const char* before = p;
    while (before != begin && is_json_space(before[-1])) --before;
    if (before != begin && before[-1] == ',' && names_event_member(p + 1, end)) return p;
  }
  return nullptr;
}

const char* find_trace_events(const char* p, const char* end) {
  constexpr std::string_view kName = "\"traceEvents\"";
  while ((p = std::search(p, end, kName.begin(), kName.end())) != end) {
    p = skip_spaces(p + kName.size(), end);
    if (p == end || *p != ':') continue;
    p = skip_spaces(p + 1, end);
    if (p != end && *p == '[') return p + 1;
  }
  return nullptr;
}

bool is_well_formed(std::string_view value) {
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseTrailingCommasFlag | rapidjson::kParseNanAndInfFlag;
  rapidjson::Reader reader;
  rapidjson::MemoryStream stream(value.data(), value.size());
  rapidjson::BaseReaderHandler<> nothing;
  return !reader.Parse<kFlags>(stream, nothing).IsError() || !repaired_json(value).empty();
}

}  // namespace prof::analyzer
