// What other tools write instead of JSON is read where the meaning is clear, and repaired; other text is refused.
#include "analyzer/base/json/json_scan.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <string>

namespace prof::analyzer {
namespace {

std::string repaired_value(const std::string& value) {
  const std::string json = repaired_json("{\"a\":" + value + "}");
  return json.empty() ? "refused" : json.substr(5, json.size() - 6);
}

TEST(JsonScan, NumbersAsPythonAndPrintfSpellThemBecomeNumbersOrNull) {
  for (const char* word :
       {"nan",      "-nan",      "NaN",    "inf",     "-inf",      "+Inf",   "Infinity", "-Infinity", "None",
        "nan(0x8)", "-nan(ind)", "1.#INF", "-1.#IND", "undefined", "1_000",  "12abc",    "0x",        "0xfg",
        "1e",       "1e+",       ".",      "-",       "+",         "12.5.6", "truer",    "nulls"})
    EXPECT_EQ(repaired_value(word), "null") << word;
  EXPECT_EQ(repaired_value("True"), "true");
  EXPECT_EQ(repaired_value("False"), "false");
  EXPECT_EQ(repaired_value("+1"), "1");
  EXPECT_EQ(repaired_value("-.5"), "-0.5");
  EXPECT_EQ(repaired_value(".5e3"), "0.5e3");
  EXPECT_EQ(repaired_value("1."), "1");
  EXPECT_EQ(repaired_value("1.e-2"), "1e-2");
  EXPECT_EQ(repaired_value("007"), "7");
  EXPECT_EQ(repaired_value("-00.250"), "-0.250");
  EXPECT_EQ(repaired_value("0x7f"), "127");
  EXPECT_EQ(repaired_value("0XFFFFFFFFFFFFFFFF"), "18446744073709551615");
  EXPECT_EQ(repaired_value("0x10000000000000000"), "null") << "more than 64 bits";
}

TEST(JsonScan, JsonItselfIsNotChanged) {
  for (const char* value : {"0", "-0.5e+7", "true", "false", "null", "\"\\u00e9\\ud83d\\ude00\\\\n\\/\"", "[1,[],{}]"})
    EXPECT_EQ(repaired_value(value), value);
}

TEST(JsonScan, AMissingValueIsNull) {
  EXPECT_EQ(repaired_value(""), "null");
  EXPECT_EQ(repaired_json("{\"a\": ,\"b\":1,}"), "{\"a\":null ,\"b\":1}");
}

TEST(JsonScan, BackslashesThatNobodyEscapedAreCharacters) {
  EXPECT_EQ(repaired_value(R"("torch\cuda")"), R"("torch\\cuda")");
  EXPECT_EQ(repaired_value(R"("C:\users\x")"), R"("C:\\users\\x")") << "\\u without a number";
  EXPECT_EQ(repaired_value(R"("torch\nn\modules")"), R"("torch\\nn\\modules")") << "\\n of a path with \\m";
  EXPECT_EQ(repaired_value(R"("a\qb\"c\\d")"), R"("a\\qb\"c\\d")") << "a quote and a backslash stay escaped";
  EXPECT_EQ(repaired_value(R"("a\u00e9\q")"), R"("a\\u00e9\\q")");
}

TEST(JsonScan, HalfASurrogateIsText) {
  EXPECT_EQ(repaired_value(R"("\ud83d.py\n")"), R"("\\ud83d.py\n")");
  EXPECT_EQ(repaired_value(R"("\ude00")"), R"("\\ude00")");
  EXPECT_EQ(repaired_value(R"("\ud83d\n")"), R"("\\ud83d\n")") << "an escape after it, near the end of the text";
  EXPECT_EQ(repaired_value(R"("\ud83d\u0041")"), R"("\\ud83d\u0041")");
}

TEST(JsonScan, ControlCharactersAreEscapedButALineBreakIsAMissingQuote) {
  EXPECT_EQ(repaired_value("\"a\tb\x01\""), R"("a\u0009b\u0001")");
  EXPECT_EQ(repaired_value("\"a\nb\""), "refused");
  EXPECT_EQ(repaired_value("\"a\\\nb\""), "refused");
}

TEST(JsonScan, WhatHasNoClearMeaningIsRefused) {
  for (const char* text :
       {"{\"a\" 1}", "{\"a\":1 \"b\":2}", "{a:1}", "{\"a\":'x'}", "{\"a\":1}}", "{\"a\":\"b}", "[1,,2]"})
    EXPECT_EQ(repaired_json(text), "") << text;
}

// A value that continues after the bytes read so far is never taken for one that cannot be read.
TEST(JsonScan, EveryCutOfATextAsksForMore) {
  const std::string text =
      "{\"p\":\"C:\\users\\ud83d\\ude00\\ud83d.\",\"n\":-nan,\"t\":True,\"h\":0x7f,\"e\":,\"x\":1.5e3 }";
  for (size_t size = 1; size < text.size(); ++size) {
    std::string cut = text.substr(0, size);
    cut.append(kJsonPadding, '\0');
    JsonScan scan;
    scan.set_end(cut.data() + size);
    EXPECT_EQ(scan.value(cut.data()), nullptr) << size;
    EXPECT_TRUE(scan.needs_more()) << size << ": " << text.substr(0, size);
  }
  rapidjson::Document document;
  EXPECT_FALSE(document.Parse(repaired_json(text).c_str()).HasParseError());
}

}  // namespace
}  // namespace prof::analyzer
