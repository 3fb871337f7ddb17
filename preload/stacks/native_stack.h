// Which native frames does the program's call have, from the caller of a hook to the thread's first function?
// call_stack.cpp uses it, in the program.
//
// Each step looks up the return address in a table that all threads share (rule_table.h) and reads one or two words of
// the stack. 31 frames take 200 to 300 ns. A new address is looked up in the unwind tables of its file, under the
// loader's lock. libunwind is called if the table cannot hold a rule's form. Without libunwind, or for code without a
// rule (generated at runtime), the frame pointer is followed if it leads to known code.
#pragma once

#include <cstdint>

namespace prof::preload {

struct ThreadState;

struct NativeStack {
  uint64_t* frames = nullptr;  // return addresses, innermost first
  uint32_t most = 0;           // room in `frames`
  uint32_t count = 0;
  uint32_t flags = 0;  // format::kStack…
  uint64_t hash = 0;   // of all this and of the generation of the code
};

// Sets flags and hash without a walk if the thread had the same stack before. `frames` and `count` stay unchanged.
// False: walk the stack.
bool recall_native(ThreadState& thread, uintptr_t hook_frame, NativeStack& to);

// Walks from the caller of the hook whose frame address is given. The first frame is the hook's return address. False:
// too little stack is left, or a signal handler interrupted the reading of unwind tables. This is counted.
bool walk_native(ThreadState& thread, uintptr_t hook_frame, NativeStack& to);

}  // namespace prof::preload
