// The stack of a recorded call as an id: taken, hashed, written to the log where it is new. Called by the record_*() functions of
// intercept/ while they fill their record, inside the hook's scope. In the program: off, it is one load and one branch.
#pragma once

#include "preload/base/options.h"
#include "preload/format/ids.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

// Whose stacks are taken: the items of PROF_STACKS.
using StackUse = option::Stacks;
extern std::atomic<uint32_t> g_stack_uses;  // SomeOf<StackUse>::bits

format::StackId take_stack();

inline bool stacks_wanted(StackUse use) {
  return (g_stack_uses.load(std::memory_order_relaxed) & option::SomeOf<StackUse>::bit(use)) != 0;
}
inline format::StackId stack_for(StackUse use) { return stacks_wanted(use) ? take_stack() : format::StackId{}; }

// When a life starts: reads PROF_STACKS and PROF_STACK_DEPTH, prepares tables. Without memory for them stacks are off.
void open_stacks(bool another_part = false);
// Says in the log how stacks are taken. Inside a scope.
void describe_stacks();

}  // namespace prof::preload
