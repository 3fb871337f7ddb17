// A missing or additional quote exchanges strings and the text between them. Whichever quote of a trace is damaged, the
// events after the next one are read, and the skipped text is reported with its place.
#include "analyzer/input/kineto/json_recover.h"
#include "analyzer/input/kineto/chrome_text.h"
#include "tests/unit/analyzer/input/kineto/kineto_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace prof::analyzer {
namespace {

using tests::import_text;

// As Kineto writes: an event on several lines; or all events on one line without spaces.
std::string trace_of(int events, bool lines) {
  std::string text = lines ? "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": "
                             "\"NVIDIA H200\", \"numSms\": 132\n    }\n  ],\n  \"traceEvents\": [\n"
                           : "{\"schemaVersion\":1,\"traceEvents\":[";
  for (int i = 0; i < events; ++i) {
    const std::string number = std::to_string(i);
    text += i == 0 ? "" : lines ? ",\n" : ",";
    text += lines ? "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op, [" + number +
                        "] {x}\", \"pid\": 7, \"tid\": 8,\n    \"ts\": 1" + number +
                        "0, \"dur\": 5,\n    \"args\": {\n      \"External id\": " + number +
                        ", \"Input Dims\": [[2, 3], []], \"Concrete Inputs\": [\"\", \"[1]\"]\n    }\n  }"
                  : "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::op, [" + number +
                        "] {x}\",\"pid\":7,\"tid\":8,\"ts\":1" + number +
                        "0,\"dur\":5,\"args\":{\"External id\":" + number + ",\"Input Dims\":[[2,3],[]]}}";
  }
  return text + (lines ? "\n  ],\n  \"traceName\": \"t.json\"\n}\n" : "],\"traceName\":\"t.json\"}");
}

struct Damaged {
  std::string text;
  size_t at;
};
// The text with one change: each quote in the middle one of three events, and each separator between them, removed,
// doubled, or replaced by another character.
std::vector<Damaged> damaged_quotes(const std::string& text) {
  std::vector<Damaged> all;
  const size_t last = text.find("[6]");
  for (size_t at = text.find('"', text.find("[3]")); at < last; at = text.find('"', at + 1)) {
    all.push_back({text.substr(0, at) + text.substr(at + 1), at});
    all.push_back({text.substr(0, at) + "\"" + text.substr(at), at});
    all.push_back({text.substr(0, at) + "'" + text.substr(at + 1), at});
  }
  return all;
}

TEST(JsonRecover, AnEventBeginsBehindACommaWithTheNameOfAMember) {
  const auto start = [](std::string_view text) {
    const char* const found = next_event_start(text.data(), text.data() + text.size());
    return found == nullptr ? -1 : found - text.data();
  };
  EXPECT_EQ(start("1}, {\"ph\": 1}"), 4);
  EXPECT_EQ(start("1},\n  {\n \"args\" :{}"), 6);
  EXPECT_EQ(start("\"args\":{\"name\":1}"), -1) << "no comma before it";
  EXPECT_EQ(start(",{\"phase\":1}"), -1) << "no member that events have";
  EXPECT_EQ(start(",{\"ph\""), -1) << "the text stops too early";
  EXPECT_EQ(start(", {\\\"ph\\\": 1}"), -1) << "inside a string";
}

TEST(JsonRecover, WhateverQuoteIsDamagedTheEventsBehindTheNextOneAreRead) {
  constexpr int kEvents = 12;
  for (const bool lines : {true, false}) {
    const std::string text = trace_of(kEvents, lines);
    const size_t whole = import_text(text)->ranges.size();
    ASSERT_EQ(whole, size_t{kEvents});
    for (const Damaged& damaged : damaged_quotes(text)) {
      SCOPED_TRACE(std::to_string(damaged.at) + " in " + damaged.text.substr(damaged.at - 20, 40));
      for (const size_t stretch : {size_t{300}, kKinetoStretch}) {
        const auto trace = import_text(damaged.text, stretch);
        EXPECT_GE(trace->ranges.size(), whole - 2) << "stretches of " << stretch;
        EXPECT_LE(trace->ranges.size(), whole);
        const std::vector<std::string>& damage = trace->processes[0].damage;
        ASSERT_FALSE(damage.empty());
        EXPECT_NE(damage[0].find("offset"), std::string::npos);
      }
    }
  }
}

TEST(JsonRecover, TwoMissingQuotesDoNotTakeTheEventsBetweenThem) {
  for (const bool lines : {true, false}) {
    std::string text = trace_of(400, lines);
    for (const char* number : {"[100]", "[300]"}) {
      const size_t name = text.find(number);
      text.erase(text.find('"', name), 1);
    }
    const auto trace = import_text(text);
    EXPECT_GE(trace->ranges.size(), 396u) << lines;
    EXPECT_LT(trace->ranges.size(), 400u);
  }
}

TEST(JsonRecover, AQuoteMissingBeforeTheEventsLosesOnlyTheMember) {
  std::string text = trace_of(5, true);
  text.erase(text.find("H200") + 4, 1);
  const auto trace = import_text(text);
  EXPECT_EQ(trace->ranges.size(), 5u);
  EXPECT_NE(trace->processes[0].damage[0].find("all up to \"traceEvents\" is not read"), std::string::npos);
}

TEST(JsonRecover, TheCopyOfATraceGoesOnToo) {
  constexpr int kEvents = 8;
  const auto path = std::filesystem::temp_directory_path() / ("json_recover." + std::to_string(getpid()));
  for (const bool lines : {true, false}) {
    const std::string text = trace_of(kEvents, lines);
    for (const Damaged& damaged : damaged_quotes(text)) {
      SCOPED_TRACE(std::to_string(damaged.at) + " in " + damaged.text.substr(damaged.at - 20, 40));
      std::ofstream(path, std::ios::binary) << damaged.text;
      ChromeText copy(path.string());
      int events = 0, left_out = 0;
      for (ChromeText::Piece piece = copy.next(); piece != ChromeText::Piece::End; piece = copy.next()) {
        events += piece == ChromeText::Piece::Event;
        left_out += piece == ChromeText::Piece::NotWellFormed || piece == ChromeText::Piece::Damage;
        if (piece == ChromeText::Piece::Damage) break;
      }
      EXPECT_GE(events, kEvents - 2);
      EXPECT_GE(left_out, 1);
    }
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace prof::analyzer
