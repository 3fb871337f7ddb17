// How is the caller of a code address found? One word contains where the caller's stack pointer is (the CFA of DWARF)
// and where the return address and the saved frame pointer are. cfi.cpp makes rules from unwind tables, rule_table.h
// stores them, and native_stack.cpp applies them, in the program.
//
//   | epoch 8 | return address 12 | frame pointer 12 | CFA offset 24 | fp rule 2 | CFA base 2 | kind 3 |
//
// Offsets of the two saved words are in units of 8 bytes from the CFA. A rule that does not fit is `Hard`.
#pragma once

#include <cstdint>

namespace prof::preload {

enum class RuleKind : uint8_t {
  None = 0,       // no rule in the word
  Plain = 1,      // the other fields contain the rule
  Outermost = 2,  // the thread or the program starts here
  Signal = 3,     // a signal handler returns to here: the interrupted registers are on the stack
  Hard = 4,       // there is a rule, of a form that this word cannot hold
  Unknown = 5     // no unwind information: code generated at runtime, or compiled without it
};
enum class CfaBase : uint8_t { Sp = 0, Fp = 1, AtSp = 2, AtFp = 3 };  // At…: the word at that address
enum class FpRule : uint8_t { Same = 0, FromCfa = 1, FromFp = 2, Lost = 3 };

struct UnwindRule {
  uint64_t word = 0;

  static constexpr UnwindRule of(RuleKind kind) { return {static_cast<uint64_t>(kind)}; }
  // Offsets in bytes. The result is Hard if an offset does not fit.
  static constexpr UnwindRule plain(CfaBase base, int64_t cfa, FpRule fp_rule, int64_t fp, int64_t ra) {
    const bool fits = cfa >= -(1 << 23) && cfa < (1 << 23) && fp >= -(1 << 14) && fp < (1 << 14) && fp % 8 == 0 &&
                      ra >= -(1 << 14) && ra < (1 << 14) && ra % 8 == 0;
    if (!fits) return of(RuleKind::Hard);
    return {static_cast<uint64_t>(RuleKind::Plain) | static_cast<uint64_t>(base) << 3 |
            static_cast<uint64_t>(fp_rule) << 5 | (static_cast<uint64_t>(cfa) & 0xffffff) << 7 |
            (static_cast<uint64_t>(fp / 8) & 0xfff) << 31 | (static_cast<uint64_t>(ra / 8) & 0xfff) << 43};
  }
  constexpr RuleKind kind() const { return static_cast<RuleKind>(word & 7); }
  constexpr CfaBase base() const { return static_cast<CfaBase>(word >> 3 & 3); }
  constexpr FpRule fp_rule() const { return static_cast<FpRule>(word >> 5 & 3); }
  constexpr int64_t cfa() const { return static_cast<int64_t>(word << 33) >> 40; }
  constexpr int64_t fp() const { return static_cast<int64_t>(word << 21) >> 52 << 3; }
  constexpr int64_t ra() const { return static_cast<int64_t>(word << 9) >> 52 << 3; }
  constexpr uint8_t epoch() const { return static_cast<uint8_t>(word >> 55); }
  constexpr UnwindRule with_epoch(uint8_t epoch) const {
    return {(word & ((uint64_t{1} << 55) - 1)) | static_cast<uint64_t>(epoch) << 55};
  }
};

// The two words that a frame pointer leads to (the caller's frame pointer, the return address) end a frame on x86-64.
// On aarch64 they are anywhere in it: after a frame pointer was followed, the caller's stack pointer is not known.
#if defined(__aarch64__)
inline constexpr bool kFramePointerGivesSp = false;
#else
inline constexpr bool kFramePointerGivesSp = true;
#endif
// The rule of code whose stack pointer is not known: the frame pointer gives the CFA if the function keeps those two
// words. Unknown: it does not.
constexpr UnwindRule without_sp(UnwindRule rule) {
  if (rule.kind() == RuleKind::Signal) return UnwindRule::of(RuleKind::Unknown);
  if (rule.kind() != RuleKind::Plain || rule.base() == CfaBase::Fp || rule.base() == CfaBase::AtFp) return rule;
  if (rule.base() != CfaBase::Sp || rule.fp_rule() != FpRule::FromCfa || rule.ra() != rule.fp() + 8)
    return UnwindRule::of(RuleKind::Unknown);
  return UnwindRule::plain(CfaBase::Fp, -rule.fp(), FpRule::FromCfa, rule.fp(), rule.ra());
}

// The CPU registers of a frame that unwinding needs.
struct FrameRegisters {
  uint64_t pc = 0, sp = 0, fp = 0;
};

}  // namespace prof::preload
