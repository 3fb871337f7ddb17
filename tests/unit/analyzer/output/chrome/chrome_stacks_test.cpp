// Which form call stacks have in a trace. As long as they take few bytes in total, calls have their whole text in
// addition to the table of frames. Otherwise they have only the most informative line.
#include "analyzer/output/chrome/chrome_stacks.h"

#include "analyzer/input/log/build/builder.h"
#include "analyzer/model/trace.h"
#include "tests/unit/analyzer/log_builder.h"

#include <gtest/gtest.h>

#include <array>

namespace prof::analyzer {
namespace {

// Two launches from forward (model.py:57) < step (train.py:20), one without a stack.
std::unique_ptr<Trace> three_launches() {
  constexpr uint64_t kBase = 1'000'000;
  tests::LogBuilder log;
  log.header.pid = 100;
  log.header.start_tick = log.header.start_monotonic_ns = kBase;
  log.define(format::MetaDef{"stacks", "launch"});
  log.define(format::ApiDef{format::ApiId{1}, "cuLaunchKernel"});
  log.add(1, format::ThreadDef{format::ThreadOrdinal{1}, 500, kBase, "t"});
  uint32_t strings = 0;
  const auto text = [&](std::string_view words) {
    log.define(format::StringPart{format::StringId{++strings}, words.size(), 0, words});
    return format::StringId{strings};
  };
  const auto frame = [&](uint32_t id, std::string_view file, std::string_view function, uint32_t line) {
    format::PythonFrameDef def;
    def.id = format::PythonFrameId{id}, def.line = line;
    def.file = text(file), def.function = text(function);
    log.define(def);
  };
  frame(1, "model.py", "forward", 57), frame(2, "train.py", "step", 20);
  static constexpr std::array<uint64_t, 2> kFrames = {1 << 1, 2 << 1 | 1};
  format::StackDef stack;
  stack.id = format::StackId{1};
  stack.python = {kFrames.data(), nullptr, kFrames.size()};
  log.define(stack);
  for (uint32_t i = 0; i < 3; ++i) {
    format::KernelLaunch launch;
    launch.end = kBase + 100 * (i + 1), launch.duration = 5, launch.stack = format::StackId{i < 2 ? 1u : 0u};
    log.add(1, launch);
  }
  log.seal_all();
  std::vector<std::unique_ptr<LogFile>> logs;
  logs.push_back(log.open_log());
  return build_trace(std::move(logs));
}

constexpr std::string_view kWhole = "\"Call stack\":\"forward (model.py:57);step (train.py:20)\"";

TEST(ChromeStacks, CallsHaveTheirWholeStackAsTextBesideTheFrame) {
  const auto trace = three_launches();
  const Views views(*trace);
  ChromeStacks stacks(*trace, views, ChromeStackForm::Both);
  const StackId stack = stacks.of_call(0);
  EXPECT_TRUE(stacks.with_frames());
  EXPECT_EQ(stacks.frame(stack), 2u);
  EXPECT_EQ(stacks.call_member(stack), kWhole);
  EXPECT_EQ(stacks.operation_member(stack), "");
  EXPECT_EQ(stacks.of_call(2), StackId{});
}

TEST(ChromeStacks, AboveTheLimitOnlyTheMostTellingLineStays) {
  const auto trace = three_launches();
  const Views views(*trace);
  const uint64_t all = 2 * kWhole.size();
  ChromeStacks whole(*trace, views, ChromeStackForm::Both, all);
  EXPECT_EQ(whole.call_member(whole.of_call(1)), kWhole);
  ChromeStacks cut(*trace, views, ChromeStackForm::Both, all - 1);
  EXPECT_EQ(cut.call_member(cut.of_call(1)), "\"called from\":\"forward (model.py:57)\"");
  EXPECT_EQ(cut.frame(cut.of_call(1)), 2u);
}

TEST(ChromeStacks, EachFormWritesWhatItSays) {
  const auto trace = three_launches();
  const Views views(*trace);
  ChromeStacks frames(*trace, views, ChromeStackForm::Frames);
  EXPECT_TRUE(frames.with_frames());
  EXPECT_EQ(frames.call_member(frames.of_call(0)), "");
  ChromeStacks text(*trace, views, ChromeStackForm::Text);
  EXPECT_FALSE(text.with_frames());
  EXPECT_EQ(text.call_member(text.of_call(0)), kWhole);
  EXPECT_EQ(text.operation_member(text.of_call(0)), kWhole);
}

}  // namespace
}  // namespace prof::analyzer
