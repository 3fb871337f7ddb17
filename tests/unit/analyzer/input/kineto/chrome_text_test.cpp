// A Chrome trace as text: every byte is in one piece, whatever the file contains.
#include "analyzer/input/kineto/chrome_text.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace prof::analyzer {
namespace {

class ChromeTextTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  struct Read {
    std::string all;  // every piece with its separator
    std::vector<std::string> events, members, damage;
    bool strict = true;
  };
  Read read(const std::string& bytes) {
    write(bytes);
    ChromeText text(path_);
    Read read;
    for (;;) {
      const ChromeText::Piece piece = text.next();
      if (piece == ChromeText::Piece::End) return read;
      if (piece == ChromeText::Piece::Damage || piece == ChromeText::Piece::NotWellFormed) {
        read.damage.push_back(text.damage().substr(path_.size() + 2));
        if (piece == ChromeText::Piece::Damage) return read;
        continue;
      }
      read.strict &= !text.not_strict();
      read.all += std::string(text.separator()) + std::string(text.text());
      if (piece == ChromeText::Piece::Event) read.events.emplace_back(text.text());
      if (piece == ChromeText::Piece::Member) read.members.emplace_back(text.member_name());
    }
  }

  std::string path_ = (std::filesystem::temp_directory_path() / ("chrome_text." + std::to_string(getpid()))).string();
};

TEST_F(ChromeTextTest, GivesEveryByteOfATrace) {
  const std::string text =
      "\xef\xbb\xbf \n{ \"schemaVersion\" : 1,\n\"deviceProperties\":[{\"id\":0}] , \"traceEvents\" :\t[ "
      "{\"ph\":\"X\"} ,\n"
      " {\"args\":{\"a\":[1,-2.5e+3,{}],\"b\":\"\\\"\\u00e9]\"}},null ] ,\"traceName\":\"x\"}\n\n";
  const Read got = read(text);
  EXPECT_EQ(got.all, text);
  EXPECT_EQ(got.events, (std::vector<std::string>{"{\"ph\":\"X\"}",
                                                  "{\"args\":{\"a\":[1,-2.5e+3,{}],\"b\":\"\\\"\\u00e9]\"}}", "null"}));
  EXPECT_EQ(got.members, (std::vector<std::string>{"schemaVersion", "deviceProperties", "traceName"}));
  EXPECT_TRUE(got.damage.empty());
  EXPECT_TRUE(got.strict);
}

TEST_F(ChromeTextTest, TakesAnArrayOfEventsWithOrWithoutItsEnd) {
  for (const std::string end : {"]", " ] \n", "", ",\n", "\n"}) {
    const Read got = read("[{\"ph\":\"X\"},{\"ph\":\"i\"}" + end);
    EXPECT_EQ(got.events.size(), 2u) << end;
    EXPECT_TRUE(got.damage.empty()) << end << got.damage.front();
  }
  EXPECT_EQ(read("[]").events.size(), 0u);
}

TEST_F(ChromeTextTest, ReadsPiecesLongerThanItsBuffer) {
  const std::string large = "{\"name\":\"" + std::string(5 << 20, 'x') + "\"}";
  std::string text = "{\"a\":" + large + ",\"traceEvents\":[";
  for (int i = 0; i < 3; ++i) text += (i == 0 ? "" : ",") + large;
  for (int i = 0; i < 50'000; ++i)
    text += ",{\"ph\":\"X\",\"ts\":" + std::to_string(i) + ",\"name\":\"" +
            std::string(static_cast<size_t>(i % 97), 'y') + "\"}";
  text += "]}";
  const Read got = read(text);
  EXPECT_EQ(got.all, text);
  EXPECT_EQ(got.events.size(), 50'003u);
  EXPECT_TRUE(got.damage.empty());
}

TEST_F(ChromeTextTest, GivesTheMembersThatCopiesLookAt) {
  write(
      R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":"s","ts":1.5,"dur":2,"id":7,"args":{"External id":3, "correlation": 4,"x":{"correlation":9}}},{"args":7}])");
  ChromeText text(path_);
  text.next();
  ASSERT_EQ(text.next(), ChromeText::Piece::Event);
  const EventFields& fields = *text.fields();
  EXPECT_EQ(fields.phase, "\"X\"");
  EXPECT_EQ(fields.tid, "\"s\"");
  EXPECT_EQ(fields.duration, "2");
  EXPECT_EQ(fields.id, "7");
  EXPECT_EQ(fields.correlation, "4");
  EXPECT_EQ(fields.external_id, "3");
  EXPECT_EQ(fields.args, R"({"External id":3, "correlation": 4,"x":{"correlation":9}})");
  EXPECT_EQ(fields.argument_names, (std::vector<std::string_view>{"External id", "correlation", "x"}));
  ASSERT_EQ(text.next(), ChromeText::Piece::Event);
  EXPECT_TRUE(text.fields()->args_are_something_else);
  EXPECT_TRUE(text.fields()->pid.empty());
}

TEST_F(ChromeTextTest, SaysWhereATextEndsTooEarly) {
  const std::string text = "{\"traceEvents\":[{\"ph\":\"X\"},{\"ph\":\"i\"}],\"a\":1}";
  for (size_t cut = 1; cut < text.size(); ++cut) {
    const Read got = read(text.substr(0, cut));
    ASSERT_EQ(got.damage.size(), 1u) << cut;
    EXPECT_TRUE(text.starts_with(got.all)) << cut;
    EXPECT_TRUE(got.damage[0].starts_with("byte " + std::to_string(cut) + ": ends ")) << cut << got.damage[0];
    EXPECT_EQ(got.events.size(), (cut >= 26 ? 1u : 0u) + (cut >= 37 ? 1u : 0u)) << cut;
  }
}

TEST_F(ChromeTextTest, LeavesOutAnEventThatIsNoJsonAndGoesOn) {
  const Read got = read("{\"traceEvents\":[{\"ph\" \"X\"},{\"ph\":\"i\"},{\"a\":'1'},{\"b\":\"\n\"}]}");
  EXPECT_EQ(got.events, std::vector<std::string>{"{\"ph\":\"i\"}"});
  ASSERT_EQ(got.damage.size(), 3u);
  EXPECT_EQ(got.damage[0], "byte 22: an event that is not well-formed JSON is left out");
  EXPECT_EQ(got.damage[1], "byte 43: an event that is not well-formed JSON is left out");
}

TEST_F(ChromeTextTest, EndsAtTextThatIsNoTrace) {
  EXPECT_EQ(read("{\"traceEvents\":[{} {}]}").damage,
            std::vector<std::string>{"byte 19: the JSON is not well-formed; what follows is left out"});
  EXPECT_EQ(read("hello").damage,
            std::vector<std::string>{"byte 0: it is no JSON object or array; what follows is left out"});
  EXPECT_EQ(read("{} x").damage,
            std::vector<std::string>{"byte 3: there is more text after the end; what follows is left out"});
  EXPECT_EQ(read(std::string("{\"a\":\0 1}", 9)).damage.size(), 1u);
  EXPECT_EQ(read("").damage.size(), 1u);
}

TEST_F(ChromeTextTest, IsNotHurtByTwentyMillionBrackets) {
  const std::string brackets(20 << 20, '[');
  EXPECT_EQ(read(brackets).damage.size(), 1u);
  EXPECT_EQ(read("{\"traceEvents\":[{\"args\":" + brackets).damage.size(), 1u);
  EXPECT_EQ(read("{\"a\":" + brackets + "]").damage.size(), 1u);
  const std::string closed = "[" + brackets + std::string(brackets.size(), ']') + "]";
  EXPECT_EQ(read(closed).all, closed);
}

TEST_F(ChromeTextTest, MendsWhatStrictReadersRefuse) {
  const std::pair<std::string, std::string> cases[] = {
      {R"([{"a":NaN,"b":[-Infinity,Infinity,-Inf,1,],}])", R"({"a":null,"b":[null,null,null,1]})"},
      {"[{\"a\":\"N,]\\\",\xff\xc3\xa9\"}]", "{\"a\":\"N,]\\\",\\\\xff\xc3\xa9\"}"},
      {R"([{"a":01,"b":-nan,"c":True,"d":,"e":"C:\q"}])", R"({"a":1,"b":null,"c":true,"d":null,"e":"C:\\q"})"},
      {"[{\"a\":\"\t\"}]", "{\"a\":\"\\u0009\"}"},
      {R"([{"n":{},"e":[ ] , }])", R"({"n":{},"e":[ ]  })"},
  };
  for (const auto& [text, wanted] : cases) {
    const Read got = read(text);
    EXPECT_FALSE(got.strict);
    ASSERT_EQ(got.events.size(), 1u) << text;
    const std::string strict = strict_json(got.events[0]);
    EXPECT_EQ(strict, wanted);
    rapidjson::Document document;
    EXPECT_FALSE(document.Parse<rapidjson::kParseValidateEncodingFlag>(strict).HasParseError());
  }
  EXPECT_EQ(read("{\"traceEvents\":[{},],}").all, "{\"traceEvents\":[{},],}");
}

}  // namespace
}  // namespace prof::analyzer
