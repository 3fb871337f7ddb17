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
// were pushed for a call are not seen, so the caller checks what it finds there: ends_with_call().
#pragma once

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// `code`: the instructions of the function. `saved`: bytes from the CFA down to the lowest word in which it saved a
// register. Returns bytes; 0: not known.
uint64_t frame_size(const uint8_t* code, size_t bytes, uint64_t saved);

// Whether a call ends where `code` ends.
inline constexpr size_t kLongestCall = 7;
bool ends_with_call(const uint8_t (&code)[kLongestCall]);

}  // namespace prof::preload
