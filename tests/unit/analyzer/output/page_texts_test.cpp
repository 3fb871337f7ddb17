// Which texts may a page of `prof page` have, with and without --redact?
#include "analyzer/output/page/page_texts.h"

#include <gtest/gtest.h>

#include <string>

namespace prof::analyzer {
namespace {

TEST(PageTexts, NoTextEndsTheScriptOrTurnsTheTextAroundIt) {
  PageTexts texts;
  EXPECT_EQ(texts.number("</script>&\xe2\x80\xae"), texts.number("</script>&\xe2\x80\xae"));
  const std::string json = texts.json(1000);
  EXPECT_EQ(json.find('<'), std::string::npos);
  EXPECT_EQ(json.find('&'), std::string::npos);
  EXPECT_EQ(json.find("\xe2\x80\xae"), std::string::npos);
  EXPECT_NE(json.find("\\u003c/script\\u003e\\u0026"), std::string::npos);
}

TEST(PageTexts, AreCutUntilAllFit) {
  PageTexts texts;
  for (int i = 0; i < 100; ++i) texts.number(std::to_string(i) + std::string(1'000'000, 'm'));
  const std::string json = texts.json(30'000);
  EXPECT_LE(json.size(), 32'000u);
  EXPECT_EQ(texts.most_characters(), 200u);
}

TEST(Redaction, LeavesTheLastComponentOfAPath) {
  const Redaction redact;
  EXPECT_EQ(redact("/opt/app/bin/train"), "train");
  EXPECT_EQ(redact("forward (/srv/models/net.py:57)"), "forward (net.py:57)");
  EXPECT_EQ(redact("models/secret/net.py(57): forward"), "net.py(57): forward");
  EXPECT_EQ(redact("--data=/mnt/set --out=~/x/y"), "--data=set --out=y");
  EXPECT_EQ(redact("a log: ../logs/prof.1.plog is damaged"), "a log: prof.1.plog is damaged");
}

TEST(Redaction, LeavesTheLastComponentOfAPathOfWindows) {
  const Redaction redact;
  EXPECT_EQ(redact("load C:\\Users\\ada\\x.txt now"), "load C:x.txt now");
  EXPECT_EQ(redact("\\\\server\\share\\z"), "z");
  EXPECT_EQ(redact("a\\b \\n"), "a\\b \\n");
}

TEST(Redaction, AUserWhoseHomeIsInOneTextIsHiddenInAll) {
  const Redaction redact;
  PageTexts texts(&redact);
  texts.number("job of ada on a node");
  texts.number(
      "open /home"
      "/ada/set/x.csv");
  texts.number("cd /home/ada");
  texts.number("C:\\Users\\bob\\x");
  texts.number("bob@login");
  EXPECT_EQ(texts.json(10'000),
            "[\"\",\n\"job of [user] on a node\",\n\"open x.csv\",\n\"cd [user]\",\n\"C:x\",\n\"[user]@login\"]");
}

TEST(Redaction, KeepsWhatIsNoPath) {
  const Redaction redact;
  for (const char* const text :
       {"train/step/forward", "layers/layer.0", "GB/s", "aten::div", "a / b", "12 of 30 op/s.", "launches 3; 50 %"})
    EXPECT_EQ(redact(text), text);
}

TEST(Redaction, HidesWholeWordsLongestFirst) {
  Redaction redact;
  redact.hide("node1", "[host]");
  redact.hide("node1.cluster", "[host]");
  redact.hide("ada", "[user]");
  EXPECT_EQ(redact("node1.cluster: node1, node12, adam and ada"), "[host]: [host], node12, adam and [user]");
  redact.hide("python3 /srv/run.py --key x", "[command line]");
  EXPECT_EQ(redact("python3 /srv/run.py --key x: /mnt/ada/node1.plog"), "[command line]: [host].plog");
}

}  // namespace
}  // namespace prof::analyzer
