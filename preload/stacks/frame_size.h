// How far above the stack pointer is the caller's frame, in a function whose unwind rule begins at the frame pointer?
// copied_stack.cpp uses it on the helper thread, for x86-64.
//
// Some distributions compile all their libraries with frame pointers (Ubuntu since 24.04, Fedora since 38). The kernel
// gives the stack pointer of a blocked thread, but not its frame pointer. The unwind tables of such a function contain
// where it saved registers. What it reserved below them is in its instruction `sub $N, %rsp`:
//
//   CFA                                                        stack pointer
//    |  return address | frame pointer | other saved registers | N bytes |
//    |<------------------ saved ------------------------------>|
//
// It is not known if the function changes its stack pointer in another way: alloca(), a realigned stack. Arguments that
// it pushed for a call are not in it. So the caller checks what it finds there: ends_with_call(), called_function().
#pragma once

#include <cstddef>
#include <cstdint>

namespace prof::preload {

struct FrameSize {
  uint64_t bytes = 0;    // 0: not known
  bool certain = false;  // the function reserves bytes once, or as many on each path
};

// `code`: the instructions of the function. `saved`: bytes from the CFA down to the lowest word in which it saved a
// register.
FrameSize frame_size(const uint8_t* code, size_t bytes, uint64_t saved);

// The instructions before a return address.
inline constexpr size_t kLongestCall = 7;
struct CodeBefore {
  uint64_t address = 0;
  uint8_t code[kLongestCall] = {};
};
// Whether they end with a call.
bool ends_with_call(const CodeBefore& before);
// The function that this call names; 0: it calls through a register or memory.
uint64_t called_function(const CodeBefore& before);
// The address of the word with the function, if the call names it (`call *word(%rip)`); 0: it does not.
uint64_t called_pointer(const CodeBefore& before);
// The same of a jump to a function in another file (PLT), which begins at `address` with `code`.
inline constexpr size_t kStubBytes = 11;
uint64_t pointer_of_stub(uint64_t address, const uint8_t (&code)[kStubBytes]);

}  // namespace prof::preload
