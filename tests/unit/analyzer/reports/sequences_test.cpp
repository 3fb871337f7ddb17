// Which sequences of kernels repeat: exact counts, each loop reported once and from its start, nothing across streams
// and pauses.
#include "analyzer/analysis/sequences/repeated_sequences.h"
#include "analyzer/analysis/sequences/sequence_counts.h"
#include "analyzer/reports/reports.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <random>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

constexpr int64_t kLongPause = 2 * kSequencePause;

// Kernels named by letters, 100 ns each, 10 ns apart, with launches of 5 ns. A dot is a pause of 50 ns, a space a long
// one.
int64_t run(HandTrace& hand, std::string_view letters, int64_t at = 0, uint32_t stream = 0) {
  static uint32_t correlation = 0;
  for (const char letter : letters) {
    if (letter == '.') {
      at += 40;
    } else if (letter == ' ') {
      at += kLongPause;
    } else {
      hand.launch(at, at + 5, ++correlation);
      hand.kernel(at, at + 100, correlation, stream, std::string(1, letter));
      at += 110;
    }
  }
  return at;
}

std::string text_of(HandTrace& hand, const Sequence& sequence) {
  std::string text;
  for (const uint32_t row : sequence.example)
    text += operation_name(hand.views().names(), hand.trace.operations[row], NameForm::Short);
  return text;
}

Sequences search(HandTrace& hand) {
  const AnalysisInput input{hand.trace, hand.views(), hand.selection, hand.options};
  return find_sequences(input, report_windows(input));
}

// "ABC 4": names and count of each, best first.
std::string found(HandTrace& hand) {
  hand.finish();
  std::string text;
  for (const Sequence& sequence : search(hand).found)
    text += (text.empty() ? "" : ", ") + text_of(hand, sequence) + " " + std::to_string(sequence.count);
  return text;
}

std::string found_in(std::string_view letters) {
  HandTrace hand;
  run(hand, letters);
  return found(hand);
}

TEST(Sequences, OfALoopAreItsBodyOnce) {
  HandTrace hand;
  run(hand, "ABC.ABC.ABC.ABC");
  hand.finish();
  const Sequences all = search(hand);
  ASSERT_EQ(all.found.size(), 1u);
  const Sequence& body = all.found[0];
  EXPECT_EQ(text_of(hand, body), "ABC");
  EXPECT_EQ(body.count, 4u);
  EXPECT_EQ(body.gpu_ns, 12 * 100);
  EXPECT_EQ(body.gap_ns, 4 * 2 * 10);  // not the 50 between bodies
  EXPECT_EQ(body.launch_ns, 12 * 5);
  EXPECT_EQ(body.short_kernels, 12u);
  EXPECT_EQ(all.set_aside, 0u);
}

TEST(Sequences, AreAsLongAsTheyComeAsOften) {
  EXPECT_EQ(found_in("PABCQ RABCS TABCU"), "ABC 3");
  // AB occurs once more without C.
  EXPECT_EQ(found_in("PABCQ RABCS TABCU VABW"), "ABC 3");
  EXPECT_EQ(found_in("PABCQ RABCS VABW XABY ZABP QABR SABT UABV"), "AB 8");
  EXPECT_EQ(found_in("ABCDEF"), "");
  EXPECT_EQ(found_in("AAAAAAAA"), "AAAA 2");
}

TEST(Sequences, LongerThanEightAreCutWithoutOverlap) {
  // Twelve kernels, twice: the best eight; the remaining four are too few.
  EXPECT_EQ(found_in("ABCDEFGHIJKL ABCDEFGHIJKL"), "ABCDEFGH 2");
}

TEST(Sequences, EndAtPausesAndStreams) {
  EXPECT_EQ(found_in("AB BA AB BA"), "AB 2, BA 2");
  EXPECT_EQ(found_in("A B A B A B"), "");
  HandTrace hand;
  hand.stream(0, 8);
  run(hand, "A.A.A.A", 0, 0);
  run(hand, "B.B.B.B", 50, 1);
  EXPECT_EQ(found(hand), "AA 2, BB 2");
}

TEST(Sequences, HaveAKernel) {
  HandTrace hand;
  for (int64_t i = 0; i < 6; ++i) {
    hand.copy(i * 100, i * 100 + 50, 0, 8, 1);
    hand.fill(i * 100 + 60, i * 100 + 90, 0, 8);
  }
  EXPECT_EQ(found(hand), "");
}

TEST(Sequences, CountAGraphLaunchOnceAndOverlapAsNoGap) {
  HandTrace hand;
  for (int64_t i = 0; i < 2; ++i) {
    const auto correlation = static_cast<uint32_t>(i + 1);
    hand.call("cudaGraphLaunch", i * 1000, i * 1000 + 30, correlation);
    hand.kernel(i * 1000 + 100, i * 1000 + 200, correlation, 0, "A");
    hand.kernel(i * 1000 + 190, i * 1000 + 400, correlation, 0, "B");  // overlaps A
    hand.kernel(i * 1000 + 407, i * 1000 + 500, correlation, 0, "C");
  }
  for (GpuOperation& operation : hand.trace.operations) operation.graph_node = 1;
  hand.finish();
  const Sequences all = search(hand);
  ASSERT_EQ(all.found.size(), 1u);
  EXPECT_EQ(all.found[0].gap_ns, 14);
  EXPECT_EQ(all.found[0].launch_ns, 60);
  const Table table = hand.report(report_sequences);
  EXPECT_EQ(tests::row_text(table, 0, {"candidate", "sequence_length", "count", "sequence"}), " | 3 | 2 | A; B; C");
}

TEST(Sequences, SayWhatTheyAreCandidatesFor) {
  HandTrace hand;
  for (int64_t i = 0; i < 2; ++i) {
    hand.kernel(i * 10 * kSequencePause, i * 10 * kSequencePause + 9, 0, 0, "at::native::add");
    hand.kernel(i * 10 * kSequencePause + 20, i * 10 * kSequencePause + 29, 0, 0, "at::native::mul");
    hand.kernel((i * 10 + 5) * kSequencePause, (i * 10 + 5) * kSequencePause + 9, 0, 0, "at::native::sub");
    hand.fill((i * 10 + 5) * kSequencePause + 10, (i * 10 + 5) * kSequencePause + 11, 0, 1);
  }
  hand.finish();
  const Table table = hand.report(report_sequences);
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(tests::row_text(table, 0, {"candidate", "gap_time", "sequence"}),
            "fusion, graph | 22 | at::native::add; at::native::mul");
  EXPECT_EQ(tests::row_text(table, 1, {"candidate", "gap_time", "sequence"}),
            "graph | 2 | at::native::sub; [CUDA memset]");
}

TEST(Sequences, OfTooManyKindsAreSetAsideAndCounted) {
  HandTrace hand;
  constexpr uint32_t kNames = 3000;
  for (uint32_t i = 0; i < kNames; ++i) {
    std::string name = "k";
    name += std::to_string(i);
    hand.trace.kernels.emplace_back().name = hand.trace.strings.intern(name);
  }
  std::mt19937 random(1);
  for (int64_t i = 0; i < 1'300'000; ++i) {
    GpuOperation operation;
    operation.start_ns = i * 10, operation.end_ns = i * 10 + 5,
    operation.detail = 1 + static_cast<uint32_t>(random() % kNames);
    hand.trace.operations.push_back(operation);
  }
  hand.finish();
  const Sequences all = search(hand);
  EXPECT_GT(all.set_aside, 10'000u);
  EXPECT_LT(all.set_aside, 1'300'000u);
}

}  // namespace
}  // namespace prof::analyzer
