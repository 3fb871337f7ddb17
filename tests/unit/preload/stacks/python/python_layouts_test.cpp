// Which layout is chosen for which CPython: rows of a table up to 3.12, the offsets that the interpreter publishes from
// 3.13 on, and none if neither gives an answer.
#include "preload/stacks/python/python_layouts.h"

#include "preload/stacks/python/python_finder.h"
#include "preload/stacks/python/python_frames.h"
#include "preload/stacks/python/python_text.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace prof::preload {
namespace {

PythonInterpreter version(uint32_t major, uint32_t minor) {
  PythonInterpreter python;
  python.major = major, python.minor = minor;
  return python;
}

// The start of a _PyRuntime whose word i contains 8 * i, except for the first three.
std::vector<uint64_t> runtime_of(uint32_t minor, bool free_threaded) {
  std::vector<uint64_t> words(100);
  for (size_t i = 0; i < words.size(); ++i) words[i] = 8 * i;
  std::memcpy(words.data(), "xdebugpy", 8);
  words[1] = 0x03000000u | minor << 16 | 0x02f0;
  words[2] = free_threaded;
  return words;
}

TEST(PythonLayouts, VersionsWithoutPublishedOffsetsHaveARow) {
  for (const uint32_t minor : {8u, 9u, 10u, 11u, 12u}) {
    PythonLayout layout;
    EXPECT_EQ(choose_layout(version(3, minor), layout), nullptr) << minor;
    EXPECT_EQ(layout.minor, minor);
  }
  PythonLayout layout;
  choose_layout(version(3, 12), layout);
  EXPECT_EQ(layout.code_first_traceable(), 176u);
  EXPECT_EQ(layout.cframe, 0u);
  choose_layout(version(3, 10), layout);
  EXPECT_EQ(layout.code_first_traceable(), kNone);
  EXPECT_EQ(layout.cframe, kNone);
}

// offsetof(_PyRuntimeState, gilstate.tstate_current), from the headers of each version, for both processors
#ifdef __aarch64__
constexpr uint32_t kCurrentOf38 = 1384, kCurrentOf39 = 584, kCurrentOf311 = 592;
#else
constexpr uint32_t kCurrentOf38 = 1368, kCurrentOf39 = 568, kCurrentOf311 = 576;
#endif

TEST(PythonLayouts, OnlyUpTo311TheInterpreterThatRunsIsLookedUp) {
  PythonLayout layout;
  for (const uint32_t minor : {8u, 9u, 10u, 11u}) {
    choose_layout(version(3, minor), layout);
    EXPECT_EQ(layout.interpreters, minor == 11 ? 40u : 32u) << minor;
    EXPECT_EQ(layout.current_thread, minor == 8 ? kCurrentOf38 : minor == 11 ? kCurrentOf311 : kCurrentOf39) << minor;
  }
  choose_layout(version(3, 12), layout);
  EXPECT_EQ(layout.interpreters, kNone);
  const std::vector<uint64_t> words = runtime_of(13, false);
  PythonInterpreter python = version(3, 13);
  python.runtime = reinterpret_cast<const char*>(words.data());
  EXPECT_EQ(choose_layout(python, layout), nullptr);
  EXPECT_EQ(layout.interpreters, kNone);
}

TEST(PythonLayouts, OtherVersionsHaveNone) {
  PythonLayout layout;
  for (const uint32_t minor : {0u, 7u, 16u})
    EXPECT_STREQ(choose_layout(version(3, minor), layout), "its version is not known");
  EXPECT_STREQ(choose_layout(version(2, 8), layout), "its version is not known");
  EXPECT_STREQ(choose_layout(version(4, 8), layout), "its version is not known");
}

// The positions of these words, counted in the interpreters' own headers (pycore_debug_offsets.h of 3.13.0, 3.14.0 and
// 3.15.0).
struct PublishedWords {
  uint32_t minor, thread_frame, thread_id, frame_code, frame_owner, code_name, code_start, object_type, bytes_data,
      text_size;
};
constexpr PublishedWords kPublishedWords[] = {
    {13, 23, 24, 30, 33, 37, 43, 45, 66, 69},
    {14, 26, 27, 33, 36, 42, 48, 51, 76, 79},
    {15, 26, 30, 41, 44, 50, 56, 59, 88, 91},
};

TEST(PythonLayouts, PublishedOffsetsAreReadFromTheRuntime) {
  for (const PublishedWords& at : kPublishedWords) {
    const std::vector<uint64_t> words = runtime_of(at.minor, false);
    PythonInterpreter python = version(3, at.minor);
    python.runtime = reinterpret_cast<const char*>(words.data());
    PythonLayout layout;
    ASSERT_EQ(choose_layout(python, layout), nullptr) << at.minor;
    EXPECT_EQ(layout.finalizing, 8u * 4);
    EXPECT_EQ(layout.thread_frame, 8u * at.thread_frame);
    EXPECT_EQ(layout.thread_id, 8u * at.thread_id) << at.minor;
    EXPECT_EQ(layout.frame_code, 8u * at.frame_code);
    EXPECT_EQ(layout.frame_owner, 8u * at.frame_owner);
    EXPECT_EQ(layout.code_name, 8u * at.code_name);
    EXPECT_EQ(layout.code_start, 8u * at.code_start);
    EXPECT_EQ(layout.object_type, 8u * at.object_type);
    EXPECT_EQ(layout.bytes_data, 8u * at.bytes_data);
    EXPECT_EQ(layout.text_size, 8u * at.text_size);
    EXPECT_EQ(layout.text_other, layout.text_ascii + 16);
  }
}

TEST(PythonLayouts, TheLockOfAnInterpreterIsInItsRowOrPublished) {
  PythonLock lock;
  for (const uint32_t minor : {8u, 11u, 16u}) EXPECT_FALSE(choose_lock(version(3, minor), lock)) << minor;
  ASSERT_TRUE(choose_lock(version(3, 12), lock));
  EXPECT_EQ(lock.pointer, 384u);
  EXPECT_EQ(lock.holder, 8u);
  EXPECT_EQ(lock.held, 16u);
  for (const uint32_t minor : {13u, 14u, 15u}) {
    std::vector<uint64_t> words = runtime_of(minor, false);
    PythonInterpreter python = version(3, minor);
    python.runtime = reinterpret_cast<const char*>(words.data());
    ASSERT_TRUE(choose_lock(python, lock)) << minor;
    EXPECT_EQ(lock.pointer, 8u * (minor == 13 ? 14 : 15)) << "interpreter_state.ceval_gil";
    EXPECT_EQ(lock.holder, 8u * 3) << "three words after interpreter_state.gil_runtime_state";
    EXPECT_EQ(lock.held, 8u * 2);
    words[minor == 13 ? 18 : 19] = 1 << 20;  // the holder would be outside of the lock
    EXPECT_FALSE(choose_lock(python, lock));
  }
}

TEST(PythonLayouts, From314OnThreadsWithoutTheGilRunCopiesOfTheCode) {
  for (const PublishedWords& at : kPublishedWords) {
    for (const bool free_threaded : {false, true}) {
      const std::vector<uint64_t> words = runtime_of(at.minor, free_threaded);
      PythonInterpreter python = version(3, at.minor);
      python.runtime = reinterpret_cast<const char*>(words.data());
      PythonLayout layout;
      ASSERT_EQ(choose_layout(python, layout), nullptr) << at.minor;
      EXPECT_EQ(layout.free_threaded, free_threaded);
      const bool copies = free_threaded && at.minor >= 14;
      EXPECT_EQ(layout.frame_copy, copies ? 8u * (at.frame_owner + 2) : kNone) << at.minor;
      EXPECT_EQ(layout.code_copies, copies ? 8u * (at.code_start + 1) : kNone) << at.minor;
      EXPECT_EQ(layout.code_first_traceable(), (copies ? layout.code_copies : layout.code_start) - 16);
      EXPECT_EQ(layout.text_kind, copies ? 8u : 2u) << "the bits before it are a byte";
    }
  }
}

// A code object of 3.14 without the GIL. A thread runs its copy 2. It has no copy 1.
class CopiesOfCode : public testing::Test {
 protected:
  CopiesOfCode() {
    layout_.code_start = 64, layout_.code_copies = 56, layout_.position = Position::Pointer, layout_.minor = 14;
    code_[layout_.code_copies / 8] = reinterpret_cast<uint64_t>(table_);
  }
  PythonFrame frame_in(int32_t copy, uint64_t position) const {
    PythonFrame frame;
    frame.code = reinterpret_cast<uint64_t>(code_);
    frame.copy = copy;
    frame.position = position;
    return frame;
  }

  PythonLayout layout_;
  uint64_t code_[16] = {};
  uint64_t table_[4] = {3, reinterpret_cast<uint64_t>(code_) + 64, 0, 0x7000};
};

TEST_F(CopiesOfCode, APositionInACopyIsTheSameOneInTheCode) {
  PythonFrame frame = frame_in(2, 0x7000 + 6);
  uintptr_t first = 0;
  EXPECT_TRUE(first_instruction(layout_, PlainMemory(), frame, first));
  EXPECT_EQ(first, 0x7000u);
  ASSERT_TRUE(leave_copy(layout_, PlainMemory(), frame));
  EXPECT_EQ(frame.position, frame.code + 64 + 6);
  EXPECT_EQ(offset_of(layout_, frame), 6);
  EXPECT_TRUE(leave_copy(layout_, PlainMemory(), frame)) << "it is in the code itself now";
  EXPECT_EQ(offset_of(layout_, frame), 6);
}

TEST_F(CopiesOfCode, ACopyThatDoesNotExistHasNoPosition) {
  for (const int32_t copy : {-1, 1, 3, 1 << 20}) {
    PythonFrame frame = frame_in(copy, 0x7006);
    EXPECT_FALSE(leave_copy(layout_, PlainMemory(), frame)) << copy;
  }
}

TEST(PythonLayouts, WhatIsNotPublishedOrNotPlausibleIsRefused) {
  PythonLayout layout;
  std::vector<uint64_t> words = runtime_of(13, false);
  PythonInterpreter python = version(3, 13);
  python.runtime = reinterpret_cast<const char*>(words.data());
  words[30] = 1u << 20;
  EXPECT_STREQ(choose_layout(python, layout), "the layout it publishes is not plausible");
  words = runtime_of(14, false);  // of another version than the interpreter
  python.runtime = reinterpret_cast<const char*>(words.data());
  EXPECT_STREQ(choose_layout(python, layout), "it does not publish its layout");
  words[1] = 0x030d02f0, words[0] = 0;
  EXPECT_STREQ(choose_layout(python, layout), "it does not publish its layout");
}

// A str as 3.12 lays it out: length at 16, state at 32, characters at 40 (ASCII) or 56.
std::string read_text(uint32_t state, uint64_t size, size_t data_at, const void* data, size_t bytes,
                      uint32_t kind_bit = 2) {
  alignas(8) char object[256] = {};
  std::memcpy(object + 16, &size, 8);
  std::memcpy(object + 32, &state, 4);
  std::memcpy(object + data_at, data, bytes);
  PythonLayout layout;
  choose_layout(version(3, 12), layout);
  layout.text_kind = kind_bit;
  char room[kMostPythonText];
  return std::string(python_text(layout, reinterpret_cast<uintptr_t>(object), room));
}

TEST(PythonText, AllWidthsOfCharactersAreRead) {
  constexpr uint32_t kCompact = 1u << 5, kAscii = 1u << 6;
  EXPECT_EQ(read_text(kCompact | kAscii | 1u << 2, 4, 40, "main", 4), "main");
  EXPECT_EQ(read_text(kCompact | 1u << 2, 4, 56, "caf\xe9", 4), "caf\xc3\xa9");
  const uint16_t two[] = {0x540d, 0x524d};
  EXPECT_EQ(read_text(kCompact | 2u << 2, 2, 56, two, 4), "\xe5\x90\x8d\xe5\x89\x8d");
  const uint32_t four[] = {0x10400};
  EXPECT_EQ(read_text(kCompact | 4u << 2, 1, 56, four, 4), "\xf0\x90\x90\x80");
  EXPECT_EQ(read_text(1u << 2, 4, 56, "abcd", 4), "");             // not compact: the characters are elsewhere
  EXPECT_EQ(read_text(kCompact | 3u << 2, 4, 56, "abcd", 4), "");  // no such width
  EXPECT_EQ(read_text(kCompact | kAscii | 1u << 2, 1ull << 40, 40, "main", 4), "");
}

TEST(PythonText, WithoutTheGilTheKindBeginsInTheSecondByte) {
  constexpr uint32_t kInterned = 3, kCompact = 1u << 11, kAscii = 1u << 12;
  EXPECT_EQ(read_text(kInterned | kCompact | kAscii | 1u << 8, 4, 40, "main", 4, 8), "main");
  EXPECT_EQ(read_text(kInterned | kCompact | 1u << 8, 4, 56, "caf\xe9", 4, 8), "caf\xc3\xa9");
}

}  // namespace
}  // namespace prof::preload
