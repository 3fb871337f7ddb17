// Do the sums over all stretches reach the facts and the damage of the process?
#include "analyzer/input/kineto/kineto_summary.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace prof::analyzer {
namespace {

KinetoTally tally_of(std::string_view category, uint64_t events) {
  KinetoTally tally;
  for (uint64_t i = 0; i < events; ++i) tally.count(tally.category(category));
  return tally;
}

TEST(KinetoSummary, AddsUpTheStretches) {
  KinetoTally first = tally_of("kernel", 2), second = tally_of("kernel", 3);
  first.aside(KinetoAside::Flow);
  second.aside(KinetoAside::Flow);
  KinetoSummary summary;
  summary.add(first);
  summary.add(second);
  summary.aside(KinetoAside::Flow, 5);
  EXPECT_EQ(summary.events(), 5u);
  Process process;
  summary.write({}, {}, {"device 0: joined"}, "t", process);
  EXPECT_EQ(process.fact("events"), "5");
  EXPECT_EQ(process.fact("events kernel"), "5");
  EXPECT_EQ(process.fact("skipped").substr(0, 13), "7 flow events");
  EXPECT_EQ(process.fact("hardware counters"), "device 0: joined");
  EXPECT_TRUE(process.damage.empty());
  EXPECT_TRUE(process.finished);
}

TEST(KinetoSummary, ListsDamageInTheOrderOfTheFile) {
  KinetoTally stretch = tally_of("kernel", 1);
  stretch.damaged(50, "in an event");
  KinetoHeader header;
  header.unread.push_back("a member is no JSON");
  KinetoSummary summary;
  summary.add(stretch);
  Process process;
  summary.write(header, {{{20, "a bracket is missing"}}, 1, 0}, {}, "t", process);
  ASSERT_EQ(process.damage.size(), 3u);
  EXPECT_EQ(process.damage[0], "t: a member is no JSON (at offset 0 of the text)");
  EXPECT_EQ(process.damage[1], "t: a bracket is missing (at offset 20 of the text)");
  EXPECT_EQ(process.damage[2], "t: in an event (at offset 50 of the text)");
  EXPECT_FALSE(process.finished);
}

TEST(KinetoSummary, CountsDamagedEventsThatAreNotListed) {
  KinetoTally stretch;
  for (size_t i = 0; i < KinetoTally::kMostDamage + 7; ++i) stretch.damaged(i, "no JSON");
  KinetoSummary summary;
  summary.add(stretch);
  Process process;
  summary.write({}, {{{1'000'000, "the text ends early"}}, 1, 0}, {}, "t", process);
  EXPECT_EQ(process.damage.size(), KinetoTally::kMostDamage + 1);
  EXPECT_EQ(process.all_damage(), KinetoTally::kMostDamage + 8);
  EXPECT_EQ(process.damage_lost, KinetoTally::kMostDamage + 7);
}

TEST(KinetoSummary, KnowsAFileOfObjectsThatAreNoEvents) {
  KinetoSummary summary;
  EXPECT_FALSE(summary.no_event_at_all());
  KinetoTally stretch = tally_of("ph ", 2);
  stretch.aside(KinetoAside::UnknownPhase, 2);
  summary.add(stretch);
  EXPECT_TRUE(summary.no_event_at_all());
  summary.add(tally_of("kernel", 1));
  EXPECT_FALSE(summary.no_event_at_all());
}

}  // namespace
}  // namespace prof::analyzer
