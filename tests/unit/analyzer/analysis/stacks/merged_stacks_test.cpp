// The two halves of a stack become one: Python frames replace the interpreter loops that ran them, inlined functions
// become frames, and rules fold frames. A log that contains its symbols is named without any file.
#include "analyzer/analysis/stacks/merged_stacks.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "analyzer/input/log/build/builder.h"
#include "analyzer/input/log/log_embed.h"
#include "analyzer/output/stacks/stack_formats.h"
#include "analyzer/symbols/elf_file.h"
#include "preload/format/definitions.h"
#include "preload/format/stack_definitions.h"
#include "tests/unit/analyzer/analysis/stacks/stack_program.h"
#include "tests/unit/analyzer/log_builder.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::LogBuilder;
using Texts = std::vector<std::string>;

constexpr uint64_t kPython = 0x100000, kCode = 0x200000;  // addresses of the images
constexpr uint64_t kEval = kPython + 0x1001, kEvalCold = kPython + 0x2001, kCall = kPython + 0x3001,
                   kMain = kPython + 0x4001;
constexpr uint64_t kAddCode = kCode + 0x1001, kDispatch = kCode + 0x2001, kNameless = kCode + 0x3001;

class StackLog {
 public:
  StackLog() {
    log.header.pid = 100;
    log.define(format::ApiDef{format::ApiId{1}, "cuLaunchKernel"});
    log.add(1, format::ThreadDef{format::ThreadOrdinal{1}, 500, 0, "t"});
    image(1, kPython, "/usr/bin/python3.11"), image(2, kCode, "/opt/libtorch_cuda.so");
    symbol(1, kEval, "_PyEval_EvalFrameDefault"), symbol(1, kEvalCold, "_PyEval_EvalFrameDefault.cold");
    symbol(1, kCall, "method_vectorcall"), symbol(1, kMain, "main");
    symbol(2, kAddCode, "_ZN2at6native3addEv", true), symbol(2, kAddCode, "_ZN2at3AddEv"),
        symbol(2, kDispatch, "_ZN3c104callEv");
    for (uint32_t i = 1; i <= 5; ++i) {
      format::PythonFrameDef frame;
      frame.id = format::PythonFrameId{i}, frame.file = text("m.py"), frame.function = text("f" + std::to_string(i));
      frame.line = i;
      log.define(frame);
    }
  }
  void image(uint32_t id, uint64_t begin, std::string_view path, std::string_view build_id = "ab12") {
    format::ImageDef image;
    image.id = format::ImageId{id}, image.base = image.begin = begin, image.end = begin + 0x10000,
    image.path = text(path);
    image.build_id = build_id;
    log.define(image);
  }
  void symbol(uint32_t image, uint64_t address, std::string_view function, bool inlined = false) {
    format::SymbolDef symbol;
    symbol.image = format::ImageId{image}, symbol.address = address - (image == 1 ? kPython : kCode);
    symbol.function = text(function), symbol.file = text("x.cpp"), symbol.line = 7, symbol.inlined = inlined ? 1 : 0;
    log.define(symbol);
  }
  // Python frames by number; a negative number means that an interpreter loop starts with the frame.
  void launch(std::vector<uint64_t> native, std::vector<int> python, uint32_t flags = 0) {
    std::vector<uint64_t>& frames = lists.emplace_back();
    for (const int frame : python)
      frames.push_back(format::python_frame_word(static_cast<uint64_t>(std::abs(frame)), frame < 0));
    const std::vector<uint64_t>& addresses = lists.emplace_back(std::move(native));
    format::StackDef stack;
    stack.id = format::StackId{++stacks}, stack.flags = flags;
    stack.native = {addresses.data(), nullptr, static_cast<uint32_t>(addresses.size())};
    stack.python = {frames.data(), nullptr, static_cast<uint32_t>(frames.size())};
    log.define(stack);
    format::KernelLaunch launch;
    launch.end = 1000 * stacks, launch.duration = 5, launch.stack = format::StackId{stacks};
    log.add(1, launch);
  }
  std::unique_ptr<Trace> build() {
    log.seal_all();
    std::vector<std::unique_ptr<LogFile>> logs;
    logs.push_back(log.open_log());
    return build_trace(std::move(logs));
  }
  format::StringId text(std::string_view text) {
    log.define(format::StringPart{format::StringId{++strings}, text.size(), 0, text});
    return format::StringId{strings};
  }

  LogBuilder log;

 private:
  std::deque<std::vector<uint64_t>> lists;
  uint32_t strings = 0, stacks = 0;
};

struct Merged {
  explicit Merged(StackLog& log, std::vector<std::string> fold = {"none"})
      : trace(log.build()),
        symbols(*trace, SymbolOptions{true, {}, {}}),
        stacks(*trace, symbols, FoldRules::read(fold), NameForm::Short) {}
  Texts of(uint32_t launch) {
    Texts texts;
    for (const uint32_t row : stacks.of(StackId{trace->host[launch].stack}))
      texts.emplace_back(stacks.text(stacks.frame(row).name));
    return texts;
  }
  std::unique_ptr<Trace> trace;
  Symbols symbols;
  MergedStacks stacks;
};

TEST(MergedStacks, OneLoopRunsPythonFramesUpToItsEntry) {
  StackLog log;
  log.launch({kAddCode, kEval, kCall, kEval, kMain}, {1, -2, 3, 4, -5});
  log.launch({kAddCode, kEvalCold, kMain}, {-1});
  log.launch({kAddCode, kMain}, {});
  Merged merged(log);
  EXPECT_EQ(merged.of(0),
            (Texts{"at::native::add", "at::Add", "f1", "f2", "method_vectorcall", "f3", "f4", "f5", "main"}));
  EXPECT_EQ(merged.of(1), (Texts{"at::native::add", "at::Add", "f1", "main"}));
  EXPECT_EQ(merged.of(2), (Texts{"at::native::add", "at::Add", "main"}));
  EXPECT_EQ(merged.stacks.guessed(), 0u);
}

TEST(MergedStacks, BetweenTwoCallsTheFunctionsThatBothHaveWereRunning) {
  StackLog log;
  format::PythonFrameDef later;
  later.id = format::PythonFrameId{6}, later.file = log.text("m.py"), later.function = log.text("f2"), later.line = 9;
  log.log.define(later);
  log.launch({kAddCode, kEval, kMain}, {1, -2});
  log.launch({kDispatch, kEval, kMain}, {3, -2});
  log.launch({kAddCode, kEval, kMain}, {4, -6});
  log.launch({kAddCode, kMain}, {});
  Merged merged(log);
  const auto common = [&](uint32_t before, uint32_t after) {
    Texts texts;
    const StackId stack =
        merged.stacks.common(StackId{merged.trace->host[before].stack}, StackId{merged.trace->host[after].stack});
    for (const uint32_t row : merged.stacks.of(stack)) texts.push_back(merged.stacks.frame_text(row));
    return texts;
  };
  EXPECT_EQ(common(0, 1), (Texts{"f2 (m.py:2)", "main (x.cpp:7)"}));
  EXPECT_EQ(common(0, 2), (Texts{"f2 (m.py:9)", "main (x.cpp:7)"})) << "the same function, at a later line";
  EXPECT_EQ(common(0, 0), (Texts{"f1 (m.py:1)", "f2 (m.py:2)", "main (x.cpp:7)"})) << "the native call had returned";
  EXPECT_EQ(common(3, 3), (Texts{"at::Add (x.cpp:7)", "main (x.cpp:7)"}));
  EXPECT_EQ(common(1, 3), (Texts{"main (x.cpp:7)"}));
  EXPECT_EQ(merged.stacks.common(StackId{}, StackId{merged.trace->host[0].stack}), StackId{});
}

TEST(MergedStacks, WhatDoesNotFitIsPlacedAndCounted) {
  StackLog log;
  log.launch({kAddCode, kEval, kMain}, {-1, -2});     // one loop too few: after the existing one
  log.launch({kAddCode, kCall, kMain}, {-1});         // no loop: where the interpreter starts
  log.launch({kAddCode, kDispatch}, {-1});            // no interpreter: at the end
  log.launch({kAddCode, kEval, kEval, kMain}, {-1});  // one loop too many: it stays
  log.launch({}, {-1, -2});                           // nothing native
  Merged merged(log);
  EXPECT_EQ(merged.of(0), (Texts{"at::native::add", "at::Add", "f1", "f2", "main"}));
  EXPECT_EQ(merged.of(1), (Texts{"at::native::add", "at::Add", "f1", "method_vectorcall", "main"}));
  EXPECT_EQ(merged.of(2), (Texts{"at::native::add", "at::Add", "c10::call", "f1"}));
  EXPECT_EQ(merged.of(3), (Texts{"at::native::add", "at::Add", "f1", "_PyEval_EvalFrameDefault", "main"}));
  EXPECT_EQ(merged.of(4), (Texts{"f1", "f2"}));
  EXPECT_EQ(merged.stacks.guessed(), 4u);
}

TEST(MergedStacks, TheRestOfACutStackGoesToTheCut) {
  StackLog log;
  log.launch({kAddCode, kEval, kCall}, {-1, -2, -3}, format::kStackNativeCut);
  log.launch({kAddCode, kEval, kEval, kMain}, {-1}, format::kStackPythonCut);
  Merged merged(log);
  EXPECT_EQ(merged.of(0), (Texts{"at::native::add", "at::Add", "f1", "method_vectorcall", "f2", "f3"}));
  EXPECT_EQ(merged.of(1), (Texts{"at::native::add", "at::Add", "f1", "_PyEval_EvalFrameDefault", "main"}));
  EXPECT_EQ(merged.stacks.guessed(), 0u);
  EXPECT_EQ(merged.stacks.incomplete(), 2u);
}

TEST(MergedStacks, RulesFoldHideAndKeep) {
  StackLog log;
  log.launch({kAddCode, kDispatch, kDispatch, kEval, kCall, kMain}, {-1});
  log.launch({kDispatch, kCall, kMain}, {});
  log.launch({kNameless, kCode + 0x100000}, {});
  Merged merged(log, {});
  EXPECT_EQ(merged.of(0), (Texts{"at::native::add", "at::Add", "[dispatcher]", "f1"}));
  EXPECT_EQ(merged.of(1), (Texts{"[dispatcher]", "method_vectorcall", "main"}));  // no Python frame has this name
  EXPECT_EQ(merged.of(2), (Texts{"libtorch_cuda.so+0x3001", "0x300000"}));
}

TEST(MergedStacks, RulesThatMeanNothingAreRefused) {
  EXPECT_THROW(FoldRules::read({"/nonexistent/rules"}), std::runtime_error);
}

TEST(MergedStacks, ALogGivenItsSymbolsNeedsNoFile) {
  const std::string path = std::string(PROF_BINARY_DIR) + "/tests/unit/symbols_fixture/libwhole.so";
  std::string why;
  const auto file = ElfFile::open(path, why);
  ASSERT_NE(file, nullptr) << why;
  uint64_t address = 0;
  for (const ElfSymbol& symbol : file->functions()) {
    if (symbol.name == "plain_c_function") address = symbol.begin + 2;
  }
  ASSERT_NE(address, 0u);
  StackLog log;
  log.image(3, 0x40000000, path, file->build_id());
  log.launch({0x40000000 + address, kMain}, {});
  std::vector<uint8_t> bytes;
  const auto trace = log.build();
  const Symbols here(*trace, {});
  std::string text;
  Sink sink(&text);
  const auto opened = log.log.open_log();
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(write_with_symbols(*opened, *trace, here, sink).addresses, 1u);  // the log already names main
  sink.close();
  bytes.assign(text.begin(), text.end());

  LogOpenResult again = LogFile::from_memory(bytes, "again.plog");
  ASSERT_TRUE(again);
  EXPECT_TRUE(again.log->damage().empty());
  std::vector<std::unique_ptr<LogFile>> logs;
  logs.push_back(std::move(again.log));
  const auto read = build_trace(std::move(logs));
  EXPECT_TRUE(read->processes[0].damage.empty());
  EXPECT_EQ(read->threads.size(), trace->threads.size());
  const Symbols symbols(*read, SymbolOptions{true, {}, {}});
  MergedStacks stacks(*read, symbols, FoldRules::read({"none"}), NameForm::Short);
  Texts names;
  for (const uint32_t row : stacks.of(StackId{read->host[0].stack}))
    names.emplace_back(stacks.text(stacks.frame(row).name));
  EXPECT_EQ(names, (Texts{"plain_c_function", "main"}));
}

CallTree small_tree(int64_t left, int64_t right, uint32_t line) {
  CallTree tree;
  const auto frame = [&](std::string_view name, TreeFrameKind kind) {
    return tree.frame(
        {tree.text(name), kind == TreeFrameKind::Python ? tree.text("a b.py") : StringId{}, {}, line, kind});
  };
  const uint32_t main = tree.child(0, frame("main", TreeFrameKind::Native));
  TreeNode& a = tree.node(tree.child(main, frame("left", TreeFrameKind::Python)));
  a.value = left, a.count = 1;
  if (right == 0) return tree;
  TreeNode& b = tree.node(tree.child(main, frame("right;x", TreeFrameKind::Native)));
  b.value = right, b.count = 2;
  return tree;
}

std::string folded(const CallTree& tree) {
  std::string text;
  Sink sink(&text);
  write_folded(tree, {}, sink);
  sink.close();
  return text;
}

TEST(MergedStacks, TheCodeThatCalledTheCLibraryIsMoreInformativeThanItsLine) {
  tests::StackProgram program;
  const uint64_t read = program.line_in("/lib/x86_64-linux-gnu/libc.so.6", 0x10, "read", "read.c", 26);
  const uint64_t batch = program.line_in("/app/train", 0x20, "next_batch", "data.cpp", 88);
  program.launch_with(10, program.stack({read, batch}, {}));
  program.launch_with(30, program.stack({read}, {}));
  const Views views(program.trace, {}, {});
  CallStacks& stacks = call_stacks(views);
  EXPECT_EQ(stacks.best(stacks.of_call(program.row_of(10))), "next_batch (data.cpp:88)");
  EXPECT_EQ(stacks.best(stacks.of_call(program.row_of(30))), "read (read.c:26)");
}

TEST(MergedStacks, WithoutSourceLinesTheCodeThatCalledTheCLibraryIsTheMostInformative) {
  tests::StackProgram program;
  const uint64_t sleep = program.line_in("/lib/x86_64-linux-gnu/libc.so.6", 0x10, "clock_nanosleep", "", 0);
  const uint64_t wait = program.line_in("/app/train", 0x20, "wait_for_batch", "", 0);
  program.launch_with(10, program.stack({sleep, wait}, {}));
  program.launch_with(30, program.stack({sleep}, {}));
  const Views views(program.trace, {}, {});
  CallStacks& stacks = call_stacks(views);
  EXPECT_EQ(stacks.best(stacks.of_call(program.row_of(10))), "wait_for_batch");
  EXPECT_EQ(stacks.best(stacks.of_call(program.row_of(30))), "clock_nanosleep");
}

TEST(MergedStacks, TheLineThatImportsAModuleIsMoreInformativeThanTheCodeThatImportsIt) {
  tests::StackProgram program;
  const std::string machinery = "_call_with_frames_removed (<frozen importlib._bootstrap>:488)";
  program.launch_with(10,
                      program.stack({}, {machinery, machinery, "<module> (app.py:12)", machinery, "main (run.py:3)"}));
  program.launch_with(30, program.stack({}, {machinery}));
  const Views views(program.trace, {}, {});
  CallStacks& stacks = call_stacks(views);
  const StackId imports = stacks.of_call(program.row_of(10));
  EXPECT_EQ(stacks.best(imports), "<module> (app.py:12)");
  EXPECT_EQ(stacks.merged().frame_text(stacks.merged().caller_of_best(imports)), "main (run.py:3)");
  EXPECT_EQ(stacks.best(stacks.of_call(program.row_of(30))), machinery);
}

TEST(CallTree, TotalsHoldWhatIsBelow) { EXPECT_EQ(small_tree(3, 4, 1).totals(), (std::vector<int64_t>{7, 7, 3, 4})); }

TEST(CallTree, FoldedLinesAreThoseOfExportStacks) {
  EXPECT_EQ(folded(small_tree(3, 4, 5)), "main;a_b.py(5):_left 3\nmain;right_x 4\n");
}

TEST(CallTree, ComparedFunctionsAreTheSameWhateverTheirLine) {
  EXPECT_EQ(folded(compare_trees(small_tree(3, 4, 5), small_tree(2, 0, 9))),
            "main;a_b.py(5):_left 2 3\nmain;right_x 0 4\n");
  EXPECT_EQ(folded(compare_trees(small_tree(3, 0, 5), small_tree(2, 9, 9))),
            "main;a_b.py(5):_left 2 3\nmain;right_x 9 0\n");
}

}  // namespace
}  // namespace prof::analyzer
