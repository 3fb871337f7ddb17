// Which Python frame each run of the evaluation loop was at, by a made-up copy of a native stack: three runs, each with
// an entry frame as CPython 3.13 makes them, or with a struct as 3.11.
#include "preload/stacks/python_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

namespace prof::preload {
namespace {

constexpr uint64_t kLoop = 0x400000, kLoopBytes = 0x8000;
constexpr uint64_t kInLoop = kLoop + 0x1234, kInOther = 0x500000;
constexpr uint64_t kNoCode = 0x7000, kExitInstruction = 0x7102;

const PythonLayout& layout_of(uint32_t minor) {
  return *std::find_if(std::begin(kPythonLayouts), std::end(kPythonLayouts),
                       [minor](const PythonLayout& layout) { return layout.minor == minor; });
}

// A Python frame as 3.13 has it.
struct MadeFrame {
  uint64_t code = 0, previous = 0, unused[5] = {}, position = 0;
  uint32_t stack_top = 0;
  uint16_t return_offset = 0;
  uint8_t owner = 0, padding = 0;
};
static_assert(offsetof(MadeFrame, owner) == 70);

struct MadeStruct {
  uint64_t unused = 0, frame = 0, outer = 0;  // as _PyCFrame of 3.11
};

// Native frames of 20 words. The runs are at 1, 3 and 5; the others are functions that the loop called, and main().
class PythonLoops : public testing::Test {
 protected:
  static constexpr uint32_t kFrames = 7, kWords = 20, kMarkAt = 4;

  PythonLoops() {
    for (uint32_t i = 0; i < kFrames; ++i) {
      frames_[i] = i % 2 == 1 ? kInLoop : kInOther;
      stack_pointers_[i] = address(i * kWords);
    }
    native_.frames = frames_.data();
    native_.stack_pointers = stack_pointers_.data();
    native_.most = native_.count = kFrames;
    for (uint32_t run = 0; run < 3; ++run) python_[run].code = 0x9000 + run;
  }

  uint64_t address(uint32_t word) const { return reinterpret_cast<uint64_t>(stack_.data() + word); }
  uint64_t mark(uint32_t run) const { return address((2 * run + 1) * kWords + kMarkAt); }
  uint64_t frame(uint32_t run) const { return reinterpret_cast<uint64_t>(&python_[run]); }

  void make_entry(uint32_t run, uint64_t previous) {
    const MadeFrame entry{kNoCode, previous, {}, kExitInstruction, 0, 0, 3, 0};
    std::memcpy(reinterpret_cast<void*>(mark(run)), &entry, sizeof entry);
  }
  void make_entries() {
    for (uint32_t run = 0; run < 3; ++run) {
      make_entry(run, run < 2 ? frame(run + 1) : 0);
      python_[run].previous = mark(run);
    }
  }
  void make_structs() {
    for (uint32_t run = 0; run < 3; ++run) {
      const MadeStruct made{0, frame(run), run < 2 ? mark(run + 1) : reinterpret_cast<uint64_t>(&root_)};
      std::memcpy(reinterpret_cast<void*>(mark(run)), &made, sizeof made);
    }
  }
  StackCopy copy() const { return {address(0), reinterpret_cast<const uint8_t*>(stack_.data()), sizeof stack_}; }
  CopiedLoops found() const {
    CopiedLoops loops;
    find_loops(kLoop, kLoopBytes, copy(), native_, loops);
    return loops;
  }

  std::array<uint64_t, kFrames * kWords> stack_{};
  std::array<uint64_t, kFrames> frames_{}, stack_pointers_{};
  CopiedStack native_;
  MadeFrame python_[3];
  MadeStruct root_;
};

TEST_F(PythonLoops, EachRunHasItsNativeFrameAndThoseOfWhatItCalled) {
  const CopiedLoops loops = found();
  ASSERT_EQ(loops.count, 3u);
  EXPECT_TRUE(loops.bounded);
  EXPECT_EQ(loops.at[0].low, address(0));
  EXPECT_EQ(loops.at[1].begin, address(3 * kWords));
  EXPECT_EQ(loops.at[1].end, address(4 * kWords));
  EXPECT_EQ(loops.at[1].low, address(2 * kWords) - 64) << "registers that the called function saved";
  EXPECT_EQ(loop_at(loops, mark(2)), 2u);
  EXPECT_EQ(loop_at(loops, address(2 * kWords)), kNone);
}

TEST_F(PythonLoops, ANativeFrameWithoutAKnownEndProvesNothing) {
  stack_pointers_[4] = 0;
  make_entries();
  EXPECT_FALSE(found().bounded);
  EXPECT_EQ(frame_of_loop(layout_of(13), copy(), found(), 2, mark(2)), 0u);
}

TEST_F(PythonLoops, TheLastFrameOfACutStackIsNoRunBecauseItsEndIsNotKnown) {
  native_.count = 6;
  const CopiedLoops loops = found();
  EXPECT_EQ(loops.count, 2u);
  EXPECT_TRUE(loops.bounded);
}

TEST_F(PythonLoops, AStackThatEndsBeforeTheFirstRunDoesNotShowThatThereIsNone) {
  native_.count = 1;
  EXPECT_TRUE(found().bounded) << "the stack is whole";
  native_.flags = format::kStackBroken;
  EXPECT_EQ(found().count, 0u);
  EXPECT_FALSE(found().bounded);
}

TEST_F(PythonLoops, TheEntryOfTheInnerRunShowsWhatTheOuterOneWasAt) {
  make_entries();
  for (uint32_t run : {1u, 2u}) EXPECT_EQ(frame_of_loop(layout_of(13), copy(), found(), run, mark(run)), frame(run));
  EXPECT_EQ(frame_of_loop(layout_of(13), copy(), found(), 0, mark(0)), 0u) << "the innermost run has no inner entry";
}

TEST_F(PythonLoops, OtherWordsAtThePlaceOfTheInnerEntryAreNoEntry) {
  make_entries();
  MadeFrame other{0x9000, frame(1), {}, 0x9100, 0, 0, 3, 0};  // of an earlier call, with code
  std::memcpy(reinterpret_cast<void*>(mark(0)), &other, sizeof other);
  EXPECT_EQ(frame_of_loop(layout_of(13), copy(), found(), 1, mark(1)), 0u);
  other = {kNoCode, frame(1), {}, kExitInstruction, 0, 0, 0, 0};  // of no run
  std::memcpy(reinterpret_cast<void*>(mark(0)), &other, sizeof other);
  EXPECT_EQ(frame_of_loop(layout_of(13), copy(), found(), 1, mark(1)), 0u);
}

TEST_F(PythonLoops, ARunThatHasJustBegunHasNoEntryYet) {
  make_entries();
  native_.frames = frames_.data() + 1;
  native_.stack_pointers = stack_pointers_.data() + 1;
  native_.count = kFrames - 1;
  EXPECT_EQ(frame_of_loop(layout_of(13), copy(), found(), 1, mark(1)), frame(1));
  frames_[1] = kLoop + 16;
  EXPECT_EQ(frame_of_loop(layout_of(13), copy(), found(), 1, mark(1)), 0u);
  EXPECT_EQ(frame_of_loop(layout_of(13), copy(), found(), 2, mark(2)), frame(2));
}

TEST_F(PythonLoops, AnAddressOutsideOfTheNativeFrameOfTheRunIsNoMark) {
  make_entries();
  EXPECT_EQ(frame_of_loop(layout_of(13), copy(), found(), 1, mark(2)), 0u);
  EXPECT_EQ(frame_of_loop(layout_of(13), copy(), found(), 1, address(1)), 0u);
}

TEST_F(PythonLoops, AStructOf311HasTheFrameOfItsOwnRun) {
  make_structs();
  for (uint32_t run : {1u, 2u}) EXPECT_EQ(frame_of_loop(layout_of(11), copy(), found(), run, mark(run)), frame(run));
}

TEST_F(PythonLoops, AWalkFindsTheFrameThatEachRunIsAt) {
  make_entries();
  MadeFrame called{0x9004, frame(0), {}, 0, 0, 0, 0, 0};
  RunsOfLoop runs;
  ASSERT_TRUE(read_runs(layout_of(13), PlainMemory(), reinterpret_cast<uint64_t>(&called), 0, runs));
  ASSERT_EQ(runs.count, 3u);
  EXPECT_EQ(runs.frame[0], reinterpret_cast<uint64_t>(&called));
  for (uint32_t run = 0; run < 3; ++run) EXPECT_EQ(runs.mark[run], mark(run));
  for (uint32_t run : {1u, 2u}) EXPECT_EQ(runs.frame[run], frame(run));
  ASSERT_TRUE(read_runs(layout_of(13), PlainMemory(), frame(0), mark(1), runs));
  EXPECT_EQ(runs.count, 2u);
  EXPECT_FALSE(read_runs(layout_of(13), PlainMemory(), frame(0), mark(1) + 8, runs)) << "no mark of the thread";
}

TEST_F(PythonLoops, TheFrameAtTheEndOfA315ChainIsNoRun) {
  make_entries();
  MadeFrame base;  // part of the thread's state
  base.owner = kOwnedByLoop;
  make_entry(2, reinterpret_cast<uint64_t>(&base));
  PythonLayout layout = layout_of(13);
  RunsOfLoop runs;
  layout.minor = 15;
  ASSERT_TRUE(read_runs(layout, PlainMemory(), frame(0), 0, runs));
  ASSERT_EQ(runs.count, 3u);
  EXPECT_EQ(runs.mark[2], mark(2));
  ASSERT_TRUE(read_runs(layout, PlainMemory(), reinterpret_cast<uint64_t>(&base), 0, runs));
  EXPECT_EQ(runs.count, 0u) << "a thread that runs no Python";
  make_entry(2, 0);
  layout.minor = 14;
  ASSERT_TRUE(read_runs(layout, PlainMemory(), frame(0), 0, runs));
  EXPECT_EQ(runs.count, 3u);
}

TEST_F(PythonLoops, RegistersAreSavedAtTheEndsOfTheNativeFramesInsideTheRun) {
  for (uint32_t i = 0; i < stack_.size(); ++i) stack_[i] = i;
  std::vector<uint64_t> words;
  each_saved_word(copy(), native_, address(2 * kWords), [&](uint64_t word) { words.push_back(word); });
  EXPECT_EQ(words, (std::vector<uint64_t>{12, 13, 14, 15, 16, 17, 18, 19, 32, 33, 34, 35, 36, 37, 38, 39}));
  words.clear();
  stack_pointers_[1] = address(3);  // a frame of three words has no others
  each_saved_word(copy(), native_, address(3), [&](uint64_t word) { words.push_back(word); });
  EXPECT_EQ(words, (std::vector<uint64_t>{0, 1, 2}));
}

// Run 1 has called the function of an instruction, whose native frame begins at word 2 * kWords.
class InstructionFunctions : public PythonLoops {
 protected:
  InstructionFunctions() {
    for (uint32_t i = 0; i < 3; ++i) {
      at_[i] = frame(i);
      chain_[i].code = python_[i].code;
      chain_[i].position = 0x9100 + 0x100 * i;
    }
  }
  uint32_t found() const { return frame_of_instruction(copy(), native_, address(3 * kWords), at_, chain_, 3); }

  uintptr_t at_[3];
  PythonFrame chain_[3];
};

TEST_F(InstructionFunctions, KeepTheFrameAndTheNextInstruction) {
  EXPECT_EQ(found(), kNone);
  stack_[2 * kWords + 3] = frame(1);
  EXPECT_EQ(found(), kNone) << "no instruction";
  stack_[2 * kWords + 5] = chain_[1].position + 8;
  EXPECT_EQ(found(), 1u);
  stack_[2 * kWords + 6] = frame(1);
  EXPECT_EQ(found(), 1u);
}

TEST_F(InstructionFunctions, ProveNothingIfTheThreadIsAtAnotherInstruction) {
  stack_[2 * kWords + 3] = frame(1);
  for (const uint64_t next : {chain_[1].position, chain_[1].position + 22, chain_[1].position - 4}) {
    stack_[2 * kWords + 5] = next;
    EXPECT_EQ(found(), kNone);
  }
}

TEST_F(InstructionFunctions, ProveNothingIfTheyKeepSeveralFrames) {
  stack_[2 * kWords + 3] = frame(1);
  stack_[2 * kWords + 5] = chain_[1].position + 8;
  stack_[2 * kWords + 7] = frame(2);
  EXPECT_EQ(found(), kNone);
  chain_[2].code = 0;  // an entry
  EXPECT_EQ(found(), 1u);
}

TEST_F(InstructionFunctions, AreInsideTheCopy) {
  stack_pointers_[2] = 8;
  EXPECT_EQ(found(), kNone);
  EXPECT_EQ(frame_of_instruction(copy(), native_, address(0), at_, chain_, 3), kNone) << "nothing was called";
  EXPECT_EQ(frame_of_instruction(copy(), native_, address(1), at_, chain_, 3), kNone) << "no native frame";
}

TEST_F(PythonLoops, UpTo310TheRunIsAtTheFrameWhoseAddressItsPartOfTheCopyHas) {
  stack_[5 * kWords + 7] = frame(2);
  stack_[3 * kWords - 5] = frame(1);  // a register that a called function saved
  EXPECT_EQ(frame_of_loop(layout_of(10), copy(), found(), 2, frame(2)), frame(2));
  EXPECT_EQ(frame_of_loop(layout_of(10), copy(), found(), 1, frame(1)), frame(1));
  EXPECT_EQ(frame_of_loop(layout_of(10), copy(), found(), 1, frame(2)), 0u);
  EXPECT_EQ(frame_of_loop(layout_of(10), copy(), found(), 2, frame(1)), 0u);
}

TEST_F(PythonLoops, UpTo310EachFrameOfTheChainIsARun) {
  const PythonLayout& layout = layout_of(10);
  uint64_t chain[3][16] = {};
  const auto at = [&](uint32_t i) { return reinterpret_cast<uint64_t>(chain[i]); };
  for (uint32_t i = 0; i < 3; ++i) {
    chain[i][layout.frame_code / 8] = 0x9000;
    chain[i][layout.frame_previous / 8] = i < 2 ? at(i + 1) : 0;
  }
  RunsOfLoop runs;
  ASSERT_TRUE(read_runs(layout, PlainMemory(), at(0), 0, runs));
  ASSERT_EQ(runs.count, 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(runs.mark[i], at(i));
    EXPECT_EQ(runs.frame[i], at(i));
  }
  ASSERT_TRUE(read_runs(layout, PlainMemory(), at(0), at(1), runs));
  EXPECT_EQ(runs.count, 2u);
  EXPECT_FALSE(read_runs(layout, PlainMemory(), at(1), at(0), runs)) << "not an outer one";
}

TEST_F(PythonLoops, AWalkThatLosesItsWayEnds) {
  make_entries();
  RunsOfLoop runs;
  python_[1].previous = frame(1);  // a circle
  EXPECT_FALSE(read_runs(layout_of(13), PlainMemory(), frame(0), 0, runs));
  python_[1].previous = mark(1);
  python_[1].owner = 9;
  EXPECT_FALSE(read_runs(layout_of(13), PlainMemory(), frame(0), 0, runs));
  python_[1].owner = 0;
  python_[1].previous = mark(1) + 1;
  EXPECT_FALSE(read_runs(layout_of(13), PlainMemory(), frame(0), 0, runs));
}

TEST_F(PythonLoops, TheStructsOf311EndWithThatOfTheThread) {
  make_structs();
  RunsOfLoop runs;
  ASSERT_TRUE(read_structs(layout_of(11), PlainMemory(), mark(0), 0, runs));
  ASSERT_EQ(runs.count, 4u);
  for (uint32_t run = 0; run < 3; ++run) EXPECT_EQ(runs.frame[run], frame(run));
  EXPECT_EQ(runs.mark[3], reinterpret_cast<uint64_t>(&root_));
  EXPECT_TRUE(read_structs(layout_of(11), PlainMemory(), mark(0), mark(2), runs));
  EXPECT_FALSE(read_structs(layout_of(11), PlainMemory(), mark(0), mark(2) + 8, runs));
  root_.outer = mark(0);  // a circle
  EXPECT_FALSE(read_structs(layout_of(11), PlainMemory(), mark(0), 0, runs));
}

}  // namespace
}  // namespace prof::preload
