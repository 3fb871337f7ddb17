// Kineto and Chrome traces give the same model wherever pieces are cut. Damaged ones give the events before the damage
// and its place.
#include "tests/unit/analyzer/input/kineto/kineto_text.h"

#include <gtest/gtest.h>
#include <zstd.h>

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
  std::string zstd(ZSTD_compressBound(text.size()), '\0');
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 3));
  ASSERT_EQ(describe(*import_text(zstd)), whole);
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

// Each of the names costs its event without a repair: an escape that is none, \u without a number, half a surrogate.
TEST(KinetoImport, KeepsEventsWhoseBackslashesNobodyEscaped) {
  const auto trace = import_text(R"json({"traceEvents":[
{"ph":"X","cat":"python_function","name":"torch\cuda\__init__.py(219): f","pid":1,"tid":1,"ts":1,"dur":1,
 "args":{"a":["\d"]}},
{"ph":"X","cat":"python_function","name":"C:\users\x\t.py(3): main","pid":1,"tid":1,"ts":3,"dur":1},
{"ph":"X","cat":"python_function","name":"a\b\f\r.py(1): y","pid":1,"tid":1,"ts":5,"dur":1},
{"ph":"X","cat":"cpu_op","name":"aten::op","pid":1,"tid":1,"ts":7,"dur":1,
 "args":{"Input Dims":[[2,3]],"kernel_file":"D:\q\k.py","External id":4}},
{"ph":"X","cat":"python_function","name":"good\\name.py(1): y","pid":1,"tid":1,"ts":9,"dur":1}
]})json",
                                 512, 2);
  has_line(*trace, R"(  range torch\cuda\__init__.py(219): f kind 3 0..1000 level 0 children 0 path )");
  has_line(*trace, R"(  range C:\users\x\t.py(3): main kind 3 2000..3000 level 0 children 0 path )");
  has_line(*trace, R"(  range a\b\f\r.py(1): y kind 3 4000..5000 level 0 children 0 path )");
  has_line(
      *trace,
      R"(  range aten::op kind 1 6000..7000 level 0 children 0 path aten::op external 4 sequence -1 forward 0 flops 0 )"
      R"(dims [[2,3]] types  concrete  stack  other "kernel_file":"D:\\q\\k.py")");
  has_line(*trace, R"(  range good\name.py(1): y kind 3 8000..9000 level 0 children 0 path )");
  EXPECT_EQ(set_aside(*trace, "repaired").substr(0, 8), "4 events");
  EXPECT_EQ(trace->processes[0].all_damage(), 0u);
}

// Each line is a kernel with one argument, or a time, that is no JSON.
// Events with texts that end with a backslash, on lines of their own or on one line, an odd or an even number of them.
TEST(KinetoImport, KeepsEventsWhoseTextsEndWithABackslash) {
  for (const char* const separator : {",\n", ","}) {
    for (int bad = 1; bad <= 4; ++bad) {
      std::string text = "{\"traceEvents\":[";
      for (int i = 0; i < 12; ++i) {
        const bool is_bad = i % 3 == 1 && i / 3 < bad;
        text += fmt::format(R"({}{{"ph":"X","cat":"cpu_op","name":"op{}","pid":1,"tid":1,"ts":{},"dur":5,"args":{{)"
                            R"("dir":"{}","Input Dims":[[1,2],"{}"]}}}})",
                            i == 0 ? "" : separator, i, 10 * i, is_bad ? "C:\\logs\\" : "say \\\"x\\\"",
                            is_bad ? "D:\\new\\" : "y");
      }
      text += "]}";
      for (const size_t stretch : {size_t{300}, kKinetoStretch}) {
        const auto trace = import_text(text, stretch);
        SCOPED_TRACE(fmt::format("{} bad, separator {}, stretches of {}", bad, separator[1] == 0, stretch));
        EXPECT_EQ(trace->ranges.size(), 12u);
        EXPECT_EQ(trace->processes[0].all_damage(), 0u);
        EXPECT_EQ(trace->processes[0].damage_lost, 0u);
        EXPECT_EQ(set_aside(*trace, "repaired").substr(0, 8), fmt::format("{} events", bad));
      }
    }
  }
}

TEST(KinetoImport, ANumberInAnotherSpellingCostsTheArgumentNotTheEvent) {
  std::string text = "[";
  const char* const words[] = {"nan", "inf", "-inf", "-nan", "None",      "True", "+1",
                               ".5",  "1.",  "007",  "0x7f", "-nan(ind)", ""};
  for (const char* word : words)
    text += std::string("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":+5.,\"dur\":.5,") +
            "\"args\":{\"stream\":7,\"grid\":[2,1,1],\"warps per SM\":" + word + ",\"bytes\":" + word + "}},\n";
  const auto trace = import_text(text + "{\"ph\":\"X\",\"name\":\"no comma\" \"ts\":1}]");
  ASSERT_EQ(trace->operations.size(), std::size(words));
  for (const GpuOperation& operation : trace->operations) {
    EXPECT_EQ(operation.end_ns - operation.start_ns, 500);
    EXPECT_EQ(trace->kernels[operation.detail].grid[0], 2u);
  }
  EXPECT_EQ(trace->processes[0].damage_lost, 1u);
  EXPECT_EQ(trace->processes[0].all_damage(), 1u);
}

TEST(KinetoImport, CountsEveryLostEventAndListsTheFirst) {
  std::string text = "[";
  constexpr int kEvents = 5000;
  for (int i = 0; i < kEvents; ++i) {
    text += "{\"ph\":\"X\",\"name\":\"good\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1},\n";
    text += i % 2 == 0 ? "{\"ph\":\"X\" \"name\":\"bad\",\"pid\":1,\"tid\":1,\"ts\":1},\n"  // a comma is missing
                       : "{\"ph\":\"X\",\"name\":\"bad,\"pid\":1,\"tid\":1,\"ts\":1},\n";   // a quote is missing
  }
  JsonLimits limits;
  limits.listed_damage = 50;
  Trace trace;
  import_kineto(TextSource::of_memory(text), "t", trace, {2, {}}, 1000, limits);
  EXPECT_EQ(trace.ranges.size(), size_t{kEvents});
  EXPECT_EQ(trace.processes[0].damage_lost, uint64_t{kEvents});
  EXPECT_EQ(trace.processes[0].all_damage(), uint64_t{kEvents});
  EXPECT_LE(trace.processes[0].damage.size(), 1050u);
}

// What is too large for an event is refused with its place, and the next event is read.
TEST(KinetoImport, RefusesTextsAndBracketsThatAreTooLargeAndReadsWhatFollows) {
  JsonLimits limits;
  limits.event_bytes = 10'000;
  limits.member_bytes = 10'000;
  limits.depth = 100;
  const std::string event = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1";
  const auto lines = [&](const std::string& text, size_t ranges) {
    Trace trace;
    import_kineto(TextSource::of_memory(text), "t", trace, {2, {}}, 500, limits);
    EXPECT_EQ(trace.ranges.size(), ranges);
    EXPECT_EQ(trace.processes[0].damage.size(), 1u);
    return trace.processes[0].damage.empty() ? "" : trace.processes[0].damage[0];
  };
  const std::string good = event + "}";
  EXPECT_EQ(
      lines("[" + good + "," + event + ",\"args\":{\"a\":\"" + std::string(50'000, 'x') + "\"}}," + good + "]", 2),
      "t: event skipped, it is longer than 10000 bytes (at offset " + std::to_string(good.size() + 2) +
          " of the text)");
  EXPECT_EQ(lines("[" + good + "," + event + ",\"args\":{\"a\":" + std::string(150, '[') + std::string(150, ']') +
                      "}}," + good + "]",
                  2),
            "t: event skipped, it has more than 100 brackets inside each other (at offset " +
                std::to_string(good.size() + 2) + " of the text)");
  EXPECT_EQ(lines("{\"deviceProperties\":" + std::string(150, '[') + std::string(150, ']') + ",\"traceEvents\":[" +
                      good + "]}",
                  1),
            "t: \"deviceProperties\" has more than 64 brackets inside each other (at offset 0 of the text)");
  const std::string name = std::string(50'000, 'x');
  EXPECT_EQ(lines("{\"" + name + "\":1,\"traceEvents\":[" + good + "]}", 1).substr(0, 39),
            "t: a member whose name does not end; al");
}

TEST(KinetoImport, NamesTheLegacyAutogradProfiler) {
  const auto trace = import_text(
      R"json([{"name":"add","ph":"X","ts":1,"dur":2,"tid":1,"pid":"CPU functions","args":{}},
{"name":"add","ph":"X","ts":1,"dur":2,"tid":0,"pid":"CUDA functions","args":{}}])json");
  EXPECT_NE(trace->processes[0].partial.at(0).find("a trace of the legacy autograd profiler"), std::string::npos);
  EXPECT_EQ(trace->ranges.size(), 2u);
}

TEST(KinetoImport, SurvivesTwentyMegabytesOfBrackets) {
  EXPECT_THROW(import_text(std::string(20u << 20, '[')), InputError);
  EXPECT_THROW(import_text("{\"traceEvents\":" + std::string(20u << 20, '[')), InputError);
  EXPECT_THROW(import_text("{\"deviceProperties\":" + std::string(20u << 20, '[')), InputError);
  std::string deep = "[{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"args\":{\"a\":";
  deep += std::string(1u << 20, '[') + std::string(1u << 20, ']') + "}}]";
  EXPECT_THROW(import_text(deep), InputError);
  deep = "[{\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"odd\":";
  deep += std::string(1u << 20, '[') + std::string(1u << 20, ']') + "}]";
  EXPECT_THROW(import_text(deep), InputError);
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
