// What is the id of the call stack of a recorded call? The stack is walked, hashed, and written to the log if it is
// new. The record_*() functions of intercept/ call this while they fill their record, inside the hook's scope. It runs
// in the program. If stacks are off, it costs one load and one branch.
#pragma once

#include "preload/base/options.h"
#include "preload/format/ids.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

// Which calls get a stack: the items of PROF_STACKS.
using StackUse = option::Stacks;
extern std::atomic<uint32_t> g_stack_uses;  // SomeOf<StackUse>::bits

// Walks the stack of the calling thread. The id is 0 if no stack could be taken; the reason is counted.
format::StackId take_stack();

inline bool stacks_wanted(StackUse use) {
  return (g_stack_uses.load(std::memory_order_relaxed) & option::SomeOf<StackUse>::bit(use)) != 0;
}
inline format::StackId stack_for(StackUse use) { return stacks_wanted(use) ? take_stack() : format::StackId{}; }

// Called when a recording starts. Reads PROF_STACKS and PROF_STACK_DEPTH and allocates the tables. If there is no
// memory for them, stacks are off.
void open_stacks(bool another_recording = false);
// Called on the helper thread when host samples start, inside a scope. Allocates what their stacks need, unless the
// recording has it. Returns false if there is no memory.
bool open_stacks_of_samples();
// Writes to the log how stacks are taken. The caller is inside a scope.
void describe_stacks();

}  // namespace prof::preload
