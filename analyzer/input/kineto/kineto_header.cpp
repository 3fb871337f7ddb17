#include "analyzer/input/kineto/kineto_header.h"

#include "analyzer/base/json/json_brackets.h"
#include "analyzer/base/json/json_decimal.h"
#include "analyzer/base/json/json_scan.h"
#include "analyzer/base/json/json_text.h"
#include "analyzer/input/kineto/kineto_event.h"

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>

namespace prof::analyzer {

namespace {

constexpr unsigned kHeaderFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag |
                                  rapidjson::kParseTrailingCommasFlag | rapidjson::kParseNanAndInfFlag;
constexpr size_t kLongestFact = 256;
constexpr size_t kMostFacts = 1000;
constexpr uint64_t kMostDepth = 64;
constexpr rapidjson::SizeType kMostListedDevices = 4096;

std::string_view text_of(const rapidjson::Value& value) {
  if (value.IsString()) return {value.GetString(), value.GetStringLength()};
  return value.IsTrue() ? "true" : value.IsFalse() ? "false" : "";
}

uint64_t nesting(std::string_view value) {
  JsonBrackets brackets(value.data(), value.data() + value.size());
  uint64_t depth = 0, deepest = 0;
  while (const char* const at = brackets.next()) {
    if (*at == '{' || *at == '[') {
      ++depth;
    } else if (depth != 0) {
      --depth;
    }
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

KinetoDevice read_device(const rapidjson::Value& value, uint32_t ordinal) {
  KinetoDevice device;
  device.ordinal = ordinal;
  for (const auto& member : value.GetObject()) {
    const std::string_view key = text_of(member.name), text = text_of(member.value);
    uint64_t number = 0;
    if (key == "name") {
      device.name = text;
    } else if (to_uint64(text, number) == DecimalResult::Ok) {
      if (key == "id" && number < UINT32_MAX) device.ordinal = static_cast<uint32_t>(number);
      device.properties.emplace_back(key, number);
    }
  }
  return device;
}

}  // namespace

void KinetoHeader::add(std::string_view key, std::string_view value) {
  if (value.empty()) return;
  const bool compound = value.front() == '{' || value.front() == '[';
  if (!compound) {
    const std::string_view text = unquoted(value);
    if (key == "baseTimeNanoseconds") {
      int64_t base = 0;
      if (to_int64(text, base) == DecimalResult::Ok && base > -(int64_t{1} << 61) && base < int64_t{1} << 61) {
        base_ns = base;
      } else {
        unread.push_back("\"baseTimeNanoseconds\" is no time; taken as 0");
      }
    }
    if (text.size() <= kLongestFact && text != "null" && facts.size() < kMostFacts) facts.emplace_back(key, text);
    return;
  }
  if (key != "deviceProperties" && key != "distributedInfo") return;
  rapidjson::Document document;
  if (nesting(value) > kMostDepth) {
    unread.push_back(fmt::format("\"{}\" has more than {} brackets inside each other", key, kMostDepth));
    return;
  }
  document.Parse<kHeaderFlags>(value.data(), value.size());
  const std::string repaired = document.HasParseError() ? repaired_json(value) : std::string();
  if (!repaired.empty()) document.Parse<kHeaderFlags>(repaired.data(), repaired.size());
  if (document.HasParseError()) {
    unread.push_back(fmt::format("\"{}\" is no JSON: {}", key, rapidjson::GetParseError_En(document.GetParseError())));
    return;
  }
  if (key == "deviceProperties" && document.IsArray()) {
    for (rapidjson::SizeType i = 0; i < document.Size() && i < kMostListedDevices; ++i) {
      if (document[i].IsObject()) devices.push_back(read_device(document[i], i));
    }
  } else if (key == "distributedInfo" && document.IsObject()) {
    for (const auto& member : document.GetObject()) {
      const std::string_view text = text_of(member.value);
      if (!text.empty() && text.size() <= kLongestFact && facts.size() < kMostFacts)
        facts.emplace_back(text_of(member.name), text);
    }
  }
}

}  // namespace prof::analyzer
