#include "preload/stacks/copied_stack.h"

#include "preload/base/own_library.h"
#include "preload/format/stack_definitions.h"
#include "preload/stacks/code_images.h"
#include "preload/stacks/frame_size.h"
#include "preload/stacks/python/outside_memory.h"
#include "preload/stacks/rule_lookup.h"
#include "preload/stacks/signal_frame.h"

namespace prof::preload {

namespace {

constexpr uint32_t kMostCopyGuesses = 32;  // consecutive frames without unwind information
constexpr uint32_t kMostSteps = 1024;      // frames of ours, which are left out, too

// The code may be unloaded meanwhile, so it is read through the kernel. Only the holder of the sampler's lock reads it.
uint8_t g_code[16 << 10];

// The rule of a function whose CFA depends on the frame pointer, with the CFA from the stack pointer. Unknown: the
// function changes its stack pointer in a way that is not understood.
UnwindRule learn_rule_by_sp(uint64_t pc) {
  const UnwindEntry entry = look_up_entry(pc);
  const UnwindRule rule = entry.rule;
  if (rule.kind() != RuleKind::Plain || rule.base() != CfaBase::Fp || entry.bytes > sizeof g_code ||
      read_outside(entry.begin, g_code, entry.bytes) != entry.bytes)
    return UnwindRule::of(RuleKind::Unknown);
  const uint64_t size = frame_size(g_code, entry.bytes, entry.saved);
  if (size == 0) return UnwindRule::of(RuleKind::Unknown);
  return UnwindRule::plain(CfaBase::Sp, static_cast<int64_t>(size), rule.fp_rule(), rule.fp(), rule.ra());
}

UnwindRule rule_by_sp(uint64_t pc, bool interrupted) {
  constexpr uint64_t kBySp = uint64_t{1} << 62;  // no key of another rule has it
  const uint64_t key = rule_key(pc, interrupted) | kBySp;
  const auto epoch = static_cast<uint8_t>(code_generation());
  const UnwindRule known = g_rules.find(key, epoch);
  if (known.kind() != RuleKind::None) return known;
  const UnwindRule learnt = learn_rule_by_sp(interrupted ? pc : pc - 1);
  g_rules.put(key, learnt, epoch);
  return learnt;
}

bool is_after_call(uint64_t pc) {
  uint8_t code[kLongestCall];
  return read_outside(pc - sizeof code, code, sizeof code) == sizeof code && ends_with_call(code);
}

class CopyWalk {
 public:
  CopyWalk(const StackCopy& copy, FrameRegisters at, bool knows_fp, CopiedStack& to)
      : copy_(copy), at_(at), knows_fp_(knows_fp), to_(to) {}

  void run() {
    for (uint32_t step = 0; step < kMostSteps; ++step) {
      if (to_.count == to_.most) {
        if (rule_of(at_.pc, interrupted_).kind() != RuleKind::Outermost) to_.flags |= format::kStackNativeCut;
        return;
      }
      const uint64_t pc = interrupted_ ? at_.pc + 1 : at_.pc;
      if (!g_own_memory.holds(at_.pc)) add(pc, knows_sp_ ? at_.sp : 0);
      UnwindRule here = rule_of(at_.pc, interrupted_);
      if (!knows_sp_) here = without_sp(here);
      bool ok = false;
      switch (here.kind()) {
        case RuleKind::Outermost: return;
        case RuleKind::Plain: ok = apply(here); break;
        case RuleKind::Signal: ok = leave_signal(); break;
        default: ok = follow_frame_pointers(); break;
      }
      if (ok) continue;
      if (to_.reaches_end_of_copy) {
        to_.flags |= format::kStackNativeCut;
      } else {
        to_.flags |= format::kStackBroken;
      }
      return;
    }
    to_.flags |= format::kStackNativeCut;
  }

 private:
  void add(uint64_t pc, uint64_t sp) {
    if (to_.stack_pointers != nullptr) to_.stack_pointers[to_.count] = sp;
    to_.frames[to_.count++] = pc;
  }
  bool read(uint64_t address, uint64_t& value) {
    if (copy_.read(address, value)) return true;
    to_.reaches_end_of_copy |= address >= copy_.low + copy_.bytes && (address & 7) == 0;
    return false;
  }
  bool need_fp() {
    to_.needs_register |= !knows_fp_;
    return knows_fp_;
  }

  static UnwindRule rule_of(uint64_t pc, bool interrupted) {
    const UnwindRule known = known_rule(pc, interrupted);
    return known.kind() != RuleKind::None ? known : learn_unknown_rule(pc, interrupted);
  }

  // The rule without the frame pointer, if the size of the frame is known; else the same rule.
  UnwindRule without_fp(UnwindRule rule) {
    if (knows_fp_ || !knows_sp_ || rule.base() != CfaBase::Fp) return rule;
    const UnwindRule by_sp = rule_by_sp(at_.pc, interrupted_);
    uint64_t pc = 0;
    if (by_sp.kind() != RuleKind::Plain || !copy_.read(at_.sp + static_cast<uint64_t>(by_sp.cfa() + by_sp.ra()), pc) ||
        !is_after_call(pc))
      return rule;
    return by_sp;
  }

  bool apply(UnwindRule rule) {
    rule = without_fp(rule);
    const bool by_fp = (static_cast<uint8_t>(rule.base()) & 1) != 0;
    if (by_fp && !need_fp()) return false;
    uint64_t cfa = (by_fp ? at_.fp : at_.sp) + static_cast<uint64_t>(rule.cfa());
    if (rule.base() >= CfaBase::AtSp && !read(cfa, cfa)) return false;
    if (cfa <= at_.sp) return false;
    uint64_t pc = 0;
    if (!read(cfa + static_cast<uint64_t>(rule.ra()), pc)) return false;
    switch (rule.fp_rule()) {
      case FpRule::Same: break;
      case FpRule::FromCfa: knows_fp_ = read(cfa + static_cast<uint64_t>(rule.fp()), at_.fp); break;
      case FpRule::FromFp:
        if (!need_fp()) return false;
        knows_fp_ = read(at_.fp + static_cast<uint64_t>(rule.fp()), at_.fp);
        break;
      case FpRule::Lost: knows_fp_ = false; break;
    }
    at_.sp = cfa;
    knows_sp_ = true;
    return go_to(pc);
  }

  bool go_to(uint64_t pc) {
    at_.pc = plain_address(pc);
    interrupted_ = false;
    return is_code_address(at_.pc);
  }

  // The interrupted code may have run on another stack, which is not in the copy.
  bool leave_signal() {
    FrameRegisters before;
    if (!read(at_.sp + kSavedPc, before.pc) || !read(at_.sp + kSavedSp, before.sp) ||
        !read(at_.sp + kSavedFp, before.fp) || !is_code_address(before.pc)) {
      return false;
    }
    at_ = before;
    knows_fp_ = true;
    interrupted_ = true;
    return true;
  }

  // As in native_stack.cpp: the frames between are kept only if they lead to code with a rule.
  bool follow_frame_pointers() {
    const uint32_t before = to_.count;
    if (!need_fp()) return false;
    FrameRegisters guess = at_;
    for (uint32_t i = 0; i < kMostCopyGuesses && to_.count < to_.most; ++i) {
      uint64_t pc = 0, fp = 0;
      if (guess.fp < guess.sp || !read(guess.fp, fp) || !read(guess.fp + 8, pc)) break;
      guess.sp = guess.fp + 16;
      guess.fp = fp;
      guess.pc = plain_address(pc);
      if (!is_code_address(guess.pc)) break;
      const RuleKind kind = rule_of(guess.pc, false).kind();
      if (kind == RuleKind::None) break;
      if (kind != RuleKind::Unknown) {
        at_ = guess;
        interrupted_ = false;
        knows_sp_ = kFramePointerGivesSp;
        to_.flags |= format::kStackFramePointers;
        return true;
      }
      add(guess.pc, 0);
    }
    to_.count = before;
    return false;
  }

  const StackCopy& copy_;
  FrameRegisters at_;
  bool knows_fp_;
  bool knows_sp_ = true;
  bool interrupted_ = true;
  CopiedStack& to_;
};

}  // namespace

void walk_copy(const StackCopy& copy, FrameRegisters at, bool knows_fp, CopiedStack& to) {
  CopyWalk(copy, at, knows_fp, to).run();
}

}  // namespace prof::preload
