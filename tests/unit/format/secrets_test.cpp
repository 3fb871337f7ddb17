// Secrets of command lines and variables are masked, and nothing else is.
#include "preload/format/secrets.h"

#include <gtest/gtest.h>

#include <string>

namespace prof::format {
namespace {

std::string masked(std::string_view text, char separator = ' ') {
  std::string out(text.size(), '\0');
  out.resize(mask_secrets(text, separator, out.data()));
  return out;
}

TEST(Secrets, AfterAnEqualsSignAndInTheNextArgumentAreMasked) {
  EXPECT_EQ(masked("run --password=abcd x"), "run --password=*** x");
  EXPECT_EQ(masked("run --api-token abcd x"), "run --api-token *** x");
  EXPECT_EQ(masked("PASSWD=abcd run"), "PASSWD=*** run");
  EXPECT_EQ(masked("-Ddb.secret=abcd"), "-Ddb.secret=***");
  EXPECT_EQ(masked("--apiKey abcd --clientSecret=abcd --AWSCredential abcd"),
            "--apiKey *** --clientSecret=*** --AWSCredential ***");
  EXPECT_EQ(masked("AWS_SECRET_ACCESS_KEY=ab=cd", '\0'), "AWS_SECRET_ACCESS_KEY=***");
  EXPECT_EQ(masked("--key=a"), "--key=*") << "never longer than the text";
}

TEST(Secrets, InAUrlAreMasked) {
  EXPECT_EQ(masked("get https://example.user:abcd@host:80/p"), "get https://example.user:***@host:80/p");
  EXPECT_EQ(masked("redis://:abcd@host"), "redis://:***@host");
  EXPECT_EQ(masked("https://example.org/?a=1&token=abcd&b=2"), "https://example.org/?a=1&token=***&b=2");
  EXPECT_EQ(masked("https://example.org:80/a@b"), "https://example.org:80/a@b");
  EXPECT_EQ(masked("https://example.user@host/"), "https://example.user@host/");
}

TEST(Secrets, NamesThatOnlyContainSuchAWordStay) {
  for (const char* const text :
       {"--tokenizer=bert x", "--tokenizer bert", "--keyframes 5", "--max-tokens 5", "--monkey=1", "--passwords-file x",
        "token x", "--key --verbose", "a=b", "", "=", "--"})
    EXPECT_EQ(masked(text), text);
}

TEST(Secrets, OfSeveralArgumentsAreMaskedWithoutMixingThem) {
  const std::string_view text("run\0--password\0a b c\0--x=1\0--token=t t\0end", 41);
  EXPECT_EQ(masked(text, '\0'), std::string_view("run\0--password\0***\0--x=1\0--token=***\0end", 39));
}

}  // namespace
}  // namespace prof::format
