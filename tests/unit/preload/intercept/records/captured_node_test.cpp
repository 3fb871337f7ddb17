// What the recorder queries after a captured call: only with the thread's capture mode relaxed, only for the capturing
// stream, and only with a query that the driver does not refuse.
#include "tests/unit/preload/capture/streams/capture_fixture.h"
#include "tests/unit/preload/capture_log.h"

#include "preload/intercept/records/captured_node.h"

namespace prof::test {
namespace {

using namespace preload;

CUgraphNode node_handle(uint64_t n) { return reinterpret_cast<CUgraphNode>(0x700000 + 64 * n); }

class CapturedNode : public CaptureTest {
 protected:
  void SetUp() override {
    CaptureTest::SetUp();
    g_driver.cuStreamGetCaptureInfo_v2 = info_v2;
    g_driver.cuStreamGetCaptureInfo_v3 = info_v3;
    g_driver.cuGraphNodeGetType = type;
    FakeDriver::capturing = stream_handle(1);
    nodes_ = {node_handle(1)};
    asked_v2_ = asked_v3_ = asked_others_ = asked_strict_ = 0;
    before_ = log_lines(g_log.path(), "graph_node").size();
  }
  void TearDown() override {
    EXPECT_EQ(asked_strict_, 0) << "a question outside DriverCall invalidates a GLOBAL capture of another thread";
    EXPECT_EQ(asked_others_, 0) << "a question about a stream that does not capture";
  }
  // After a launch on that stream.
  void launched_on(StreamState* state, CUstream handle) {
    CallScope scope(format::ApiId{1}, PROF_HOOK_FRAME());
    ASSERT_TRUE(scope.recording());
    scope.end();
    capture_begins(stream_handle(1));
    if (is_captured(state, handle)) record_captured_node(scope, state, handle);
    capture_ended();
    scope.leave();
  }
  std::vector<std::string> written() const {
    std::vector<std::string> all = log_lines(g_log.path(), "graph_node");
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before_));
    return all;
  }

  static inline std::vector<CUgraphNode> nodes_;
  static inline int asked_v2_, asked_v3_, asked_others_, asked_strict_;

 private:
  static CUresult answer(CUstream stream, CUstreamCaptureStatus* status, const CUgraphNode** nodes, size_t* count) {
    asked_strict_ += FakeDriver::mode == CU_STREAM_CAPTURE_MODE_RELAXED ? 0 : 1;
    asked_others_ += stream == FakeDriver::capturing ? 0 : 1;
    *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    *nodes = nodes_.data(), *count = nodes_.size();
    return CUDA_SUCCESS;
  }
  static CUresult info_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph*,
                          const CUgraphNode** nodes, size_t* count) {
    ++asked_v2_;
    return answer(stream, status, nodes, count);
  }
  static CUresult info_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph*,
                          const CUgraphNode** nodes, const CUgraphEdgeData** edges, size_t* count) {
    ++asked_v3_;
    EXPECT_NE(edges, nullptr) << "without room for edges the driver refuses where a launch was programmatic";
    return answer(stream, status, nodes, count);
  }
  static CUresult type(CUgraphNode node, CUgraphNodeType* type) {
    asked_strict_ += FakeDriver::mode == CU_STREAM_CAPTURE_MODE_RELAXED ? 0 : 1;
    *type = node == node_handle(2) ? CU_GRAPH_NODE_TYPE_MEMSET : CU_GRAPH_NODE_TYPE_KERNEL;
    return CUDA_SUCCESS;
  }
  size_t before_ = 0;
};

TEST_F(CapturedNode, IsWrittenForTheStreamThatCaptures) {
  launched_on(stream(1), stream_handle(1));
  EXPECT_EQ(written().size(), 1u);
  EXPECT_EQ(asked_v3_, 1);
  EXPECT_EQ(asked_v2_, 0);
}

TEST_F(CapturedNode, IsNotAskedForOnOtherStreams) {
  launched_on(stream(2), stream_handle(2));
  EXPECT_EQ(written().size(), 0u);
  EXPECT_EQ(asked_v3_ + asked_v2_, 0);
}

TEST_F(CapturedNode, ACallThatAddsSeveralNodesWritesEach) {
  nodes_ = {node_handle(1), node_handle(2)};
  launched_on(stream(1), stream_handle(1));
  ASSERT_EQ(written().size(), 2u);
  EXPECT_NE(written()[1].find("what=2"), std::string::npos);
}

TEST_F(CapturedNode, AnOlderDriverIsAskedTheOlderQuestion) {
  g_driver.cuStreamGetCaptureInfo_v3 = nullptr;
  launched_on(stream(1), stream_handle(1));
  EXPECT_EQ(asked_v2_, 1);
  EXPECT_EQ(written().size(), 1u);
}

TEST_F(CapturedNode, ADriverThatCannotTellWritesNothing) {
  g_driver.cuStreamGetCaptureInfo_v3 = nullptr;
  g_driver.cuStreamGetCaptureInfo_v2 = nullptr;
  launched_on(stream(1), stream_handle(1));
  EXPECT_EQ(written().size(), 0u);
}

}  // namespace
}  // namespace prof::test
