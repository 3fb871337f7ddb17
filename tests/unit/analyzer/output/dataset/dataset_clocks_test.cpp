// Which evidence about clocks is kept if there is too much.
#include "analyzer/output/dataset/dataset_clocks.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace prof::analyzer::dataset {
namespace {

CollectiveEvidence evidence_of(uint32_t device, MatchedBy by, int64_t sequence) {
  CollectiveEvidence each;
  each.device = device;
  each.kind = CollectiveKind::AllReduce;
  each.by = by;
  each.sequence = sequence;
  return each;
}

TEST(EvidenceChoice, KeepsTheSameOperationsOfEachRank) {
  constexpr size_t kMost = 400;
  EvidenceChoice choice(kMost);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    for (int64_t n = 0; n < 1000; ++n) {
      choice.add(evidence_of(rank, MatchedBy::Sequence, n), n, "world", "");
      choice.add(evidence_of(rank, MatchedBy::Kernel, 0), n, "kernel", "step " + std::to_string(n));
    }
  }
  const CollectiveEvidenceList& list = choice.list();
  EXPECT_LE(list.rows.size(), kMost);
  std::set<int64_t> numbers[4];
  std::set<uint32_t> steps[4];
  for (const CollectiveEvidence& each : list.rows) {
    if (each.by == MatchedBy::Sequence) {
      numbers[each.device].insert(each.sequence);
      EXPECT_EQ(choice.duration_ns(each.row), each.sequence);
    } else {
      steps[each.device].insert(each.step);
    }
  }
  for (uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_GT(numbers[rank].size(), 10U);
    EXPECT_GT(steps[rank].size(), 10U);
    EXPECT_EQ(numbers[rank], numbers[0]);
    EXPECT_EQ(steps[rank], steps[0]);
  }
}

TEST(EvidenceChoice, KeepsAllKernelsThatAreCounted) {
  EvidenceChoice choice(100);
  for (int64_t n = 0; n < 1000; ++n) choice.add(evidence_of(0, MatchedBy::Call, 0), n, "world", "");
  EXPECT_EQ(choice.list().rows.size(), 1000U);
}

}  // namespace
}  // namespace prof::analyzer::dataset
