// json_member() finds the members of the object itself, and nothing that only looks like one.
#include "analyzer/base/json/json_members.h"

#include <gtest/gtest.h>

#include <string>

namespace prof::analyzer {
namespace {

std::string found(std::string_view members, std::string_view key) {
  return std::string(json_member(members, key).value_or("none"));
}

TEST(JsonMember, IsFoundWithOrWithoutBracesAndBlanks) {
  EXPECT_EQ(found(R"("a":1,"b":2)", "b"), "2");
  EXPECT_EQ(found(R"({ "a" : 1 ,
 "b" : [2, 3] })",
                  "b"),
            "[2, 3]");
  EXPECT_EQ(found(R"("a":"x, \"b\": 4","b":-1.5e3)", "b"), "-1.5e3");
  EXPECT_EQ(found(R"("a":"text")", "a"), "\"text\"");
}

TEST(JsonMember, OfANestedObjectIsNotTaken) {
  EXPECT_EQ(found(R"("inner":{"Rank":7},"Rank":3)", "Rank"), "3");
  EXPECT_EQ(found(R"("inner":{"Rank":7})", "Rank"), "none");
  EXPECT_EQ(found(R"("list":[{"Rank":7}],"b":1)", "Rank"), "none");
}

TEST(JsonMember, InsideAStringIsNotTaken) {
  EXPECT_EQ(found(R"("note":"\"Rank\":7,","Rank":3)", "Rank"), "3");
  EXPECT_EQ(found(R"("My Rank":7,"Rank":3)", "Rank"), "3");
  EXPECT_EQ(found(R"("a":"Rank")", "Rank"), "none");
}

TEST(JsonMember, OfATextThatIsNotWellFormedIsNone) {
  for (const char* const text :
       {"", "{", "\"Rank\"", "\"Rank\":", "\"Rank\":\"3", "\"a\":1 \"Rank\":3", "Rank:3", "\"a\":,\"Rank\":3"})
    EXPECT_EQ(found(text, "Rank"), "none") << text;
}

}  // namespace
}  // namespace prof::analyzer
