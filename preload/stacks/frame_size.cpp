// Searches for bytes at each address, not only where an instruction begins: lengths of instructions are not decoded. A
// match inside another instruction can only make the size unknown, or another one, which the return address refutes.
#include "preload/stacks/frame_size.h"

#include <cstring>

namespace prof::preload {

namespace {

constexpr uint8_t kSp = 4;  // the number of %rsp in an instruction

// The second byte of the operands.
constexpr uint8_t mode_of(uint8_t modrm) { return modrm >> 6; }
constexpr uint8_t reg_of(uint8_t modrm) { return modrm >> 3 & 7; }
constexpr uint8_t rm_of(uint8_t modrm) { return modrm & 7; }

// push %rbp, and mov %rsp, %rbp soon after it. A function may do this only on the path on which it blocks. If the
// compiler put a part of a function elsewhere, that part has neither.
bool makes_frame(const uint8_t* code, size_t bytes) {
  constexpr uint8_t kPush = 0x55, kMoves[][3] = {{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}};
  constexpr size_t kSoon = 16;
  size_t since_push = kSoon;
  for (size_t i = 0; i + 3 <= bytes; ++i, ++since_push) {
    if (code[i] == kPush) since_push = 0;
    for (const auto& move : kMoves) {
      if (since_push < kSoon && std::memcmp(code + i, move, sizeof move) == 0) return true;
    }
  }
  return false;
}

constexpr uint8_t kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

// The last 4 bytes before `end` are a distance from there.
uint64_t at_distance(const uint8_t* end, uint64_t address) {
  int32_t distance = 0;
  std::memcpy(&distance, end - sizeof distance, sizeof distance);
  return address + static_cast<uint64_t>(int64_t{distance});
}

// Whether the instruction writes %rsp in another way than push, pop, add and sub of a number, and leave.
bool moves_sp(uint8_t rex, uint8_t opcode, uint8_t modrm) {
  const bool to_rm = mode_of(modrm) == 3 && rm_of(modrm) == kSp && (rex & 1) == 0;
  const bool to_reg = reg_of(modrm) == kSp && (rex & 4) == 0;
  switch (opcode) {
    case 0x01:  // add, sub, mov to a register or memory
    case 0x29:
    case 0x89: return to_rm;
    case 0x03:  // the same from a register or memory
    case 0x2b:
    case 0x8b: return to_reg;
    case 0x81:  // and
    case 0x83: return to_rm && reg_of(modrm) == 4;
    case 0x8d: {  // lea: one from %rbp restores the stack pointer before the function returns
      const bool from_fp = rm_of(modrm) == 5 && (mode_of(modrm) == 1 || mode_of(modrm) == 2) && (rex & 1) == 0;
      return to_reg && !from_fp;
    }
    default: return false;
  }
}

}  // namespace

FrameSize frame_size(const uint8_t* code, size_t bytes, uint64_t saved) {
  if (!makes_frame(code, bytes)) return {};
  uint64_t reserved = 0;
  bool certain = true;
  for (size_t i = 0; i + 3 <= bytes; ++i) {
    const uint8_t rex = code[i], opcode = code[i + 1], modrm = code[i + 2];
    if ((rex & 0xf8) != 0x48) continue;
    if (moves_sp(rex, opcode, modrm)) return {};
    if (rex != 0x48 || modrm != 0xec || (opcode != 0x83 && opcode != 0x81)) continue;
    // sub $N, %rsp
    int32_t number = 0;
    if (opcode == 0x83 && i + 4 <= bytes) {
      number = code[i + 3] < 0x80 ? code[i + 3] : -1;
    } else if (opcode == 0x81 && i + 7 <= bytes) {
      std::memcpy(&number, code + i + 3, sizeof number);
    }
    if (number <= 0 || number % 8 != 0) return {};
    certain &= reserved == 0 || reserved == static_cast<uint64_t>(number);
    if (reserved == 0) reserved = static_cast<uint64_t>(number);
  }
  return {saved + reserved, certain};
}

bool ends_with_call(const CodeBefore& before) {
  if (called_function(before) != 0) return true;
  const uint8_t* const end = before.code + kLongestCall;
  for (size_t bytes = 2; bytes <= kLongestCall; ++bytes) {  // through a register or memory
    const uint8_t* const at = end - bytes;
    if (at[0] != 0xff || reg_of(at[1]) != 2) continue;
    size_t length = 2;
    const uint8_t mode = mode_of(at[1]), rm = rm_of(at[1]);
    if (mode != 3 && rm == 4) {  // an index
      ++length;
      if (mode == 0 && bytes > 2 && (at[2] & 7) == 5) length += 4;
    }
    if (mode == 0 && rm == 5) length += 4;
    if (mode == 1) length += 1;
    if (mode == 2) length += 4;
    if (length == bytes) return true;
  }
  return false;
}

uint64_t called_function(const CodeBefore& before) {
  const uint8_t* const end = before.code + kLongestCall;
  return end[-5] == 0xe8 ? at_distance(end, before.address) : 0;
}

uint64_t called_pointer(const CodeBefore& before) {
  const uint8_t* const end = before.code + kLongestCall;
  return end[-6] == 0xff && end[-5] == 0x15 ? at_distance(end, before.address) : 0;
}

uint64_t pointer_of_stub(uint64_t address, const uint8_t (&code)[kStubBytes]) {
  constexpr uint8_t kBnd = 0xf2;
  size_t at = std::memcmp(code, kEndbr64, sizeof kEndbr64) == 0 ? sizeof kEndbr64 : 0;
  at += code[at] == kBnd;
  if (code[at] != 0xff || code[at + 1] != 0x25) return 0;  // jmp *word(%rip)
  return at_distance(code + at + 6, address + at + 6);
}

}  // namespace prof::preload
