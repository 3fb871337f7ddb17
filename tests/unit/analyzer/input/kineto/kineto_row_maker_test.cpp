// Which row does an event become, by its phase and category, and why does it become none?
#include "analyzer/input/kineto/kineto_row_maker.h"

#include "analyzer/input/kineto/json_cutter.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {
namespace {

// The rows of a stretch that holds these events.
class KinetoRowMaking : public ::testing::Test {
 protected:
  KinetoRows rows;
  KinetoRowMaker maker{rows};

  void make(std::string_view events) {
    const std::string list = "[" + std::string(events) + "]";
    text_.assign(list.begin(), list.end());
    text_.resize(list.size() + 64);
    JsonCutter cutter;
    JsonCutter::Cut cut;
    cutter.cut({text_.data(), list.size()}, 0, true, cut);
    maker.start_stretch();
    uint32_t first = 0;
    for (const JsonCutter::Cut::Event& event : cut.events) {
      maker.add(text_.data(), event.place,
                std::span<const JsonPlace>(cut.nested).subspan(first, event.nested_end - first), 0);
      first = event.nested_end;
    }
  }
  void make_complete(std::string_view category, std::string_view dur = "2", std::string_view args = "") {
    make(R"({"ph":"X","cat":")" + std::string(category) + R"(","name":"n","pid":1,"tid":1,"ts":1,"dur":)" +
         std::string(dur) + R"(,"args":{)" + std::string(args) + "}}");
  }

 private:
  std::vector<char> text_;
};

TEST_F(KinetoRowMaking, SendsCompleteEventsToTheRowOfTheirCategory) {
  make_complete("kernel");
  EXPECT_EQ(rows.operations.at(0).kind, GpuKind::Kernel);
  make_complete("gpu_memcpy");
  EXPECT_EQ(rows.operations.at(0).kind, GpuKind::Copy);
  make_complete("gpu_memset");
  EXPECT_EQ(rows.operations.at(0).kind, GpuKind::Fill);
  make_complete("cuda_runtime");
  EXPECT_EQ(rows.calls.size(), 1u);
  make_complete("cuda_sync");
  EXPECT_EQ(rows.syncs.size(), 1u);
  make_complete("gpu_user_annotation");
  EXPECT_EQ(rows.gpu_annotations.size(), 1u);
  make_complete("cpu_op");
  EXPECT_EQ(rows.ranges.at(0).kind, RangeKind::Operator);
  make_complete("python_function");
  EXPECT_EQ(rows.ranges.at(0).kind, RangeKind::Python);
  make_complete("overhead");
  EXPECT_EQ(rows.ranges.at(0).kind, RangeKind::Overhead);
  make_complete("anything else");
  EXPECT_EQ(rows.ranges.at(0).kind, RangeKind::Annotation);
  EXPECT_EQ(rows.last_ns, 3000);
}

TEST_F(KinetoRowMaking, SetsTheProfilersOwnEventsAside) {
  make_complete("Trace");
  EXPECT_EQ(rows.tally.set_aside(KinetoAside::ProfilerSpan), 1u);
  make_complete("cuda_event");
  EXPECT_EQ(rows.tally.set_aside(KinetoAside::EventRecord), 1u);
  make(R"({"ph":"X","name":"x","pid":"Spans","tid":1,"ts":1,"dur":1},{"ph":"i","name":"x","pid":"","ts":1})");
  EXPECT_EQ(rows.tally.set_aside(KinetoAside::ProfilerSpan), 2u);
  EXPECT_TRUE(rows.ranges.empty());
  EXPECT_TRUE(rows.marks.empty());
}

TEST_F(KinetoRowMaking, TakesNegativeDurationsAsZeroOnTheHostOnly) {
  make_complete("cpu_op", "-3");
  EXPECT_EQ(rows.ranges.at(0).end_ns, rows.ranges[0].begin_ns);
  EXPECT_EQ(rows.tally.set_aside(KinetoAside::NegativeDuration), 1u);
  make_complete("kernel", "-3");  // the model counts reversed times of operations itself
  EXPECT_EQ(rows.operations.at(0).end_ns, rows.operations[0].start_ns - 3000);
}

TEST_F(KinetoRowMaking, SendsOtherPhasesToTheirRows) {
  make(R"({"ph":"B","name":"b","pid":1,"tid":1,"ts":1},{"ph":"E","pid":1,"tid":1,"ts":2},)"
       R"({"ph":"b","cat":"c","id":1,"name":"a","pid":1,"tid":1,"ts":1},)"
       R"({"ph":"S","cat":"c","id":1,"name":"a","pid":1,"ts":1},)"
       R"({"ph":"e","cat":"c","id":1,"name":"a","pid":1,"tid":1,"ts":2},{"ph":"i","name":"m","pid":1,"tid":1,"ts":1},)"
       R"({"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":1,"args":{"Bytes":5}})");
  ASSERT_EQ(rows.edges.size(), 5u);
  EXPECT_EQ(rows.edges[0].edge, KinetoEdgeKind::NestedBegin);
  EXPECT_EQ(rows.edges[1].edge, KinetoEdgeKind::NestedEnd);
  EXPECT_EQ(rows.edges[2].edge, KinetoEdgeKind::AsyncBegin);
  EXPECT_EQ(rows.edges[3].edge, KinetoEdgeKind::AsyncBegin);
  EXPECT_EQ(rows.edges[4].edge, KinetoEdgeKind::AsyncEnd);
  EXPECT_EQ(rows.marks.size(), 1u);
  EXPECT_EQ(rows.memory.at(0).bytes, 5);
}

TEST_F(KinetoRowMaking, CountsWhatBecomesNoRow) {
  make(R"({"ph":"C","name":"c","pid":1,"ts":1},{"ph":"O","pid":1,"ts":1},{"ph":"?","pid":1},{"name":"no phase"},)"
       R"({"ph":"s","name":"fwdbwd","id":1,"pid":1,"ts":1},{"ph":"M","name":"process_labels","pid":1})");
  EXPECT_EQ(rows.tally.set_aside(KinetoAside::Counter), 1u);
  EXPECT_EQ(rows.tally.set_aside(KinetoAside::ObjectState), 1u);
  EXPECT_EQ(rows.tally.set_aside(KinetoAside::UnknownPhase), 2u);
  EXPECT_EQ(rows.tally.set_aside(KinetoAside::Flow), 1u);
  EXPECT_EQ(rows.tally.set_aside(KinetoAside::OtherMetadata), 1u);
  uint64_t events = 0;
  for (const KinetoCount& count : rows.tally.counts()) events += count.events;
  EXPECT_EQ(events, 6u);
}

TEST_F(KinetoRowMaking, NamesTracksByMetadata) {
  make(R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"python"}},)"
       R"({"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"main"}})");
  ASSERT_EQ(rows.names.size(), 2u);
  EXPECT_EQ(rows.names[0].of, KinetoNamed::Process);
  EXPECT_EQ(rows.names[1].of, KinetoNamed::Thread);
  EXPECT_EQ(rows.texts.texts()[index(rows.names[1].name)], "main");
  EXPECT_EQ(rows.texts.texts()[index(rows.names[1].track.tid)], "2");
}

TEST_F(KinetoRowMaking, TakesCounterValuesOfACopyFromTheirKernel) {
  make_complete("cuda_profiler_range", "1", R"("a__b.sum":5)");
  EXPECT_EQ(rows.counted.size(), 1u);
  make_complete("cuda_profiler_range", "1", R"("kernel correlation":1,"a__b.sum":5)");
  EXPECT_TRUE(rows.counted.empty());
  EXPECT_EQ(rows.tally.set_aside(KinetoAside::CounterCopy), 1u);
  make_complete("kernel", "1", R"("a__b.sum":5)");
  EXPECT_EQ(rows.counted.at(0).of, KinetoCounterValues::Operation);
  make_complete("gpu_memcpy", "1", R"("a__b.sum":5)");
  EXPECT_TRUE(rows.counted.empty());
}

TEST_F(KinetoRowMaking, GoesOnAfterAnEventThatIsNoJson) {
  make(R"({"ph":"X" "name":"bad"},{"ph":"X","name":"good","pid":1,"tid":1,"ts":1,"dur":1})");
  EXPECT_EQ(rows.tally.damaged_events(), 1u);
  EXPECT_EQ(rows.ranges.size(), 1u);
}

}  // namespace
}  // namespace prof::analyzer
