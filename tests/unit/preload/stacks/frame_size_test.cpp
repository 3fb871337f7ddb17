// The size of a frame from the instructions of made-up functions for x86-64, and what ends with a call.
#include "preload/stacks/frame_size.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace prof::preload {
namespace {

using Code = std::vector<uint8_t>;

constexpr uint64_t kSaved = 32;  // the return address, %rbp, and two other registers

Code join(std::initializer_list<Code> parts) {
  Code all;
  for (const Code& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}
FrameSize frame_of(std::initializer_list<Code> parts) {
  const Code code = join(parts);
  return frame_size(code.data(), code.size(), kSaved);
}
uint64_t size_of(std::initializer_list<Code> parts) { return frame_of(parts).bytes; }

const Code kFrame = {0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x53};  // endbr64; push; mov; 2 pushes
const Code kReserve72 = {0x48, 0x83, 0xec, 0x48};                                        // sub $0x48, %rsp
const Code kReserve2192 = {0x48, 0x81, 0xec, 0x90, 0x08, 0x00, 0x00};                    // sub $0x890, %rsp
const Code kSystemCall = {0xb8, 0xe6, 0x00, 0x00, 0x00, 0x0f, 0x05};
const Code kEnd = {0x48, 0x8d, 0x65, 0xf0, 0x5b, 0x41, 0x5c, 0x5d, 0xc3};  // lea -16(%rbp), %rsp; pops; ret

TEST(FrameSize, IsWhatTheFunctionSavedAndReserved) {
  EXPECT_EQ(size_of({kFrame, kReserve72, kSystemCall, kEnd}), kSaved + 72);
  EXPECT_EQ(size_of({kFrame, kReserve2192, kSystemCall, kEnd}), kSaved + 2192);
  EXPECT_EQ(size_of({kFrame, kSystemCall, kEnd}), kSaved);
}

TEST(FrameSize, IsKnownIfTheFunctionMakesItsFrameOnOnePathOnly) {
  const Code fast = {0x80, 0x3d, 0, 0, 0, 0, 0, 0x74, 8, 0x0f, 0x05, 0xc3};  // cmpb; je; syscall; ret
  EXPECT_EQ(size_of({fast, kFrame, kReserve72, kSystemCall, kEnd}), kSaved + 72);
  const FrameSize twice = frame_of({kFrame, kReserve72, kSystemCall, kEnd, kFrame, kReserve72, kSystemCall, kEnd});
  EXPECT_EQ(twice.bytes, kSaved + 72);
  EXPECT_TRUE(twice.certain);
}

TEST(FrameSize, IsNotCertainIfTheFunctionReservesMoreLater) {
  const Code more = {0x48, 0x83, 0xec, 0x08};  // sub $8, %rsp, before arguments are pushed
  const FrameSize size = frame_of({kFrame, kReserve72, more, kSystemCall, kEnd});
  EXPECT_EQ(size.bytes, kSaved + 72);
  EXPECT_FALSE(size.certain);
}

TEST(FrameSize, IsNotKnownIfTheStackPointerMovesInAnotherWay) {
  const Code moves[] = {{0x48, 0x29, 0xc4},                          // sub %rax, %rsp
                        {0x4c, 0x29, 0xc4},                          // sub %r8, %rsp
                        {0x48, 0x2b, 0x65, 0x08},                    // sub 8(%rbp), %rsp
                        {0x48, 0x83, 0xe4, 0xf0},                    // and $-16, %rsp
                        {0x48, 0x81, 0xe4, 0x00, 0xff, 0xff, 0xff},  // and $-256, %rsp
                        {0x48, 0x01, 0xc4},                          // add %rax, %rsp
                        {0x48, 0x89, 0xcc},                          // mov %rcx, %rsp
                        {0x48, 0x8b, 0x65, 0x10},                    // mov 16(%rbp), %rsp
                        {0x48, 0x8d, 0x64, 0x24, 0xf0},              // lea -16(%rsp), %rsp
                        {0x48, 0x83, 0xec, 0x80}};                   // sub $-128, %rsp
  for (const Code& move : moves) {
    EXPECT_EQ(size_of({kFrame, move, kSystemCall, kEnd}), 0u) << int{move[1]} << " " << int{move[2]};
    EXPECT_EQ(size_of({kFrame, kReserve72, kSystemCall, move, kEnd}), 0u) << int{move[1]} << " " << int{move[2]};
  }
}

TEST(FrameSize, OtherInstructionsWithTheSameOperationDoNotMatter) {
  const Code others[] = {{0x48, 0x29, 0xc3},              // sub %rax, %rbx
                         {0x49, 0x29, 0xc4},              // sub %rax, %r12
                         {0x48, 0x8d, 0x44, 0x24, 0x08},  // lea 8(%rsp), %rax
                         {0x4c, 0x8b, 0x65, 0xf8},        // mov -8(%rbp), %r12
                         {0x48, 0x89, 0x04, 0x24},        // mov %rax, (%rsp)
                         {0x48, 0x83, 0xc4, 0x48}};       // add $72, %rsp
  for (const Code& other : others) EXPECT_EQ(size_of({kFrame, kReserve72, other, kSystemCall, kEnd}), kSaved + 72);
}

TEST(FrameSize, IsNotKnownOfCodeThatMakesNoFrame) {
  EXPECT_EQ(size_of({kSystemCall, kEnd}), 0u) << "a part that the compiler put elsewhere";
  EXPECT_EQ(size_of({{0x55}, kSystemCall, kEnd}), 0u) << "%rbp is saved like any other register";
  for (size_t bytes = 0; bytes < kFrame.size() - 3; ++bytes)
    EXPECT_EQ(frame_size(kFrame.data(), bytes, kSaved).bytes, 0u);
  const Code cut = join({kFrame, {0x48, 0x81, 0xec, 0x90}});
  EXPECT_EQ(frame_size(cut.data(), cut.size(), kSaved).bytes, 0u) << "the number is not whole";
}

CodeBefore code_before(std::initializer_list<uint8_t> last) {
  CodeBefore before{0x10000, {}};
  std::copy_backward(last.begin(), last.end(), before.code + kLongestCall);
  return before;
}
bool follows(std::initializer_list<uint8_t> last) { return ends_with_call(code_before(last)); }

TEST(ReturnAddress, OfACallOfAnAddressHasTheFunction) {
  EXPECT_EQ(called_function(code_before({0xe8, 0x00, 0x01, 0x00, 0x00})), 0x10100u);
  EXPECT_EQ(called_function(code_before({0xe8, 0x00, 0xff, 0xff, 0xff})), 0xff00u);
  EXPECT_EQ(called_function(code_before({0xff, 0x15, 1, 2, 3, 4})), 0u);
}

TEST(ReturnAddress, OfACallThroughATableHasTheWordWithTheFunction) {
  EXPECT_EQ(called_pointer(code_before({0xff, 0x15, 0x00, 0x02, 0x00, 0x00})), 0x10200u);
  EXPECT_EQ(called_pointer(code_before({0xff, 0x14, 0xc8})), 0u);
  EXPECT_EQ(called_pointer(code_before({0xe8, 1, 2, 3, 4})), 0u);
}

TEST(ReturnAddress, OfACallOfAStubHasTheWordWithTheFunction) {
  EXPECT_EQ(pointer_of_stub(0x2000, {0xff, 0x25, 0x00, 0x01, 0x00, 0x00}), 0x2106u);
  EXPECT_EQ(pointer_of_stub(0x2000, {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0x00, 0x01, 0x00, 0x00}), 0x210au);
  EXPECT_EQ(pointer_of_stub(0x2000, {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0x00, 0x01, 0x00, 0x00}), 0x210bu);
  EXPECT_EQ(pointer_of_stub(0x2000, {0x55, 0x48, 0x89, 0xe5}), 0u);
}

TEST(ReturnAddress, FollowsACallOfEachForm) {
  EXPECT_TRUE(follows({0xe8, 1, 2, 3, 4}));              // call an address
  EXPECT_TRUE(follows({0xff, 0xd0}));                    // *%rax
  EXPECT_TRUE(follows({0x41, 0xff, 0xd4}));              // *%r12
  EXPECT_TRUE(follows({0xff, 0x10}));                    // *(%rax)
  EXPECT_TRUE(follows({0xff, 0x50, 0x18}));              // *24(%rax)
  EXPECT_TRUE(follows({0xff, 0x90, 0, 1, 0, 0}));        // *256(%rax)
  EXPECT_TRUE(follows({0xff, 0x15, 1, 2, 3, 4}));        // *1234(%rip)
  EXPECT_TRUE(follows({0xff, 0x14, 0xc8}));              // *(%rax,%rcx,8)
  EXPECT_TRUE(follows({0xff, 0x54, 0xc8, 8}));           // *8(%rax,%rcx,8)
  EXPECT_TRUE(follows({0xff, 0x94, 0xc8, 0, 1, 0, 0}));  // *256(%rax,%rcx,8)
  EXPECT_TRUE(follows({0xff, 0x14, 0xcd, 0, 1, 0, 0}));  // *256(,%rcx,8)
}

TEST(ReturnAddress, DoesNotFollowAnotherInstruction) {
  EXPECT_FALSE(follows({0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}));
  EXPECT_FALSE(follows({0xff, 0xe0}));              // jmp *%rax
  EXPECT_FALSE(follows({0xff, 0x30}));              // push (%rax)
  EXPECT_FALSE(follows({0xe9, 1, 2, 3, 4}));        // jmp
  EXPECT_FALSE(follows({0xff, 0x50, 0x18, 0x90}));  // the call ends earlier
  EXPECT_FALSE(follows({0xff, 0xd0, 0x90}));
}

}  // namespace
}  // namespace prof::preload
