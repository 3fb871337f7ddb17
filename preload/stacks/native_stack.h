// The native frames of the program's call: from the caller of a hook up to the thread's first function. In the program.
//
// Each step looks the return address up in a table that all threads share (rule_table.h) and reads one or two words of the
// stack; 31 frames take 200 to 300 ns. A place met for the first time is looked up in the unwind tables of its file under the
// loader's lock. libunwind is asked where a rule is of a form that the table cannot hold; where there is no libunwind, or no rule
// at all (code made at run time), the frame pointer is followed if it leads back to known code.
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

// The hash of the stack where it is the same as one that this thread had before, without walking it: `frames` and `count` stay
// as they are. False: walk it.
bool recall_native(ThreadState& thread, uintptr_t hook_frame, NativeStack& to);

// Walks from the caller of the hook whose frame address is given; its return address is the first frame. False: nothing could be
// taken (too little stack left, or a signal handler interrupted the reading of unwind tables); counted.
bool walk_native(ThreadState& thread, uintptr_t hook_frame, NativeStack& to);

}  // namespace prof::preload
