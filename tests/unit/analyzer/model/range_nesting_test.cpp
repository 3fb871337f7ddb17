// NVTX ranges of a log nest by domain, and their path follows the order of opening.
#include "tests/unit/analyzer/launch_log.h"

#include <gtest/gtest.h>

namespace prof::analyzer {
namespace {

using tests::add_launch;
using tests::add_thread;
using tests::kLogStart;
using tests::LogBuilder;
using tests::model_of;
using tests::new_launch_log;

TEST(Nvtx, NestsPerDomainAndKeepsThePathInOrderOfOpening) {
  LogBuilder log = new_launch_log();
  add_thread(log, 1, 500);
  log.define(format::StringPart{format::StringId{1}, 1, 0, "D"});
  log.define(format::StringPart{format::StringId{2}, 1, 0, "a"});
  log.define(format::StringPart{format::StringId{3}, 1, 0, "b"});
  log.define(format::NvtxDomainDef{format::DomainId{1}, format::StringId{1}});
  log.define(format::NvtxLabelDef{format::LabelId{1}, {}, format::StringId{2}, 0, 0, 0});
  log.define(format::NvtxLabelDef{format::LabelId{2}, format::DomainId{1}, format::StringId{3}, 0, 0, 0});
  log.add(1, format::NvtxPush{kLogStart + 0, format::LabelId{1}, 0, 0, {}});
  log.add(1, format::NvtxPush{kLogStart + 10, format::LabelId{2}, 0, 0, {}});
  log.add(1, format::NvtxPush{kLogStart + 20, format::LabelId{1}, 0, 0, "inline"});
  log.add(1, format::NvtxPop{kLogStart + 30, format::DomainId{1}});  // below the innermost one
  add_launch(log, 1, 40, 50);
  log.add(1, format::NvtxPop{kLogStart + 60, {}});
  log.add(1, format::NvtxPop{kLogStart + 70, format::DomainId{1}});  // nothing open there
  const auto trace = model_of(log);
  ASSERT_EQ(trace->ranges.size(), 3u);
  EXPECT_EQ(path_text(*trace, trace->ranges[2].path), "a/D:b/inline");
  EXPECT_EQ(trace->ranges[2].parent, 0u);
  EXPECT_EQ(trace->ranges[1].parent, kNone);
  EXPECT_EQ(trace->ranges[1].end_ns, 30);
  PathCursor cursor(*trace, ThreadId{0});
  EXPECT_EQ(path_text(*trace, cursor.at(45)), "a/inline");
  EXPECT_EQ(path_text(*trace, cursor.at(15)), "a/D:b");  // backwards in time
  EXPECT_TRUE(trace->ranges[0].unfinished);
  EXPECT_EQ(trace->ranges[0].end_ns, trace->processes[0].last_ns);
  EXPECT_EQ(trace->processes[0].nvtx_pops_without_push, 1u);
}

}  // namespace
}  // namespace prof::analyzer
