// Which numbers in range names count repetitions, and which are indices of layers, blocks and shapes?
#include "analyzer/model/range_counters.h"

#include "analyzer/model/event_names.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <string>

namespace prof::analyzer {
namespace {

class Ranges {
 public:
  // A range of 10 ns after the last one, or inside the open ones.
  void leaf(const std::string& name, RangeKind kind = RangeKind::Nvtx) {
    hand_.range(name, now_, now_ + 10, kind);
    now_ += 20;
  }
  template <class Inside> void around(const std::string& name, Inside inside) {
    const int64_t begin = now_;
    const size_t row = hand_.trace.ranges.size();
    hand_.range(name, begin, begin, RangeKind::Nvtx);
    now_ += 1;
    inside();
    hand_.trace.ranges[row].end_ns = now_;
    now_ += 5;
  }
  // The name in tables of the first range with that text.
  std::string name_of(const std::string& text) {
    const Trace& trace = finished();
    const EventNames& names = hand_.views().range_names();
    for (const Range& range : trace.ranges) {
      if (trace.range_name(range) == text) return std::string(names.text(names.of(range)));
    }
    return "no such range";
  }
  RangeCounters counters() { return RangeCounters(finished()); }

 private:
  const Trace& finished() {
    if (!finished_) hand_.finish();
    finished_ = true;
    return hand_.trace;
  }
  prof::tests::HandTrace hand_;
  int64_t now_ = 0;
  bool finished_ = false;
};

TEST(RangeCounters, StepsAreFoldedAndTheirLayersAreNot) {
  Ranges ranges;
  for (int step = 0; step < 50; ++step) {
    ranges.around("step " + std::to_string(step), [&] {
      for (int layer = 0; layer < 32; ++layer) ranges.leaf("layer " + std::to_string(layer));
    });
  }
  EXPECT_EQ(ranges.name_of("step 7"), "step *");
  EXPECT_EQ(ranges.name_of("layer 17"), "layer 17");
  const RangeCounters counters = ranges.counters();
  ASSERT_EQ(counters.folded().size(), 1u);
  EXPECT_EQ(counters.folded()[0].texts, 50u);
  EXPECT_EQ(counters.steps(), 0u);
}

TEST(RangeCounters, ANumberCountsInAnySpelling) {
  for (const std::string before : {"iter_", "step[", "Iteration(", "train#", "update:", "it", "work item "}) {
    const std::string after = before.back() == '[' ? "]" : before.back() == '(' ? ")" : "";
    Ranges ranges;
    for (int i = 100; i < 130; ++i) ranges.leaf(before + std::to_string(i) + after);
    EXPECT_EQ(ranges.name_of(before + "107" + after), before + "*" + after);
  }
}

TEST(RangeCounters, ACounterMayMissValuesAndRepeatInsideItsStep) {
  Ranges ranges;
  for (int i = 0; i < 300; i += 10) {
    ranges.leaf("update " + std::to_string(i));
    ranges.leaf("update " + std::to_string(i));
  }
  EXPECT_EQ(ranges.name_of("update 70"), "update *");
}

TEST(RangeCounters, AnIndexAndACounterInOneTextAreTreatedApart) {
  Ranges ranges;
  for (int step = 0; step < 20; ++step) {
    for (int layer = 0; layer < 12; ++layer)
      ranges.leaf("step " + std::to_string(step) + " layer " + std::to_string(layer));
  }
  EXPECT_EQ(ranges.name_of("step 3 layer 11"), "step * layer 11");
}

TEST(RangeCounters, BatchesThatStartAgainInEachEpochAreFolded) {
  Ranges ranges;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    for (int batch = 0; batch < 25; ++batch)
      ranges.leaf("epoch " + std::to_string(epoch) + " batch " + std::to_string(batch));
  }
  EXPECT_EQ(ranges.name_of("epoch 1 batch 7"), "epoch * batch *");

  Ranges nested;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    nested.around("Epoch " + std::to_string(epoch), [&] {
      for (int batch = 0; batch < 25; ++batch) nested.leaf("Batch_" + std::to_string(batch));
    });
  }
  EXPECT_EQ(nested.name_of("Batch_7"), "Batch_*");
  EXPECT_EQ(nested.name_of("Epoch 2"), "Epoch *");
}

TEST(RangeCounters, ACounterOverAllEpochsIsFolded) {
  Ranges ranges;
  for (int epoch = 0; epoch < 5; ++epoch) {
    ranges.around("epoch", [&] {
      for (int i = 0; i < 10; ++i) ranges.leaf("update " + std::to_string(epoch * 10 + i));
    });
  }
  EXPECT_EQ(ranges.name_of("update 41"), "update *");
}

TEST(RangeCounters, IndicesShapesAddressesAndFractionsStay) {
  Ranges ranges;
  for (int step = 0; step < 20; ++step) {
    ranges.leaf("block " + std::to_string(step % 4));
    ranges.leaf("gemm 128x" + std::to_string(step % 3 == 0 ? 256 : 512));
    ranges.leaf("conv2d");
    ranges.leaf("lr 0." + std::to_string(100 + step));
    ranges.leaf("tensor 0x7f" + std::to_string(10 + step));
    ranges.leaf("id 1234567890123456" + std::to_string(10 + step));
  }
  EXPECT_EQ(ranges.name_of("block 2"), "block 2");
  EXPECT_EQ(ranges.name_of("gemm 128x512"), "gemm 128x512");
  EXPECT_EQ(ranges.name_of("conv2d"), "conv2d");
  EXPECT_EQ(ranges.name_of("lr 0.105"), "lr 0.105");
  EXPECT_EQ(ranges.name_of("tensor 0x7f15"), "tensor 0x7f15");
  EXPECT_EQ(ranges.name_of("id 123456789012345615"), "id 123456789012345615");
}

TEST(RangeCounters, AFewPhasesOfAProgramStayAndAFewStepsAreFolded) {
  Ranges ranges;
  for (int i = 1; i <= 4; ++i) {
    ranges.leaf("phase " + std::to_string(i));
    ranges.leaf("step " + std::to_string(i));
  }
  EXPECT_EQ(ranges.name_of("phase 2"), "phase 2");
  EXPECT_EQ(ranges.name_of("step 2"), "step *");
}

TEST(RangeCounters, ManyRangesOfOneValueAreNoCounter) {
  Ranges ranges;
  for (int size = 1; size <= 10; ++size) {
    for (int i = 0; i < 30; ++i) ranges.leaf("size " + std::to_string(size));
  }
  EXPECT_EQ(ranges.name_of("size 4"), "size 4");
}

TEST(RangeCounters, NamesOfOperatorsAndPythonFunctionsStay) {
  Ranges ranges;
  for (int i = 0; i < 20; ++i) {
    ranges.leaf("aten::op" + std::to_string(i), RangeKind::Operator);
    ranges.leaf("app.py(" + std::to_string(i) + "): main", RangeKind::Python);
  }
  EXPECT_EQ(ranges.name_of("aten::op3"), "aten::op3");
  EXPECT_EQ(ranges.name_of("app.py(3): main"), "app.py(3): main");
}

TEST(RangeCounters, StepsAreTheOutermostCounterWithEnoughRanges) {
  Ranges ranges;
  for (int epoch = 0; epoch < 3; ++epoch) {
    ranges.around("epoch " + std::to_string(epoch), [&] {
      for (int batch = 0; batch < 10; ++batch) {
        ranges.around("batch " + std::to_string(batch), [&] {
          for (int token = 0; token < 4; ++token) ranges.leaf("token " + std::to_string(token));
        });
      }
    });
  }
  const RangeCounters counters = ranges.counters();
  ASSERT_NE(counters.steps(), kNone);
  EXPECT_EQ(counters.folded()[counters.steps()].name, "batch *");
}

TEST(RangeCounters, NothingIsFoldedWithoutCounters) {
  Ranges ranges;
  ranges.leaf("forward");
  EXPECT_EQ(ranges.counters().steps(), kNone);
  EXPECT_EQ(folded_note(ranges.counters().folded()), "");
}

}  // namespace
}  // namespace prof::analyzer
