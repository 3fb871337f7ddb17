// Kineto and Chrome traces give the same model wherever pieces are cut. Damaged ones give the events before the damage
// and its place.
#include "tests/unit/analyzer/input/kineto/kineto_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace prof::analyzer {
namespace {

using tests::describe;
using tests::gzip;
using tests::has_line;
using tests::import_text;
using tests::kEverything;
using tests::set_aside;

TEST(KinetoImport, GivesTheSameModelWhereverTheTextIsCut) {
  const std::string text = kEverything;
  const std::string whole = describe(*import_text(text));
  for (size_t bytes = 1; bytes <= text.size() + 1; ++bytes)
    ASSERT_EQ(describe(*import_text(text, bytes)), whole) << "stretches of " << bytes;
  for (const size_t bytes : {size_t{100}, size_t{1000}, size_t{5000}})
    ASSERT_EQ(describe(*import_text(text, bytes, 4)), whole) << "four workers";
  ASSERT_EQ(describe(*import_text(gzip(text))), whole);
  ASSERT_EQ(describe(*import_text("\xef\xbb\xbf  \n" + text, 7)), whole);
}

TEST(KinetoImport, NeverCrashesOnACutTextAndSaysSo) {
  const std::string text = kEverything;
  const size_t first = text.find("\"ph\": \"X\", \"cat\": \"python_function\"");
  for (size_t size = first; size < text.size(); ++size) {
    const auto trace = import_text(std::string_view(text).substr(0, size), 200);
    ASSERT_FALSE(trace->processes[0].damage.empty()) << size;
    ASSERT_NE(trace->processes[0].damage.back().find("offset"), std::string::npos);
  }
  for (size_t size = 0; size < first; ++size) {
    try {
      import_text(std::string_view(text).substr(0, size), 200);
      ASSERT_GT(size, text.find("traceEvents"));
    } catch (const InputError&) {}
  }
  const std::string zipped = gzip(text);
  size_t refused = 0;
  for (size_t size = 20; size + 1 < zipped.size(); ++size) {
    try {
      const auto trace = import_text(std::string_view(zipped).substr(0, size), 200);
      ASSERT_NE(describe(*trace).find("gzip data ends early"), std::string::npos) << size;
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_LT(refused, zipped.size() / 2);
}

TEST(KinetoImport, SetsAsideWhatHasNoMeaningAndKeepsTheRest) {
  const auto trace = import_text(R"json({"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"good","pid":1,"tid":1,"ts":"5.5","dur":"1.5e0"},
{"ph":"X","cat":"cpu_op","name":"nan","pid":1,"tid":1,"ts":NaN,"dur":1},
{"ph":"X","cat":"cpu_op","name":"no time","pid":1,"tid":1},
{"ph":"X","cat":"cpu_op","name":"far","pid":1,"tid":1,"ts":1,"dur":7566917863418487.639},
{"ph":"X","cat":"cpu_op","name":"negative","pid":1,"tid":1,"ts":7.5,"dur":-3},
{"ph":"X","cat":"cpu_op","name":"no dur","pid":1,"tid":1,"ts":8},
{"ph":"X","cat":"kernel","name":"backwards","pid":0,"tid":7,"ts":9,"dur":-1,"args":{"correlation":99999999999999999999999,
 "est. achieved occupancy %":-Infinity,"grid":[1,2,NaN]}},
{"ph":"X","cat":"cpu_op" "name":"not JSON","pid":1,"tid":1,"ts":1,"dur":1},
5,"text",[{"ph":"X"}],null,
{"ph":"X","cat":"cpu_op","name":"bad )json"
                                 "\xff"
                                 R"json( utf-8","pid":1,"tid":1,"ts":9,"dur":1,"args":{"a":[1,],},},
]})json");
  has_line(*trace, "  range good kind 1 0..1500 level 0 children 0 path good");
  has_line(*trace, "  range negative kind 1 2000..2000 level 0 children 0 path negative");
  has_line(*trace, "  range no dur kind 1 2500..2500 level 0 children 0 path no dur");
  has_line(*trace, "  range bad \xff utf-8 kind 1 3500..4500 level 0 children 0 path bad \xff utf-8");
  has_line(*trace, "  backwards 3500..2500 correlation 0 launch -1 bytes 0 graph 0 1x2x1 0x0x0 0 0");
  EXPECT_EQ(set_aside(*trace, "can be read"), "2 events without a time that can be read");
  EXPECT_EQ(set_aside(*trace, "146"), "1 events at a time, or of a duration, beyond 146 years");
  EXPECT_EQ(set_aside(*trace, "negative duration"), "1 events of negative duration, taken as 0");
  EXPECT_EQ(set_aside(*trace, "without a duration"),
            "1 complete events without a duration: host events last 0, operations are not timed");
  EXPECT_EQ(set_aside(*trace, "64 bits"), "1 arguments that are no numbers of 64 bits");
  EXPECT_EQ(set_aside(*trace, "no objects"), "4 elements of the list of events that are no objects");
  EXPECT_EQ(trace->processes[0].coverage.operations_reversed, 1u);
  ASSERT_EQ(trace->processes[0].damage.size(), 1u);
  EXPECT_NE(trace->processes[0].damage[0].find("event skipped, it is no JSON"), std::string::npos);
}

TEST(KinetoImport, RefusesWhatIsNoTraceWithThePlace) {
  for (const char* text : {"{\"a\": 1}", "[1, 2]", "[{\"a\": 1}]", "{\"traceEvents\": 5}", "[\"",
                           "{\"traceEvents\": [{\"ph\"", "{", "{\"schemaVersion\" 1}", "{5}"}) {
    EXPECT_THROW(import_text(text), InputError) << text;
  }
  try {
    import_text("{\"traceEvents\": [{\"ph\"");
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "t: no event can be read: the text ends inside an event that begins here (at offset 17 of "
                 "the text)");
  }
}

TEST(KinetoImport, SurvivesTwentyMegabytesOfBrackets) {
  EXPECT_THROW(import_text(std::string(20u << 20, '[')), InputError);
  EXPECT_THROW(import_text("{\"traceEvents\":" + std::string(20u << 20, '[')), InputError);
  EXPECT_THROW(import_text("{\"deviceProperties\":" + std::string(20u << 20, '[')), InputError);
  std::string deep = "[{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"args\":{\"a\":";
  deep += std::string(1u << 20, '[') + std::string(1u << 20, ']') + "}}]";
  EXPECT_EQ(import_text(deep)->ranges.size(), 1u);
  deep = "[{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"odd\":";
  deep += std::string(1u << 20, '[') + std::string(1u << 20, ']') + "}]";
  EXPECT_EQ(import_text(deep)->ranges.size(), 1u);
}

TEST(KinetoImport, TakesAnEmptyTraceForWhatItIs) {
  for (const char* text : {"{\"traceEvents\": []}", "[]", "{\"traceEvents\": [], \"schemaVersion\": 1}", "[\n"}) {
    const auto trace = import_text(text);
    ASSERT_EQ(trace->processes.size(), 1u) << text;
    EXPECT_TRUE(trace->processes[0].damage.empty()) << text;
    EXPECT_EQ(trace->last_ns, 0);
  }
}

}  // namespace
}  // namespace prof::analyzer
