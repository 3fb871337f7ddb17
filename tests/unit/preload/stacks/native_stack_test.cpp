// Stacks as the recorder walks them, compared with libgcc's unwinder: both must find the same return addresses,
// whatever the stack looks like. If the callers cannot be known, the walk ends and reports it, and nothing crashes.
#include "preload/stacks/native_stack.h"
#include "preload/base/clock.h"
#include "preload/base/code_generation.h"
#include "preload/base/hook_frame.h"
#include "preload/base/page_size.h"
#include "preload/record/thread.h"
#include "preload/record/thread_local.h"

#include "preload/base/stack_memory.h"
#include "preload/format/stack_definitions.h"
#include "preload/stacks/call_stack.h"
#include "preload/stacks/code_images.h"
#include "preload/stacks/rule_table.h"

#include <gtest/gtest.h>

#include <alloca.h>
#include <execinfo.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

namespace prof::preload {
namespace {

// A thread that records nothing but has the state that a walk needs.
struct Walker {
  ThreadState state;
  ThreadState* before = t_local.state;
  Walker() {
    static const bool open = (start_clock({}), open_images());
    EXPECT_TRUE(open);
    t_local.state = &state;
  }
  ~Walker() { t_local.state = before; }
  Walker(const Walker&) = delete;
  Walker& operator=(const Walker&) = delete;
};

// Does not allocate, because stacks are also taken in signal handlers.
class Frames {
 public:
  void push_back(uint64_t frame) { frames_[size_++] = frame; }
  size_t size() const { return size_; }
  uint64_t operator[](size_t i) const { return frames_[i]; }
  const uint64_t* begin() const { return frames_.data(); }
  const uint64_t* end() const { return frames_.data() + size_; }

 private:
  std::array<uint64_t, 300> frames_{};
  size_t size_ = 0;
};

struct TakenStack {
  Frames frames, expected;
  uint32_t flags = 0;
  bool ok = false;
};

// Like a hook: walks from its caller. `expected` is libgcc's result from the same place.
__attribute__((noinline)) TakenStack take() {
  TakenStack taken;
  uint64_t frames[format::kMaxStackFrames];
  NativeStack native{frames, format::kMaxStackFrames, 0, 0, 0};
  taken.ok = walk_native(*t_local.state, reinterpret_cast<uintptr_t>(PROF_HOOK_FRAME()), native);
  for (uint32_t i = 0; i < native.count; ++i) taken.frames.push_back(frames[i]);
  taken.flags = native.flags;
  void* all[300];
  const int n = backtrace(all, 300);
  const auto own = reinterpret_cast<uint64_t>(__builtin_return_address(0));
  int first = 0;
  while (first < n && reinterpret_cast<uint64_t>(all[first]) != own) ++first;
  for (int i = first; i < n; ++i) taken.expected.push_back(reinterpret_cast<uint64_t>(all[i]));
  return taken;
}

// Whether libgcc reports the entry of an outermost function depends on its tables. The common frames are compared.
void expect_same(const TakenStack& taken, size_t at_least) {
  ASSERT_TRUE(taken.ok);
  EXPECT_EQ(taken.flags & ~format::kStackNativeCut, 0u);
  ASSERT_GE(taken.frames.size(), at_least);
  ASSERT_GE(taken.expected.size() + 1, taken.frames.size());
  for (size_t i = 0; i < taken.frames.size() && i < taken.expected.size(); ++i)
    EXPECT_EQ(taken.frames[i], taken.expected[i]) << "frame " << i;
}

__attribute__((noinline)) TakenStack deep(int levels) {
  if (levels == 0) return take();
  TakenStack taken = deep(levels - 1);
  __asm__ volatile("" ::: "memory");
  return taken;
}

__attribute__((noinline)) TakenStack with_alloca(size_t bytes) {
  volatile char* const room = static_cast<char*>(alloca(bytes));
  room[0] = 1;
  return take();
}

// The compiler realigns the stack; its tables describe the CFA by an expression.
__attribute__((noinline)) TakenStack realigned() {
  alignas(64) volatile char room[128] = {};
  room[5] = 1;
  TakenStack taken = with_alloca(100 + room[5]);
  room[6] = 1;
  return taken;
}

// A frame of its own for the result: a rule cannot hold a frame of 16 KiB on aarch64.
template <class Take> __attribute__((noinline)) void expect_same_of(const Take& take_it, size_t at_least) {
  expect_same(take_it(), at_least);
}

TEST(NativeStack, NamesWhatLibgccNames) {
  const Walker walker;
  expect_same_of([] { return take(); }, 3);
  expect_same_of([] { return deep(30); }, 33);
  expect_same_of([] { return with_alloca(5000); }, 4);
  expect_same_of([] { return realigned(); }, 5);
  expect_same_of([] { return deep(30); }, 33);  // now with the cached rules
}

#if defined(__aarch64__)
// The compiler signs the return address: its upper bits are a signature.
__attribute__((noinline, target("branch-protection=pac-ret"))) TakenStack signed_deep(int levels) {
  if (levels == 0) return take();
  TakenStack taken = signed_deep(levels - 1);
  __asm__ volatile("" ::: "memory");
  return taken;
}

TEST(NativeStack, StripsTheSignaturesOfReturnAddresses) {
  if ((getauxval(AT_HWCAP) & HWCAP_PACA) == 0) GTEST_SKIP() << "this processor signs nothing";
  const Walker walker;
  expect_same(signed_deep(10), 13);
  expect_same(signed_deep(10), 13);  // now with the cached rules
}
#endif

TEST(NativeStack, CutsWhatIsDeeperThanTheLimit) {
  const Walker walker;
  const TakenStack taken = deep(200);
  ASSERT_EQ(taken.frames.size(), format::kMaxStackFrames);
  EXPECT_EQ(taken.flags, format::kStackNativeCut);
  for (size_t i = 0; i < taken.frames.size(); ++i) ASSERT_EQ(taken.frames[i], taken.expected[i]);
}

TEST(NativeStack, KnownPlacesAreNotLookedUpAgain) {
  const Walker walker;
  for (int i = 0; i < 2; ++i) deep(10);
  const TakenStack taken = deep(10);
  for (const uint64_t frame : taken.frames) {
    EXPECT_NE(g_rules.find(frame << 1, static_cast<uint8_t>(code_generation())).kind(), RuleKind::None);
  }
}

TakenStack g_taken;
void take_in_handler(int) { g_taken = take(); }

__attribute__((noinline)) void raise_deep(int levels) {
  if (levels == 0) {
    raise(SIGUSR1);
  } else {
    raise_deep(levels - 1);
  }
  __asm__ volatile("" ::: "memory");
}

void expect_signal_stack() {
  ASSERT_TRUE(g_taken.ok);
  EXPECT_EQ(g_taken.flags, 0u);
  // libgcc reports the exact interrupted address, the recorder one more, because an address minus one is inside the
  // instruction.
  ASSERT_GE(g_taken.frames.size(), 12u);
  size_t different = 0;
  for (size_t i = 0; i < g_taken.frames.size() && i < g_taken.expected.size(); ++i) {
    if (g_taken.frames[i] != g_taken.expected[i]) {
      ++different;
      EXPECT_EQ(g_taken.frames[i], g_taken.expected[i] + 1) << i;
    }
  }
  EXPECT_EQ(different, 1u);
}

TEST(NativeStack, GoesThroughASignalHandler) {
  const Walker walker;
  take();  // the unwinder's first use must not happen in a handler
  signal(SIGUSR1, take_in_handler);
  raise_deep(10);
  signal(SIGUSR1, SIG_DFL);
  expect_signal_stack();
}

TEST(NativeStack, GoesFromAnAlternateStackToTheInterruptedOne) {
  const Walker walker;
  take();
  std::vector<char> room(65536);
  stack_t alternate{};
  alternate.ss_sp = room.data(), alternate.ss_size = room.size();
  stack_t old{};
  ASSERT_EQ(sigaltstack(&alternate, &old), 0);
  struct sigaction action {};
  action.sa_handler = take_in_handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  raise_deep(10);
  signal(SIGUSR1, SIG_DFL);
  sigaltstack(&old, nullptr);
  expect_signal_stack();
  expect_same(take(), 3);  // and back on its own stack
}

TEST(NativeStack, EveryThreadHasItsOwn) {
  for (int i = 0; i < 20; ++i) {
    std::thread([i] {
      const Walker walker;
      expect_same(deep(i), static_cast<size_t>(i) + 3);
#if !defined(__SANITIZE_THREAD__)  // its own thread-local memory is between the stack and the thread's descriptor
      EXPECT_NE(walker.state.own_stack.low, 0u);
#endif
    }).join();
  }
}

ucontext_t g_main_context, g_coroutine_context;
void coroutine() {
  g_taken = deep(5);
  swapcontext(&g_coroutine_context, &g_main_context);
  g_taken = deep(6);
}

TEST(NativeStack, ACoroutineHasFramesUntilItsBeginning) {
  const Walker walker;
  // A stack between guard pages, like a fiber's, which is unmapped afterwards.
  const size_t page = page_size(), size = 48 * page;
  auto* const memory = static_cast<char*>(mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(memory + page, size - 2 * page, PROT_READ | PROT_WRITE), 0);
  getcontext(&g_coroutine_context);
  g_coroutine_context.uc_stack.ss_sp = memory + page;
  g_coroutine_context.uc_stack.ss_size = size - 2 * page;
  g_coroutine_context.uc_link = &g_main_context;
  makecontext(&g_coroutine_context, coroutine, 0);
  for (size_t frames : {7u, 8u}) {
    swapcontext(&g_main_context, &g_coroutine_context);
    ASSERT_TRUE(g_taken.ok);
    ASSERT_GE(g_taken.frames.size(), frames);
    for (size_t i = 0; i < frames; ++i) EXPECT_EQ(g_taken.frames[i], g_taken.expected[i]) << i;
    expect_same(take(), 3);
  }
  munmap(memory, size);
  expect_same(take(), 3);
}

using Callback = void (*)();
void take_from_page() { g_taken = take(); }

#if defined(__aarch64__)
// stp x29, x30, [sp, -16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], 16; ret
constexpr uint32_t kWithFramePointer[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
// No frame pointer kept: str x30, [sp, -16]!; blr x0; ldr x30, [sp], 16; ret
constexpr uint32_t kWithout[] = {0xf81f0ffe, 0xd63f0000, 0xf84107fe, 0xd65f03c0};
#else
// push rbp; mov rbp, rsp; call rdi; pop rbp; ret - as a JIT compiler makes it, without tables
constexpr uint8_t kWithFramePointer[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
// push rbx; xor ebp… no frame pointer kept: sub rsp, 8; call rdi; add rsp, 8; ret
constexpr uint8_t kWithout[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
#endif

void call_through_page(const void* code, size_t size) {
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  std::memcpy(page, code, size);
  __builtin___clear_cache(static_cast<char*>(page), static_cast<char*>(page) + size);
  ASSERT_EQ(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
  reinterpret_cast<void (*)(Callback)>(page)(take_from_page);
  munmap(page, 4096);
}

TEST(NativeStack, FollowsFramePointersThroughCodeMadeAtRunTime) {
  const Walker walker;
  call_through_page(kWithFramePointer, sizeof kWithFramePointer);
  ASSERT_TRUE(g_taken.ok);
  EXPECT_EQ(g_taken.flags, format::kStackFramePointers);
  EXPECT_GE(g_taken.frames.size(), 6u);
  const TakenStack around = take();
  expect_same(around, 3);
  for (size_t i = 1; i < around.frames.size(); ++i)  // the callers of this test, beyond the page
    EXPECT_EQ(g_taken.frames[g_taken.frames.size() - i], around.frames[around.frames.size() - i]) << i;
}

TEST(NativeStack, EndsAtCodeThatSaysNothingAboutItsCaller) {
  const Walker walker;
  for (int i = 0; i < 3; ++i) {
    call_through_page(kWithout, sizeof kWithout);
    ASSERT_TRUE(g_taken.ok);
    EXPECT_GE(g_taken.frames.size(), 2u);
    EXPECT_NE(g_taken.flags & (format::kStackBroken | format::kStackFramePointers), 0u);
  }
}

TEST(NativeStack, WithoutAStackPointerTheFramePointerGivesTheCallersFrame) {
  // The words lie 96 bytes below the CFA, where the frame pointer leads.
  const UnwindRule kept = without_sp(UnwindRule::plain(CfaBase::Sp, 112, FpRule::FromCfa, -96, -88));
  EXPECT_EQ(kept.kind(), RuleKind::Plain);
  EXPECT_EQ(kept.base(), CfaBase::Fp);
  EXPECT_EQ(kept.cfa(), 96);
  EXPECT_EQ(kept.fp(), -96);
  EXPECT_EQ(kept.ra(), -88);
  const UnwindRule by_fp = UnwindRule::plain(CfaBase::Fp, 16, FpRule::FromCfa, -16, -8);
  EXPECT_EQ(without_sp(by_fp).word, by_fp.word);
  EXPECT_EQ(without_sp(UnwindRule::plain(CfaBase::Sp, 112, FpRule::Same, 0, -88)).kind(), RuleKind::Unknown);
  EXPECT_EQ(without_sp(UnwindRule::plain(CfaBase::Sp, 112, FpRule::FromCfa, -96, -8)).kind(), RuleKind::Unknown);
  EXPECT_EQ(without_sp(UnwindRule::of(RuleKind::Signal)).kind(), RuleKind::Unknown);
  EXPECT_EQ(without_sp(UnwindRule::of(RuleKind::Hard)).kind(), RuleKind::Hard);
  EXPECT_EQ(without_sp(UnwindRule::of(RuleKind::Outermost)).kind(), RuleKind::Outermost);
}

TEST(NativeStack, AThreadWithNoRoomIsSkipped) {
  struct Result {
    bool ok = true;
    bool roomy = false;
  } result;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  pthread_attr_setguardsize(&attributes, 4096);
  pthread_t thread;
  const auto body = [](void* argument) -> void* {
    Result& out = *static_cast<Result*>(argument);
    const Walker walker;
    uint64_t frames[16];
    NativeStack native{frames, 16, 0, 0, 0};
    out.roomy = walk_native(*t_local.state, reinterpret_cast<uintptr_t>(PROF_HOOK_FRAME()), native);
    // Down to 12 KiB above the guard page, whose place follows from where the thread's stack begins.
    pthread_attr_t own;
    pthread_getattr_np(pthread_self(), &own);
    void* low = nullptr;
    size_t size = 0;
    pthread_attr_getstack(&own, &low, &size);
    pthread_attr_destroy(&own);
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    const size_t left = here - reinterpret_cast<uintptr_t>(low);
    volatile char* const room = static_cast<char*>(alloca(left - 12288));
    room[0] = 1;
    struct Inner {
      static __attribute__((noinline)) bool walk() {
        uint64_t inner_frames[16];
        NativeStack inner{inner_frames, 16, 0, 0, 0};
        return walk_native(*t_local.state, reinterpret_cast<uintptr_t>(PROF_HOOK_FRAME()), inner);
      }
    };
    out.ok = Inner::walk();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, &result), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_TRUE(result.roomy);
  EXPECT_FALSE(result.ok);
}

TEST(StackMemory, ReadsNothingThatIsNotThere) {
  OwnStack own;
  const size_t page = page_size();
  auto* const pages =
      static_cast<char*>(mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(pages + 2 * page, page, PROT_NONE), 0);
  const auto begin = reinterpret_cast<uint64_t>(pages);
  own.low = own.high = 1;  // not on a stack that it knows
  StackMemory memory(own, begin + 64);
  uint64_t value = 7;
  EXPECT_TRUE(memory.read(begin + 64, value));
  EXPECT_EQ(value, 0u);
  EXPECT_TRUE(memory.read(begin + 2 * page - 8, value));
  EXPECT_FALSE(memory.read(begin + 2 * page, value));  // PROT_NONE
  EXPECT_FALSE(memory.read(begin + 56, value));        // below the frame
  EXPECT_FALSE(memory.read(begin + 68, value));        // not aligned
  EXPECT_FALSE(memory.read(uint64_t{1} << 56, value));
  EXPECT_FALSE(memory.read(~uint64_t{7}, value));
  EXPECT_FALSE(memory.jump(begin + 2 * page + 8));
  munmap(pages, 3 * page);
}

TEST(StackMemory, AWalkThatComesBackToItsOwnStackEndsAtItsTop) {
  auto* const pages =
      static_cast<char*>(mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const auto begin = reinterpret_cast<uint64_t>(pages);
  OwnStack own;
  own.low = begin;
  own.high = begin + 4096;
  StackMemory memory(own, begin + 2 * 4096);  // on a signal stack
  EXPECT_FALSE(memory.on_own());
  ASSERT_TRUE(memory.jump(begin + 64));
  EXPECT_TRUE(memory.on_own());
  uint64_t value = 7;
  EXPECT_TRUE(memory.read(begin + 4096 - 8, value));
  EXPECT_FALSE(memory.read(begin + 4096, value)) << "readable, but above the stack";
  ASSERT_TRUE(memory.jump(begin + 2 * 4096 + 64));
  EXPECT_FALSE(memory.on_own());
  munmap(pages, 3 * 4096);
}

}  // namespace
}  // namespace prof::preload
