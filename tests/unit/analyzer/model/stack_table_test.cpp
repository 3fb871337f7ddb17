// Stacks of a log become rows of the model: an address is resolved with the files that were loaded at its time, and
// equal places are one frame.
#include "analyzer/model/stack_table.h"

#include "analyzer/input/log/build/builder.h"
#include "analyzer/model/trace.h"
#include "tests/unit/analyzer/log_builder.h"

#include <gtest/gtest.h>

#include <deque>

namespace prof::analyzer {
namespace {

using tests::LogBuilder;

constexpr uint64_t kTableBase = 1'000'000;

struct TableLog {
  LogBuilder log;
  std::deque<std::vector<uint64_t>> lists;
  uint32_t strings = 0;

  TableLog() {
    log.header.pid = 100;
    log.header.start_tick = log.header.start_monotonic_ns = kTableBase;
    log.define(format::MetaDef{"stacks", "launch"});
    log.define(format::ApiDef{format::ApiId{1}, "cuLaunchKernel"});
    log.define(format::ApiDef{format::ApiId{2}, "cuStreamSynchronize"});
    log.add(1, format::ThreadDef{format::ThreadOrdinal{1}, 500, kTableBase, "t"});
  }
  format::StringId text(std::string_view text) {
    log.define(format::StringPart{format::StringId{++strings}, text.size(), 0, text});
    return format::StringId{strings};
  }
  void image(uint32_t id, uint64_t generation, uint64_t begin, uint64_t end, std::string_view path) {
    format::ImageDef image;
    image.id = format::ImageId{id}, image.generation = generation, image.base = begin - 0x1000, image.begin = begin;
    image.end = end, image.path = text(path), image.build_id = "ab12";
    log.define(image);
  }
  void stack(uint32_t id, uint64_t generation, std::vector<uint64_t> native, std::vector<uint64_t> python = {},
             uint32_t flags = 0) {
    format::StackDef stack;
    stack.id = format::StackId{id}, stack.generation = generation, stack.flags = flags;
    const auto list = [&](std::vector<uint64_t> numbers) {
      const std::vector<uint64_t>& kept = lists.emplace_back(std::move(numbers));
      return format::Numbers{kept.data(), nullptr, static_cast<uint32_t>(kept.size())};
    };
    stack.native = list(std::move(native)), stack.python = list(std::move(python));
    log.define(stack);
  }
  void launch(uint64_t end, uint32_t stack) {
    format::KernelLaunch launch;
    launch.end = kTableBase + end, launch.duration = 5, launch.stack = format::StackId{stack};
    log.add(1, launch);
  }
  std::unique_ptr<Trace> build() {
    log.seal_all();
    std::vector<std::unique_ptr<LogFile>> logs;
    logs.push_back(log.open_log());
    return build_trace(std::move(logs));
  }
};

std::vector<std::string> texts(const Trace& trace, uint32_t stack) {
  std::vector<std::string> out;
  for (const StackFrame frame : trace.stacks.native(StackId{stack}))
    out.push_back(frame_text(trace.stacks, trace.strings, trace.stacks[frame.frame()]));
  for (const StackFrame frame : trace.stacks.python(StackId{stack}))
    out.push_back(frame_text(trace.stacks, trace.strings, trace.stacks[frame.frame()]) + (frame.entry() ? " |" : ""));
  return out;
}

using Texts = std::vector<std::string>;

TEST(Stacks, AnAddressIsReadByTheFileThatWasThereThen) {
  TableLog log;
  log.image(1, 0, 0x10000, 0x20000, "/lib/libold.so");
  log.stack(1, 0, {0x10100, 0x18000});
  log.log.define(format::ImageGone{format::ImageId{1}, 1});
  log.stack(2, 1, {0x10100});  // nothing is loaded there
  log.image(2, 2, 0x10000, 0x20000, "/lib/libnew.so");
  log.stack(3, 2, {0x10100});
  for (uint32_t i = 1; i <= 3; ++i) log.launch(100 * i, i);
  const auto trace = log.build();
  ASSERT_EQ(trace->host.size(), 3u);
  EXPECT_EQ(texts(*trace, trace->host[0].stack), (Texts{"libold.so+0x1100", "libold.so+0x9000"}));
  EXPECT_EQ(texts(*trace, trace->host[1].stack), (Texts{"0x10100"}));
  EXPECT_EQ(texts(*trace, trace->host[2].stack), (Texts{"libnew.so+0x1100"}));
}

TEST(Stacks, AReturnAddressRightBehindTheCodeBelongsToIt) {
  TableLog log;
  log.image(1, 0, 0x10000, 0x20000, "/lib/first.so");
  log.image(2, 0, 0x20000, 0x30000, "/lib/second.so");
  log.stack(1, 0, {0x20000, 0x20001, 0x10000});
  log.launch(100, 1);
  const auto trace = log.build();
  EXPECT_EQ(texts(*trace, trace->host[0].stack), (Texts{"first.so+0x11000", "second.so+0x1001", "0x10000"}));
}

TEST(Stacks, EqualStacksUnderTwoIdsAreOne) {
  TableLog log;
  log.image(1, 0, 0x10000, 0x20000, "/lib/a.so");
  log.stack(1, 0, {0x10100, 0x10200});
  log.stack(2, 0, {0x10100, 0x10200});
  log.stack(3, 0, {0x10100});
  for (uint32_t i = 1; i <= 3; ++i) log.launch(100 * i, i);
  log.launch(400, 77);  // its definition is lost
  const auto trace = log.build();
  EXPECT_EQ(trace->host[0].stack, trace->host[1].stack);
  EXPECT_NE(trace->host[0].stack, trace->host[2].stack);
  EXPECT_EQ(trace->host[3].stack, 0u);
  EXPECT_EQ(trace->stacks.frames(), 3u);  // none and two
}

TEST(Stacks, PythonFramesKeepFileLineFunctionAndEntry) {
  TableLog log;
  format::PythonFrameDef frame;
  frame.id = format::PythonFrameId{1}, frame.file = log.text("/app/model.py");
  frame.function = log.text("Net.forward"), frame.line = 57, frame.first_line = 50;
  log.log.define(frame);
  log.stack(1, 0, {}, {1 << 1, 1 << 1 | 1, 9 << 1});
  log.launch(100, 1);
  const auto trace = log.build();
  EXPECT_EQ(texts(*trace, trace->host[0].stack),
            (Texts{"/app/model.py(57): Net.forward", "/app/model.py(57): Net.forward |", "(0): "}));
  const StackFrame first = trace->stacks.python(StackId{trace->host[0].stack})[0];
  EXPECT_EQ(trace->stacks[first.frame()].first_line, 50u);
}

TEST(Stacks, TheCoverageLineCountsLaunchesWithAStackAndSaysWhatOthersLack) {
  TableLog log;
  log.stack(1, 0, {0x10100});
  log.stack(2, 0, {0x10100}, {}, format::kStackNativeCut);
  log.stack(3, 0, {}, {}, format::kStackNoNative);
  log.stack(4, 0, {0x10100}, {}, format::kStackBroken | format::kStackNoPython);
  log.stack(5, 0, {0x10200}, {}, format::kStackNoPython);
  log.stack(6, 0, {0x10100}, {}, format::kStackPythonCut | format::kStackBroken);
  log.stack(7, 0, {0x10100}, {}, format::kStackFramePointers);
  for (uint32_t i = 0; i <= 7; ++i) log.launch(100 * (i + 1), i);
  format::StackedCall wait;
  wait.end = kTableBase + 900, wait.duration = 50, wait.api = format::ApiId{2}, wait.stack = format::StackId{1};
  log.log.add(1, wait);
  const auto trace = log.build();
  EXPECT_NE(coverage_line(*trace).find("; launches with stack 6 (cut at PROF_STACK_DEPTH 2, ended at unknown code 1, "
                                       "without native frames 1, Python frames unreadable 1)"),
            std::string::npos)
      << coverage_line(*trace);
  EXPECT_EQ(trace->host[8].kind(), HostKind::Call);
  EXPECT_EQ(trace->api_name(trace->host[8]), "cuStreamSynchronize");
  EXPECT_EQ(texts(*trace, trace->host[8].stack), (Texts{"0x10100"}));
}

}  // namespace
}  // namespace prof::analyzer
