// The stack of a launch on autograd's thread continues at the call of backward(), if that call is known. It does not
// continue if several threads may have called backward(), if backward() had returned, if the thread is not the
// engine's, or if a sequence number gives a better answer.
#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/stacks/call_stacks.h"
#include "tests/unit/analyzer/analysis/stacks/stack_program.h"

#include <gtest/gtest.h>

#include <string>

namespace prof::analyzer {
namespace {

constexpr const char* kInit =
    "_ZN5torch8autograd6python12PythonEngine11thread_initEiRKSt10shared_ptrINS0_10ReadyQueueEEb";
constexpr const char* kEngineFrames = "0x4001;torch::autograd::python::PythonEngine::thread_init";

struct Program : tests::StackProgram {
  Program() {
    thread(0, 502);
    call("cuInit", 0, 1);
    name(0x5001, kInit);
    engine = stack({0x4001, 0x5001}, {});
    forward = stack({0x2001}, {"forward (model.py:7)", "step (train.py:19)", "main (train.py:3)"});
    root = stack({0x3001},
                 {"_make_grads (/lib/torch/autograd/__init__.py:100)", "backward (/lib/torch/autograd/__init__.py:340)",
                  "Tensor.backward (/lib/torch/_tensor.py:620)", "step (train.py:20)", "main (train.py:3)"});
  }
  uint32_t engine = 0, forward = 0, root = 0;
};

std::string joined(const char* caller) { return std::string(kEngineFrames) + ";[run by backward()];" + caller; }

TEST(BackwardCalls, ALaunchOnTheEnginesThreadGoesOnWhereBackwardWasCalled) {
  Program program;
  program.launch_with(10, program.forward);
  program.launch_with(50, program.engine, 1);  // unrelated: no thread is inside backward()
  program.launch_with(100, program.root);
  program.launch_with(120, program.engine, 1);
  program.launch_with(200, program.forward);
  program.launch_with(220, program.engine, 1);
  program.finish();
  EXPECT_EQ(program.text(50), kEngineFrames);
  EXPECT_EQ(program.text(120), joined("step (train.py:20);main (train.py:3)"));
  EXPECT_EQ(program.text(220), kEngineFrames) << "it was over";
  CallStacks& stacks = call_stacks(program.views());
  EXPECT_EQ(stacks.best(stacks.of_call(program.row_of(120))), "step (train.py:20) [run by backward()]");
}

TEST(BackwardCalls, EachBackwardIsItsOwnLine) {
  Program program;
  const uint32_t second =
      program.stack({0x3001}, {"_make_grads (/lib/torch/autograd/__init__.py:100)",
                               "grad (/lib/torch/autograd/__init__.py:480)", "penalty (loss.py:5)"});
  program.launch_with(100, program.root);
  program.launch_with(120, program.engine, 1);
  program.launch_with(200, second);
  program.launch_with(220, program.engine, 1);
  program.finish();
  EXPECT_EQ(program.text(120), joined("step (train.py:20);main (train.py:3)"));
  EXPECT_EQ(program.text(220), joined("penalty (loss.py:5)"));
}

TEST(BackwardCalls, WhereTwoThreadsWaitNothingIsSaid) {
  Program program;
  program.launch_with(100, program.root);
  program.launch_with(110, program.root, 2);
  program.launch_with(120, program.engine, 1);
  program.launch_with(130, program.forward, 2);
  program.launch_with(140, program.engine, 1);
  program.finish();
  EXPECT_EQ(program.text(120), kEngineFrames);
  EXPECT_EQ(program.text(140), joined("step (train.py:20);main (train.py:3)"));
}

TEST(BackwardCalls, OtherThreadsAndProcessesKeepTheirStacks) {
  Program program;
  const uint32_t worker = program.stack({0x4001, 0x6001}, {});
  program.process(200);
  program.thread(1, 900);
  program.launch_with(100, program.root);
  program.launch_with(120, worker, 2);
  program.launch_with(140, program.engine, 3);
  program.finish();
  EXPECT_EQ(program.text(120), "0x4001;0x6001");
  EXPECT_EQ(program.text(140), kEngineFrames);
}

TEST(BackwardCalls, PythonOfACustomFunctionStaysInside) {
  Program program;
  const uint32_t custom = program.stack({0x4001, 0x5001}, {"MyOp.backward (ops.py:8)"});
  program.launch_with(100, program.root);
  program.launch_with(120, custom, 1);
  program.finish();
  EXPECT_EQ(program.text(120),
            std::string(kEngineFrames) +
                ";MyOp.backward (ops.py:8);[run by backward()];step (train.py:20);main (train.py:3)");
}

TEST(BackwardCalls, TheForwardOperatorSaysMore) {
  Program program;
  program.range("aten::mm, seq = 5", 0, 90, RangeKind::Nvtx);
  program.launch_with(10, program.forward);
  program.launch_with(100, program.root);
  program.range("MmBackward0, stashed seq = 5", 110, 200, RangeKind::Nvtx, 1);
  program.launch_with(120, program.engine, 1);
  program.launch_with(300, program.engine, 1);
  program.finish();
  EXPECT_EQ(program.text(120),
            std::string(kEngineFrames) +
                ";[forward of MmBackward0];forward (model.py:7);step (train.py:19);main (train.py:3)");
  EXPECT_EQ(program.text(300), joined("step (train.py:20);main (train.py:3)"));
}

TEST(BackwardCalls, TheOptionLeavesItOut) {
  Program program;
  program.launch_with(100, program.root);
  program.launch_with(120, program.engine, 1);
  program.finish();
  StackOptions options;
  options.no_forward = true;
  EXPECT_EQ(program.text(120, options), kEngineFrames);
}

TEST(BackwardCalls, TheCallerIsWhereItsWorkCountsInTotal) {
  Program program;
  program.launch_with(100, program.root, 0, 30);
  program.launch_with(120, program.engine, 1, 50);
  program.finish();
  program.options.metric = "gpu-time";
  const Table hot = program.report(report_hot_stacks);
  std::string step, seam;
  for (size_t row = 0; row < hot.rows(); ++row) {
    const std::string function = tests::cell_text(hot, row, "function");
    const std::string text = tests::row_text(hot, row, {"self", "total", "count", "kind"});
    if (function == "step") step = text;
    if (function == "[run by backward()]") seam = text;
  }
  EXPECT_EQ(step, "0 | 80 | 2 | Python");
  EXPECT_EQ(seam, "0 | 50 | 1 | run by");
}

}  // namespace
}  // namespace prof::analyzer
