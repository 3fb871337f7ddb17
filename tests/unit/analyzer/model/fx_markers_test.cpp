// FX markers: in which node a thread was, per thread, nested, with the data from the metadata.
#include "analyzer/model/fx_markers.h"
#include "analyzer/base/input_error.h"
#include "analyzer/input/import.h"

#include <gtest/gtest.h>

#include <optional>

namespace prof::analyzer {
namespace {

class FxMarkersTest : public testing::Test {
 protected:
  FxMarkersTest() {
    trace_.processes.emplace_back();
    for (uint32_t tid : {1u, 2u}) {
      trace_.threads.emplace_back().process = ProcessId{0};
      trace_.threads.back().tid = tid;
    }
  }
  void add(uint32_t thread, const std::string& name, int64_t begin, int64_t end, RangeKind kind = RangeKind::Operator) {
    Range range;
    range.thread = ThreadId{thread};
    range.begin_ns = begin;
    range.end_ns = end;
    range.kind = kind;
    range.label = LabelId{static_cast<uint32_t>(trace_.labels.size())};
    trace_.labels.emplace_back().text = trace_.strings.intern(name);
    trace_.ranges.push_back(range);
  }
  // The model's zero is the first range, so every test must have a range at 0.
  const FxMarkers& finish() {
    finish_import(trace_, mark_, 0);
    markers_.emplace(trace_, metadata_);
    return *markers_;
  }
  std::string at(uint32_t thread, int64_t time) const {
    const FxNode* const node = markers_->at(ThreadId{thread}, time);
    return node == nullptr ? "-" : node->name;
  }

  FxMetadata metadata_ = FxMetadata::parse(R"({
    "a.py": {"node_metadata": {"0": {"name": "relu", "stack_trace": "File \"model.py\", line 3"},
                               "1": {"name": "mm"}, "2": {}, "7": {"name": "seven", "stack_trace": "s"}}},
    "b.py": {"node_metadata": {"1": {"name": "inner", "stack_trace": "t"}}},
    "empty.py": {}})",
                                           "m.json");
  Trace trace_;
  ImportMark mark_{trace_};
  std::optional<FxMarkers> markers_;
};

TEST_F(FxMarkersTest, GiveTheNodeAroundAMoment) {
  add(0, "## a.py ##", 0, 100);
  add(0, "## 0 ##", 10, 40);
  add(0, "aten::relu", 12, 30);
  add(0, "## 1 ##", 40, 60);
  const FxMarkers& markers = finish();
  EXPECT_EQ(at(0, 9), "-");
  EXPECT_EQ(at(0, 10), "\"relu\"");
  EXPECT_EQ(at(0, 39), "\"relu\"");
  EXPECT_EQ(at(0, 40), "\"mm\"");  // one ends before the next begins
  EXPECT_EQ(at(0, 60), "-");
  EXPECT_EQ(markers.at(ThreadId{0}, 12)->stack_trace, R"("File \"model.py\", line 3")");
  EXPECT_EQ(markers.at(ThreadId{0}, 45)->stack_trace, "\"No model stack trace available\"");
  EXPECT_EQ(markers.nodes_found(), 2u);
  EXPECT_TRUE(FxMarkers::is_marker(trace_, trace_.ranges[0]));
  EXPECT_FALSE(FxMarkers::is_marker(trace_, trace_.ranges[2]));
}

TEST_F(FxMarkersTest, KeepThreadsApart) {
  add(0, "## a.py ##", 0, 100);
  add(0, "## 0 ##", 10, 90);
  add(1, "## 1 ##", 20, 80);  // no file is open on this thread
  const FxMarkers& markers = finish();
  EXPECT_EQ(at(0, 50), "\"relu\"");
  EXPECT_EQ(at(1, 50), "-");
  EXPECT_EQ(markers.nodes_unknown(), 1u);
}

TEST_F(FxMarkersTest, NestAndGoBackToTheNodeOutside) {
  add(0, "## a.py ##", 0, 100);
  add(0, "## 0 ##", 0, 90);
  add(0, "## b.py ##", 20, 60);
  add(0, "## 1 ##", 30, 40);
  add(0, "## 0 ##", 45, 50);  // b.py has no node 0
  const FxMarkers& markers = finish();
  EXPECT_EQ(at(0, 0), "\"relu\"");
  EXPECT_EQ(at(0, 25), "\"relu\"");
  EXPECT_EQ(at(0, 30), "\"inner\"");
  EXPECT_EQ(at(0, 40), "\"relu\"");
  EXPECT_EQ(at(0, 47), "\"relu\"");
  EXPECT_EQ(at(0, 90), "-");
  EXPECT_EQ(markers.nodes_found(), 2u);
  EXPECT_EQ(markers.nodes_unknown(), 1u);
}

TEST_F(FxMarkersTest, AreNotMovedByMarkersThatAreNoNumbers) {
  add(0, "## a.py ##", 0, 100);
  add(0, "## 1 ##", 10, 30);
  add(0, "## step ##", 40, 50);  // a stale number would make this node 1
  add(0, "## +7 ##", 60, 70);
  add(0, "## 2 ##", 80, 85);  // known, but empty
  const FxMarkers& markers = finish();
  EXPECT_EQ(at(0, 45), "-");
  EXPECT_EQ(at(0, 60), "\"seven\"");
  EXPECT_EQ(at(0, 82), "-");
  EXPECT_EQ(markers.not_numbers(), 1u);
  EXPECT_EQ(markers.nodes_unknown(), 1u);
}

TEST_F(FxMarkersTest, CountFilesThatTheMetadataLacks) {
  add(0, "## gone.py ##", 0, 50);
  add(0, "## 1 ##", 10, 20);
  add(0, "## empty.py ##", 60, 90);
  add(0, "## 1 ##", 70, 80);
  add(0, "## a.py ##", 95, 99, RangeKind::Annotation);  // the user's own range, not a marker
  const FxMarkers& markers = finish();
  EXPECT_EQ(markers.files_unknown(), 1u);
  EXPECT_EQ(markers.nodes_unknown(), 2u);
  EXPECT_EQ(at(0, 15), "-");
  EXPECT_EQ(at(0, 75), "-");
}

TEST_F(FxMarkersTest, CloseTheRightOneWhereMarkersCross) {
  add(0, "## a.py ##", 0, 100);
  add(0, "## 0 ##", 10, 30);
  add(0, "## 1 ##", 20, 40);
  add(0, "## 7 ##", 50, 50);  // has no duration
  finish();
  EXPECT_EQ(at(0, 15), "\"relu\"");
  EXPECT_EQ(at(0, 25), "\"mm\"");
  EXPECT_EQ(at(0, 35), "\"mm\"");
  EXPECT_EQ(at(0, 40), "-");
  EXPECT_EQ(at(0, 50), "-");
}

TEST(FxMetadata, SaysWhereItIsWrong) {
  const auto error = [](const std::string& text) -> std::string {
    try {
      FxMetadata::parse(text, "m.json");
    } catch (const InputError& failure) {
      return failure.what();
    }
    return "none";
  };
  EXPECT_EQ(error("{\"a.py\": {\"node_metadata\" 1}}"),
            "m.json: byte 26: Missing a colon after a name of object member.");
  EXPECT_EQ(error("[]"), "m.json: no FX metadata: the outermost value must be an object with a member for each file");
  EXPECT_EQ(error("{\"a.py\": 1}"), "m.json: \"a.py\": is no object");
  EXPECT_EQ(error("{\"a.py\": {\"node_metadata\": []}}"), "m.json: \"a.py\": \"node_metadata\" is no object");
  EXPECT_EQ(error("{\"a.py\": {\"node_metadata\": {\"x\": {}}}}"), "m.json: \"a.py\": node \"x\": is no number");
  EXPECT_EQ(error("{\"a.py\": {\"node_metadata\": {\"1\": 2}}}"), "m.json: \"a.py\": node \"1\": is no object");
  EXPECT_EQ(error("{\"a.py\": {\"node_metadata\": {\"1\": {\"name\": 2}}}}"),
            "m.json: \"a.py\": node \"1\": \"name\" is no string");
  EXPECT_NE(error(std::string(20 << 20, '[')), "none");
  EXPECT_EQ(error("{}"), "none");
  EXPECT_THROW(FxMetadata::read("/no/such/file"), InputError);
}

}  // namespace
}  // namespace prof::analyzer
