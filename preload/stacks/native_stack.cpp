#include "preload/stacks/native_stack.h"

#include "preload/base/code_generation.h"
#include "preload/base/messages.h"
#include "preload/base/own_library.h"
#include "preload/base/stack_memory.h"
#include "preload/format/stack_definitions.h"
#include "preload/log/count.h"
#include "preload/record/intern.h"
#include "preload/record/thread.h"
#include "preload/stacks/libunwind.h"
#include "preload/stacks/rule_lookup.h"
#include "preload/stacks/signal_frame.h"
#include "preload/stacks/stack_memo.h"

#include <cstring>

namespace prof::preload {

uint32_t backtrace_by_libunwind(uint64_t* frames, uint32_t most);

namespace {

constexpr uint64_t kNeededStack = 16384;
constexpr uint32_t kMostGuesses = 32;  // consecutive frames without unwind information

class Walk {
 public:
  Walk(ThreadState& thread, StackMemory& memory, FrameRegisters from, NativeStack& to, MemoEntry* memo)
      : thread_(thread), memory_(memory), at_(from), to_(to), memo_(memo), begin_sp_(from.sp) {
    if (memo == nullptr) return;
    memo->uses_fp = false;
    memo->words = memo->reach = 0;
  }

  bool is_repeatable() const { return memo_ != nullptr; }

  // False: this walk runs in a signal handler that interrupted the reading of unwind tables.
  bool run() {
    for (;;) {
      if (to_.count == to_.most) {
        if (rule().kind() != RuleKind::Outermost) to_.flags |= format::kStackNativeCut;
        return true;
      }
      add(interrupted_ ? at_.pc + 1 : at_.pc);
      const UnwindRule here = knows_sp_ ? rule() : without_sp(rule());
      if (here.kind() == RuleKind::Plain) [[likely]] {
        if (!step(here)) return broken();
        knows_sp_ = true;
        continue;
      }
      switch (here.kind()) {
        case RuleKind::Outermost: return true;
        case RuleKind::None: return false;
        case RuleKind::Signal:
          drop_memo();
          if (!leave_signal()) return broken();
          break;
        case RuleKind::Hard:
          drop_memo();
          if (libunwind_path()[0] != '\0') return ask_libunwind() || broken();
          do_without_libunwind();
          if (!follow_frame_pointers()) return broken();
          break;
        default:
          drop_memo();
          if (!follow_frame_pointers()) return broken();
          break;
      }
    }
  }

#if defined(__aarch64__)
  // Walks from a function of ours to the caller of the hook.
  bool leave_hook(uintptr_t hook_frame) {
    interrupted_ = true;  // the address is exact
    for (int i = 0; i < 16; ++i) {
      const UnwindRule here = rule();
      if (here.kind() != RuleKind::Plain || !step(here)) return false;
      if (at_.sp == hook_frame) return true;
    }
    return false;
  }
#endif

 private:
  // Frames of ours are no part of the program: a call of the CUDA runtime goes through an entry (thunk_entry.S).
  void add(uint64_t pc) {
    if (!g_own_memory.holds(pc)) to_.frames[to_.count++] = pc;
  }

  // The result depends on more than the words that were read in sequence.
  void drop_memo() { memo_ = nullptr; }

  bool read(uint64_t address, uint64_t& value) {
    if (!memory_.read(address, value)) return false;
    if (memo_ != nullptr) note(address, value);
    return true;
  }
  void note(uint64_t address, uint64_t value) {
    const uint64_t offset = address - begin_sp_;
    if (memo_->words == MemoEntry::kWords || offset > UINT32_MAX - 8) return drop_memo();
    memo_->offset[memo_->words] = static_cast<uint32_t>(offset);
    memo_->value[memo_->words++] = value;
    if (offset + 8 > memo_->reach) memo_->reach = static_cast<uint32_t>(offset + 8);
  }
  // The frame pointer is read only when a frame needs it. If no frame needs it, the stack does not depend on its value.
  bool need_fp() {
    if (fp_at_ == kInRegister) {
      if (memo_ != nullptr) memo_->uses_fp = true;
      return true;
    }
    if (fp_at_ != kLoaded && !read(fp_at_, at_.fp)) return false;
    fp_at_ = kLoaded;
    return true;
  }

  bool broken() {
    to_.flags |= format::kStackBroken;
    return true;
  }

  UnwindRule rule() { return rule_of(at_.pc, interrupted_); }
  UnwindRule rule_of(uint64_t pc, bool interrupted) {
    const UnwindRule known = known_rule(pc, interrupted);
    if (known.kind() != RuleKind::None) [[likely]]
      return known;
    if (thread_.learning != 0) return UnwindRule::of(RuleKind::None);
    return learn_unknown_rule(pc, interrupted);
  }

  bool step(UnwindRule rule) {
    const bool by_fp = (static_cast<uint8_t>(rule.base()) & 1) != 0;
    if (by_fp && !need_fp()) return false;
    uint64_t cfa = (by_fp ? at_.fp : at_.sp) + static_cast<uint64_t>(rule.cfa());
    if (rule.base() >= CfaBase::AtSp && !read(cfa, cfa)) return false;
    // The caller's stack starts above. Only a function that pushed nothing on aarch64 has its caller's frame at the
    // same place.
    if (cfa <= at_.sp) return false;
    uint64_t pc = 0;
    if (!read(cfa + static_cast<uint64_t>(rule.ra()), pc)) return false;
    if (rule.fp_rule() == FpRule::FromCfa) {
      fp_at_ = cfa + static_cast<uint64_t>(rule.fp());
    } else if (rule.fp_rule() == FpRule::FromFp) {
      if (!need_fp()) return false;
      fp_at_ = at_.fp + static_cast<uint64_t>(rule.fp());
    }
    at_.sp = cfa;
    return go_to(pc);
  }

  bool go_to(uint64_t pc) {
    at_.pc = plain_address(pc);
    interrupted_ = false;
    return is_code_address(at_.pc);
  }

  bool leave_signal() {
    FrameRegisters before;
    if (!memory_.read(at_.sp + kSavedPc, before.pc) || !memory_.read(at_.sp + kSavedSp, before.sp) ||
        !memory_.read(at_.sp + kSavedFp, before.fp) || !is_code_address(before.pc) || !memory_.jump(before.sp)) {
      return false;
    }
    at_ = before;
    fp_at_ = kLoaded;
    interrupted_ = true;
    return true;
  }

  static void do_without_libunwind() {
    static std::atomic<bool> said{false};
    count(format::LossCounter::stack_unwinder_missing);
    say(said, "libunwind.so.8 was not found: stacks go on by frame pointers where only it knows the caller");
  }

  // Walks from code whose unwind information is missing or not understood to the next caller that has some. The frames
  // in between are kept only if there is such a caller.
  bool follow_frame_pointers() {
    const uint32_t count_before = to_.count;
    if (!need_fp()) return false;
    FrameRegisters guess = at_;
    for (uint32_t i = 0; i < kMostGuesses; ++i) {
      uint64_t pc = 0, fp = 0;
      if (guess.fp < guess.sp || !memory_.read(guess.fp, fp) || !memory_.read(guess.fp + 8, pc)) break;
      guess.sp = guess.fp + 16;
      guess.fp = fp;
      guess.pc = plain_address(pc);
      if (!is_code_address(guess.pc)) break;
      const RuleKind kind = rule_of(guess.pc, false).kind();
      if (kind == RuleKind::None) break;
      if (kind != RuleKind::Unknown) {
        at_ = guess;
        fp_at_ = kLoaded;
        interrupted_ = false;
        knows_sp_ = kFramePointerGivesSp;
        to_.flags |= format::kStackFramePointers;
        return true;
      }
      if (to_.count == to_.most) break;
      add(guess.pc);
    }
    to_.count = count_before;
    return false;
  }

  // Walks the whole stack again with libunwind, which knows the registers that this walk does not keep.
  bool ask_libunwind() {
    constexpr uint32_t kOwnFrames = 12;
    uint64_t frames[format::kMaxStackFrames + kOwnFrames];
    const uint32_t n = backtrace_by_libunwind(frames, to_.most + kOwnFrames);
    uint32_t first = 0;
    while (first < n && (to_.count == 0 || frames[first] != to_.frames[0])) ++first;
    if (n - first <= to_.count) return false;  // it found no more frames
    to_.count = 0;
    uint32_t next = first;
    for (; next < n && to_.count < to_.most; ++next) add(frames[next]);
    if (n == to_.most + kOwnFrames || next < n) to_.flags |= format::kStackNativeCut;
    return true;
  }

  ThreadState& thread_;
  StackMemory& memory_;
  FrameRegisters at_;
  NativeStack& to_;
  MemoEntry* memo_;
  const uint64_t begin_sp_;
  static constexpr uint64_t kInRegister = 0, kLoaded = 1;
  uint64_t fp_at_ = kInRegister;  // or the address from which at_.fp is read
  bool interrupted_ = false;
  bool knows_sp_ = true;
};

}  // namespace

namespace {

#if !defined(__aarch64__)
FrameRegisters caller_of(uintptr_t hook_frame) {
  const auto* const saved = reinterpret_cast<const uint64_t*>(hook_frame);  // frame pointer, return address
  return {saved[1], hook_frame + 16, saved[0]};
}
#endif

uint64_t hash_of(const NativeStack& stack, uint64_t generation) {
  Hash hash;
  hash.add(generation << 32 | uint64_t{stack.flags} << 16 | stack.count);
  for (uint32_t i = 0; i < stack.count; ++i) hash.add(stack.frames[i]);
  return hash.done();
}

}  // namespace

bool recall_native([[maybe_unused]] ThreadState& thread, [[maybe_unused]] uintptr_t hook_frame,
                   [[maybe_unused]] NativeStack& to) {
#if !defined(__aarch64__)
  if (thread.memo == nullptr) return false;
  const FrameRegisters from = caller_of(hook_frame);
  if (from.sp < thread.own_stack.low || from.sp >= thread.own_stack.high) return false;
  const MemoEntry* const known = thread.memo->find(from, code_generation(), thread.own_stack.high);
  if (known == nullptr) return false;
  to.flags = known->flags;
  to.hash = known->hash;
  return true;
#else
  return false;
#endif
}

__attribute__((noinline)) bool walk_native(ThreadState& thread, uintptr_t hook_frame, NativeStack& to) {
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const uint64_t generation = code_generation();
#if defined(__aarch64__)
  // A frame record does not contain the end of the frame. The walk therefore starts here and leaves our own functions
  // first.
  FrameRegisters from{0, 0, here};
  __asm__ volatile("adr %0, .\n\tmov %1, sp" : "=r"(from.pc), "=r"(from.sp));
  StackMemory memory(thread.own_stack, from.sp);
  Walk walk(thread, memory, from, to, nullptr);
  const bool ok = memory.has_room(here, kNeededStack) && walk.leave_hook(hook_frame) && walk.run();
  if (ok) to.hash = hash_of(to, generation);
#else
  const FrameRegisters from = caller_of(hook_frame);
  StackMemory memory(thread.own_stack, from.sp);
  bool ok = memory.has_room(here, kNeededStack);
  if (ok) {
    MemoEntry* memo = nullptr;
    if (thread.memo == nullptr) thread.memo = take_memo();
    if (thread.memo != nullptr && memory.on_own()) memo = thread.memo->begin(from);
    Walk walk(thread, memory, from, to, memo);
    ok = walk.run();
    if (ok) to.hash = hash_of(to, generation);
    if (ok && memo != nullptr && walk.is_repeatable() && generation == code_generation()) {
      memo->generation = generation;
      memo->flags = to.flags;
      memo->hash = to.hash;
    }
    if (memo != nullptr) thread.memo->finish();
  }
#endif
  if (!ok) count(format::LossCounter::stacks_skipped);
  return ok;
}

}  // namespace prof::preload
