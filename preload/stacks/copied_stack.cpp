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

// The function whose address the word at `pointer` has; 0: the word cannot be read.
uint64_t function_at(uint64_t pointer) {
  uint64_t function = 0;
  return pointer != 0 && read_outside(pointer, &function, sizeof function) == sizeof function ? function : 0;
}

// Whether the call names that function, directly or through a table of its file.
bool is_call_of(const CodeBefore& before, uint64_t function) {
  const uint64_t called = called_function(before);
  if (called == 0) return function_at(called_pointer(before)) == function;
  uint8_t stub[kStubBytes];
  return called == function || (read_outside(called, stub, sizeof stub) == sizeof stub &&
                                function_at(pointer_of_stub(called, stub)) == function);
}

bool read_code_before(uint64_t address, CodeBefore& to) {
  to.address = address;
  return read_outside(address - sizeof to.code, to.code, sizeof to.code) == sizeof to.code;
}

// Finds rules with the CFA from the stack pointer for functions whose CFA depends on the frame pointer.
class RulesBySp {
 public:
  RulesBySp(const StackCopy& copy, uint64_t pc, uint64_t sp, bool interrupted)
      : copy_(copy), pc_(pc), sp_(sp), interrupted_(interrupted) {}

  // Unknown: the function changes its stack pointer in a way that is not understood.
  UnwindRule find() const {
    const UnwindRule known = g_rules.find(key_, epoch_);
    if (known.kind() == RuleKind::Unknown || (known.kind() == RuleKind::Plain && leads_to_call(known))) return known;
    return learn();
  }

 private:
  static constexpr UnwindRule kUnknown = UnwindRule::of(RuleKind::Unknown);

  UnwindRule learn() const {
    const UnwindEntry entry = look_up_entry(interrupted_ ? pc_ : pc_ - 1);
    FrameSize size;
    if (entry.rule.kind() == RuleKind::Plain && entry.rule.base() == CfaBase::Fp && entry.bytes <= sizeof g_code &&
        read_outside(entry.begin, g_code, entry.bytes) == entry.bytes)
      size = frame_size(g_code, entry.bytes, entry.saved);
    if (size.bytes == 0) return keep(kUnknown);
    if (size.certain) {
      const UnwindRule rule = keep(rule_of(entry.rule, size.bytes));
      if (leads_to_call(rule)) return rule;
    }
    return interrupted_ ? kUnknown : with_arguments(entry, size.bytes);
  }

  // The function may have pushed arguments for the call that it is in. The place of the return address is certain if
  // exactly one of the words that may be it is after a call of this function.
  UnwindRule with_arguments(const UnwindEntry& entry, uint64_t bytes) const {
    constexpr uint64_t kMostWords = 8;
    UnwindRule found = kUnknown;
    for (uint64_t words = 0; words <= kMostWords; ++words) {
      const UnwindRule rule = rule_of(entry.rule, bytes + 8 * words);
      CodeBefore before;
      if (!code_before(rule, before) || !is_call_of(before, entry.begin)) continue;
      if (found.kind() == RuleKind::Plain) return kUnknown;
      found = rule;
    }
    return found.kind() == RuleKind::Plain ? keep(found) : kUnknown;
  }

  static UnwindRule rule_of(UnwindRule by_fp, uint64_t bytes) {
    return UnwindRule::plain(CfaBase::Sp, static_cast<int64_t>(bytes), by_fp.fp_rule(), by_fp.fp(), by_fp.ra());
  }
  UnwindRule keep(UnwindRule rule) const {
    g_rules.put(key_, rule, epoch_);
    return rule;
  }
  bool code_before(UnwindRule rule, CodeBefore& before) const {
    uint64_t address = 0;
    return rule.kind() == RuleKind::Plain && copy_.read(sp_ + static_cast<uint64_t>(rule.cfa() + rule.ra()), address) &&
           is_code_address(address) && read_code_before(address, before);
  }
  bool leads_to_call(UnwindRule rule) const {
    CodeBefore before;
    return code_before(rule, before) && ends_with_call(before);
  }

  static constexpr uint64_t kBySp = uint64_t{1} << 62;  // no key of another rule has it
  const StackCopy& copy_;
  const uint64_t pc_, sp_;
  const bool interrupted_;
  const uint64_t key_ = rule_key(pc_, interrupted_) | kBySp;
  const uint8_t epoch_ = static_cast<uint8_t>(code_generation());
};

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
#if !defined(__x86_64__)
    return rule;  // frame_size.h reads instructions of x86-64
#endif
    if (knows_fp_ || !knows_sp_ || rule.base() != CfaBase::Fp) return rule;
    const UnwindRule by_sp = RulesBySp(copy_, at_.pc, at_.sp, interrupted_).find();
    return by_sp.kind() == RuleKind::Plain ? by_sp : rule;
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
      case FpRule::FromCfa: {
        // A function that is about to return has restored it: the tables do not show that.
        const uint64_t saved_at = cfa + static_cast<uint64_t>(rule.fp());
        if (saved_at >= at_.sp) knows_fp_ = read(saved_at, at_.fp);
        break;
      }
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
