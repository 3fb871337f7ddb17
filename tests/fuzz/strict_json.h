// Whether a text is strict JSON: one value, valid UTF-8.
#pragma once

#include <rapidjson/reader.h>

#include <string>

namespace prof::tests {

inline bool is_json(const std::string& text) {
  rapidjson::Reader reader;
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> encoded(stream);
  rapidjson::BaseReaderHandler<> ignore;
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseValidateEncodingFlag;
  return !reader.Parse<kFlags>(encoded, ignore).IsError();
}

}  // namespace prof::tests
