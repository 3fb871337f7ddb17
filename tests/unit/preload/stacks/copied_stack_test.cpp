// Stacks of which only registers and a copy are known: the same frames as a walk in the thread itself, and a clear end
// where a register is missing or the copy ends.
#include "preload/stacks/copied_stack.h"

#include "preload/base/clock.h"
#include "preload/format/stack_definitions.h"
#include "preload/record/thread.h"
#include "preload/record/thread_local.h"
#include "preload/stacks/code_images.h"
#include "preload/stacks/rule_table.h"

#include <gtest/gtest.h>

#include <execinfo.h>
#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <vector>

#if defined(__x86_64__)

// Functions as compilers make them with frame pointers. The first one calls take(). The second one pushes arguments for
// calls_without_frame(), which has no frame pointer and calls take(); neither its unwind rule nor its first `sub` shows
// them. The last one is interrupted before it jumps.
using Take = void (*)(void* here);
extern "C" void keeps_frame_pointer(void* here, Take take);
extern "C" void calls_without_frame(void* here, void*, Take take);
extern "C" void restores_frame_pointer();
extern "C" void pushes_arguments(void* here, decltype(calls_without_frame)* call, Take take);
asm(R"(
  .macro makes_frame
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset 6, -16
  mov %rsp, %rbp
  .cfi_def_cfa_register 6
  .endm
  .macro function name
  .type \name, @function
\name:
  .cfi_startproc
  .endm
  .macro end name
  .cfi_endproc
  .size \name, . - \name
  .endm
  .macro reserves
  push %rbx
  .cfi_offset 3, -24
  sub $0x28, %rsp
  .endm
  .macro returns reserved
  add $\reserved, %rsp
  pop %rbx
  pop %rbp
  .cfi_def_cfa 7, 8
  ret
  .endm

  .pushsection .text
  function keeps_frame_pointer
  makes_frame
  reserves
  call *%rsi
  returns 0x28
  end keeps_frame_pointer

  function pushes_arguments
  makes_frame
  reserves
  sub $8, %rsp
  push $1
  push $2
  push $3
  call *%rsi
  returns 0x48
  end pushes_arguments

  function calls_without_frame
  sub $8, %rsp
  .cfi_def_cfa_offset 16
  call *%rdx
  add $8, %rsp
  .cfi_def_cfa_offset 8
  ret
  end calls_without_frame

  function restores_frame_pointer
  makes_frame
  pop %rbp
  .cfi_def_cfa 7, 8
  jmp *%rsi
  end restores_frame_pointer
  .popsection
  .purgem makes_frame
  .purgem function
  .purgem end
  .purgem reserves
  .purgem returns
)");

namespace prof::preload {
namespace {

struct Here {
  std::vector<uint8_t> copy;
  uint64_t low = 0;
  FrameRegisters at;
  std::vector<uint64_t> wanted;  // return addresses, from the caller of take() outwards
};

// The stack has places that AddressSanitizer reports.
__attribute__((noinline, no_sanitize("address"))) void copy_words(uint64_t from, std::vector<uint8_t>& to) {
  const auto* const words = reinterpret_cast<const volatile uint64_t*>(from);
  auto* const copied = reinterpret_cast<volatile uint64_t*>(to.data());
  for (size_t i = 0; i < to.size() / 8; ++i) copied[i] = words[i];
}

// The stack may end before 4096 bytes: the main thread's ends with the environment.
size_t bytes_of_stack_from(uint64_t low) {
  pthread_attr_t attributes;
  void* bottom = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  pthread_attr_getstack(&attributes, &bottom, &size);
  pthread_attr_destroy(&attributes);
  return std::min<size_t>(4096, reinterpret_cast<uint64_t>(bottom) + size - low) & ~size_t{7};
}

__attribute__((noinline)) void take(void* argument) {
  Here& here = *static_cast<Here*>(argument);
  uint64_t* const frame = static_cast<uint64_t*>(__builtin_frame_address(0));
  here.at.fp = frame[0];
  here.at.pc = frame[1];
  here.at.sp = reinterpret_cast<uint64_t>(frame + 2);
  here.low = here.at.sp;
  here.copy.resize(bytes_of_stack_from(here.low));
  copy_words(here.low, here.copy);
  void* frames[64];
  const int n = backtrace(frames, 64);
  bool found = false;
  for (int i = 0; i < n; ++i) {
    found |= reinterpret_cast<uint64_t>(frames[i]) == here.at.pc;
    if (found) here.wanted.push_back(reinterpret_cast<uint64_t>(frames[i]));
  }
}

// Its frame is found by the frame pointer only.
__attribute__((noinline)) void take_in_dynamic_frame(Here& here, size_t bytes) {
  auto* const room = static_cast<volatile char*>(__builtin_alloca(bytes));
  room[0] = 1;
  take(&here);
  room[bytes - 1] = 2;
}

void open_once() {
  static const bool open = (start_clock({}), open_images());
  ASSERT_TRUE(open);
}

CopiedStack walk(const Here& here, size_t bytes, bool knows_fp, std::vector<uint64_t>& frames) {
  open_once();
  ThreadState state;
  ThreadState* const before = t_local.state;
  t_local.state = &state;
  frames.resize(128);
  CopiedStack to;
  to.frames = frames.data();
  to.most = 128;
  walk_copy({here.low, here.copy.data(), bytes}, here.at, knows_fp, to);
  t_local.state = before;
  frames.resize(to.count);
  return to;
}

TEST(CopiedStack, HasTheFramesOfTheThread) {
  Here here;
  take_in_dynamic_frame(here, 200);
  std::vector<uint64_t> frames;
  const CopiedStack stack = walk(here, here.copy.size(), true, frames);
  ASSERT_GE(here.wanted.size(), 4u);
  ASSERT_GE(frames.size(), 4u);
  EXPECT_EQ(frames[0], here.wanted[0] + 1);  // of an instruction, not a return address
  for (size_t i = 1; i < std::min(frames.size(), here.wanted.size()); ++i) EXPECT_EQ(frames[i], here.wanted[i]) << i;
  EXPECT_FALSE(stack.needs_register);
}

TEST(CopiedStack, EndsWhereARegisterIsMissing) {
  Here here;
  take_in_dynamic_frame(here, 200);
  std::vector<uint64_t> frames;
  const CopiedStack stack = walk(here, here.copy.size(), false, frames);
  EXPECT_EQ(frames.size(), 1u);
  EXPECT_TRUE(stack.needs_register);
  EXPECT_EQ(stack.flags, format::kStackBroken);
}

TEST(CopiedStack, OfAFunctionWhoseFrameHasAKnownSizeNeedsNoFramePointer) {
  Here here;
  keeps_frame_pointer(&here, take);
  for (int again = 0; again < 2; ++again) {  // then the rule is stored
    std::vector<uint64_t> frames;
    const CopiedStack stack = walk(here, here.copy.size(), false, frames);
    ASSERT_GE(here.wanted.size(), 4u);
    ASSERT_GE(frames.size(), 4u);
    for (size_t i = 1; i < std::min(frames.size(), here.wanted.size()); ++i) EXPECT_EQ(frames[i], here.wanted[i]) << i;
    EXPECT_FALSE(stack.needs_register);
  }
}

TEST(CopiedStack, OfAFunctionThatPushedArgumentsGoesOnIfItsCallerNamesIt) {
  Here here;
  pushes_arguments(&here, calls_without_frame, take);
  std::vector<uint64_t> frames;
  const CopiedStack stack = walk(here, here.copy.size(), false, frames);
  ASSERT_GE(frames.size(), 4u);
  for (size_t i = 1; i < std::min(frames.size(), here.wanted.size()); ++i) EXPECT_EQ(frames[i], here.wanted[i]) << i;
  EXPECT_FALSE(stack.needs_register);
}

TEST(CopiedStack, OfAFunctionThatPushedArgumentsEndsIfItsCallerDoesNotNameIt) {
  Here here;
  decltype(pushes_arguments)* volatile indirect = pushes_arguments;
  indirect(&here, calls_without_frame, take);
  open_once();
  g_rules.clear();  // nothing is known from another call
  std::vector<uint64_t> frames;
  const CopiedStack stack = walk(here, here.copy.size(), false, frames);
  EXPECT_EQ(frames.size(), 2u);
  EXPECT_TRUE(stack.needs_register);
  EXPECT_EQ(stack.flags, format::kStackBroken);
}

TEST(CopiedStack, OfAFunctionThatIsAboutToReturnHasTheFramePointerOfItsCaller) {
  Here here;
  take_in_dynamic_frame(here, 200);
  // As if the function that calls take() were interrupted in a function that it calls, before its last instruction.
  constexpr uint64_t kLast = 5;  // push, mov, pop: 1 + 3 + 1 bytes
  const uint64_t return_address = here.at.pc;
  std::vector<uint8_t> whole(8 + here.copy.size());
  std::memcpy(whole.data(), &return_address, 8);
  std::copy(here.copy.begin(), here.copy.end(), whole.begin() + 8);
  here.copy = whole;
  here.low -= 8;
  here.at.sp -= 8;
  here.at.pc = reinterpret_cast<uint64_t>(restores_frame_pointer) + kLast;
  std::vector<uint64_t> frames;
  const CopiedStack stack = walk(here, here.copy.size(), true, frames);
  ASSERT_GE(frames.size(), 4u);
  for (size_t i = 1; i < std::min(frames.size(), here.wanted.size()); ++i)
    EXPECT_EQ(frames[i], here.wanted[i - 1]) << i;
  EXPECT_FALSE(stack.needs_register);
}

TEST(CopiedStack, EndsWhereTheCopyEnds) {
  Here here;
  take_in_dynamic_frame(here, 2000);
  std::vector<uint64_t> frames;
  const CopiedStack stack = walk(here, 1000, true, frames);
  EXPECT_EQ(frames.size(), 1u);
  EXPECT_TRUE(stack.reaches_end_of_copy);
  EXPECT_EQ(stack.flags, format::kStackNativeCut);
}

TEST(CopiedStack, OfNoUseReadsNothing) {
  Here here;
  take_in_dynamic_frame(here, 100);
  std::vector<uint64_t> frames;
  here.at.sp = 8;
  here.at.fp = 16;
  EXPECT_LE(walk(here, here.copy.size(), true, frames).count, 1u);
  here.at.pc = 4096;
  EXPECT_LE(walk(here, 0, true, frames).count, 1u);
}

}  // namespace
}  // namespace prof::preload

#endif
