// Which addresses are code, and where does the kernel save the registers of code that a signal handler interrupted?
// The walks of stacks use it.
#pragma once

#include <cstdint>

namespace prof::preload {

#if defined(__aarch64__)
// Strips the signature of pointer authentication. It begins above the largest address that the kernel gives, at bit 48
// or 52. The instruction (xpaclri) knows that, and does nothing on a processor that cannot sign.
inline uint64_t plain_address(uint64_t address) {
  register uint64_t stripped __asm__("x30") = address;
  __asm__("hint #7" : "+r"(stripped));
  return stripped & 0x00ffffffffffffff;
}
// Offsets of the interrupted registers in the kernel's frame, which follows the frame of a signal handler.
inline constexpr uint64_t kContext = 128 + 176 + 8;
inline constexpr uint64_t kSavedFp = kContext + 29 * 8, kSavedSp = kContext + 31 * 8, kSavedPc = kContext + 32 * 8;
#else
inline uint64_t plain_address(uint64_t address) { return address; }
inline constexpr uint64_t kContext = 40;  // ucontext_t: general registers r8 …
inline constexpr uint64_t kSavedFp = kContext + 10 * 8, kSavedSp = kContext + 15 * 8, kSavedPc = kContext + 16 * 8;
#endif

inline bool is_code_address(uint64_t address) { return address >= 4096 && address < uint64_t{1} << 56; }

}  // namespace prof::preload
