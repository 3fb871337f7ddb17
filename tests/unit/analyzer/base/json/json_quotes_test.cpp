// Values with texts that end with a backslash that nobody escaped: where they end, and what they mean.
#include "analyzer/base/json/json_quotes.h"
#include "analyzer/base/json/json_scan.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace prof::analyzer {
namespace {

// The repaired value | what follows it; "no end" if it has none.
std::string closed(const std::string& text) {
  const ClosedValue value = close_backslash_quotes(text.data(), text.data() + text.size());
  if (value.end == nullptr) return "no end";
  return value.text + " | " + text.substr(static_cast<size_t>(value.end - text.data()));
}

TEST(JsonQuotes, ABackslashBeforeTheQuoteThatClosesATextIsACharacter) {
  EXPECT_EQ(closed(R"({"path":"C:\logs\"},{"ph":"X"})"), R"({"path":"C:\\logs\\"} | ,{"ph":"X"})");
  EXPECT_EQ(closed(R"({"a":"C:\x\", "b":1})"), R"({"a":"C:\\x\\", "b":1} | )");
  EXPECT_EQ(closed(R"({"a":["C:\x\","D:\y\"]} )"), R"({"a":["C:\\x\\","D:\\y\\"]} |  )");
  EXPECT_EQ(closed("{\"args\":{\"a\":\"C:\\x\\\"\n}\n}\n"), "{\"args\":{\"a\":\"C:\\\\x\\\\\"\n}\n} | \n");
}

TEST(JsonQuotes, ItsOtherBackslashesAreCharactersTooEvenIfTheyCouldBeginAnEscape) {
  EXPECT_EQ(closed(R"({"a":"C:\new\table\"})"), R"({"a":"C:\\new\\table\\"} | )");
  EXPECT_EQ(closed(R"({"a":"C:\\new\"})"), R"({"a":"C:\\new\\"} | )");
}

TEST(JsonQuotes, AnEscapedQuoteInsideATextStaysOne) {
  EXPECT_EQ(closed(R"({"a":"say \"x\", \"y\"","b":"C:\x\"})"), R"({"a":"say \"x\", \"y\"","b":"C:\\x\\"} | )");
  EXPECT_EQ(closed(R"({"a":"{\"k\": \"v\"}","b":"C:\x\"})"), R"({"a":"{\"k\": \"v\"}","b":"C:\\x\\"} | )");
  EXPECT_EQ(closed(R"({"a":"C:\x\" 5,"b":1})"), "no end");
}

TEST(JsonQuotes, WhatHasNoSuchTextOrNoEndIsLeftAlone) {
  EXPECT_EQ(closed(R"({"a":"b"})"), "no end");
  EXPECT_EQ(closed(R"({"a":"C:\x\","b":)"), "no end");
  EXPECT_EQ(closed("{\"a\":\"b\n\",\"c\":\"C:\\x\\\"}"), "no end");
  EXPECT_EQ(closed(R"({"a":"C:\x\)"), "no end");
  EXPECT_EQ(closed(""), "no end");
  EXPECT_EQ(closed("{\"a\":\"" + std::string(size_t{1} << 20, 'x') + "\\\"}"), "no end");
}

TEST(JsonQuotes, ARepairedValueIsReadAsSuch) {
  EXPECT_EQ(repaired_json(R"({"a":"C:\dir\","b":.5})"), R"({"a":"C:\\dir\\","b":0.5})");
  EXPECT_EQ(repaired_json(R"({"a":"C:\dir\","b")"), "");
}

}  // namespace
}  // namespace prof::analyzer
