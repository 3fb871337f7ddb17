// The unwind rule of an address in a stack. native_stack.cpp and copied_stack.cpp use it, in the program.
#pragma once

#include "preload/base/clock.h"
#include "preload/base/code_generation.h"
#include "preload/log/count.h"
#include "preload/stacks/code_images.h"
#include "preload/stacks/rule_table.h"

#include <cstdint>

namespace prof::preload {

// An address has two rules: one as a return address and one as an interrupted address.
inline uint64_t rule_key(uint64_t pc, bool interrupted) { return pc << 1 | (interrupted ? 1u : 0u); }

// The kind is None if the rule must be learnt.
inline UnwindRule known_rule(uint64_t pc, bool interrupted) {
  const UnwindRule known = g_rules.find(rule_key(pc, interrupted), static_cast<uint8_t>(code_generation()));
  if (known.kind() == RuleKind::Unknown && is_outdated(known)) [[unlikely]]
    return UnwindRule::of(RuleKind::None);
  return known;
}

// Takes microseconds, which are counted. Not in a signal handler that interrupted it (ThreadState::learning).
inline UnwindRule learn_unknown_rule(uint64_t pc, bool interrupted) {
  const uint64_t begin = now_ticks();
  const UnwindRule learnt = learn_rule(interrupted ? pc : pc - 1, rule_key(pc, interrupted));
  count(format::LossCounter::stack_first_sights);
  count(format::LossCounter::stack_first_sight_ns, ns_of(now_ticks() - begin));
  return learnt;
}

}  // namespace prof::preload
