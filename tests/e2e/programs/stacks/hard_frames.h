// Functions whose caller only libunwind can find: their unwind tables locate the stack by a register that the recorder
// does not keep (rbx, x19). Each of them launches, below main.
#pragma once

#include "tests/sim/sim_program.h"

// calls its argument
extern "C" void hard_with_frame_pointer(void (*)());
extern "C" void hard_without(void (*)());
extern "C" void hard_without_any(void (*)());  // and destroys its caller's frame pointer while it runs
// a function with simple unwind rules: calls the first argument with the second
extern "C" void framed(void (*)(void (*)()), void (*)());

#if defined(__aarch64__)
__asm__(R"(
  .text
  .globl hard_with_frame_pointer
  .type hard_with_frame_pointer, @function
hard_with_frame_pointer:
  .cfi_startproc
  stp x29, x30, [sp, -32]!
  .cfi_def_cfa_offset 32
  .cfi_offset 29, -32
  .cfi_offset 30, -24
  mov x29, sp
  str x19, [sp, 16]
  .cfi_offset 19, -16
  mov x19, sp
  .cfi_def_cfa 19, 32
  sub sp, sp, 16
  blr x0
  mov sp, x19
  .cfi_def_cfa 31, 32
  ldr x19, [sp, 16]
  ldp x29, x30, [sp], 32
  ret
  .cfi_endproc
  .size hard_with_frame_pointer, .-hard_with_frame_pointer

  .globl hard_without
  .type hard_without, @function
hard_without:
  .cfi_startproc
  stp x19, x30, [sp, -16]!
  .cfi_def_cfa_offset 16
  .cfi_offset 19, -16
  .cfi_offset 30, -8
  mov x19, sp
  .cfi_def_cfa 19, 16
  blr x0
  mov sp, x19
  .cfi_def_cfa 31, 16
  ldp x19, x30, [sp], 16
  ret
  .cfi_endproc
  .size hard_without, .-hard_without

  .globl hard_without_any
  .type hard_without_any, @function
hard_without_any:
  .cfi_startproc
  stp x19, x30, [sp, -32]!
  .cfi_def_cfa_offset 32
  .cfi_offset 19, -32
  .cfi_offset 30, -24
  str x29, [sp, 16]
  .cfi_offset 29, -16
  mov x19, sp
  .cfi_def_cfa 19, 32
  mov x29, 1
  blr x0
  mov sp, x19
  .cfi_def_cfa 31, 32
  ldr x29, [sp, 16]
  ldp x19, x30, [sp], 32
  ret
  .cfi_endproc
  .size hard_without_any, .-hard_without_any

  .globl framed
  .type framed, @function
framed:
  .cfi_startproc
  stp x29, x30, [sp, -16]!
  .cfi_def_cfa_offset 16
  .cfi_offset 29, -16
  .cfi_offset 30, -8
  mov x29, sp
  mov x2, x0
  mov x0, x1
  blr x2
  ldp x29, x30, [sp], 16
  ret
  .cfi_endproc
  .size framed, .-framed
)");
#else
__asm__(R"(
  .text
  .type hard_with_frame_pointer, @function
hard_with_frame_pointer:
  .cfi_startproc
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset 6, -16
  mov %rsp, %rbp
  push %rbx
  .cfi_offset 3, -24
  mov %rsp, %rbx
  .cfi_def_cfa 3, 24
  sub $8, %rsp
  call *%rdi
  mov %rbx, %rsp
  .cfi_def_cfa 7, 24
  pop %rbx
  .cfi_def_cfa_offset 16
  pop %rbp
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
  .size hard_with_frame_pointer, .-hard_with_frame_pointer

  .type hard_without, @function
hard_without:
  .cfi_startproc
  push %rbx
  .cfi_def_cfa_offset 16
  .cfi_offset 3, -16
  mov %rsp, %rbx
  .cfi_def_cfa 3, 16
  call *%rdi
  mov %rbx, %rsp
  .cfi_def_cfa 7, 16
  pop %rbx
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
  .size hard_without, .-hard_without

  .type hard_without_any, @function
hard_without_any:
  .cfi_startproc
  push %rbx
  .cfi_def_cfa_offset 16
  .cfi_offset 3, -16
  push %rbp
  .cfi_offset 6, -24
  mov %rsp, %rbx
  .cfi_def_cfa 3, 24
  sub $8, %rsp
  mov $1, %ebp
  call *%rdi
  mov %rbx, %rsp
  .cfi_def_cfa 7, 24
  pop %rbp
  .cfi_def_cfa_offset 16
  pop %rbx
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
  .size hard_without_any, .-hard_without_any

  .type framed, @function
framed:
  .cfi_startproc
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset 6, -16
  mov %rsp, %rbp
  .cfi_def_cfa_register 6
  mov %rdi, %rax
  mov %rsi, %rdi
  call *%rax
  pop %rbp
  .cfi_def_cfa 7, 8
  ret
  .cfi_endproc
  .size framed, .-framed
)");
#endif

namespace hard_frames {

inline CUfunction g_function;
__attribute__((noinline)) inline void launches() {
  SIM_CHECK(sim_program::launch(g_function));
  __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) inline int run() {
  sim_program::make_context();
  g_function = sim_program::kernel("kernel");
  for (int i = 0; i < 2; ++i) {
    hard_with_frame_pointer(launches);
    framed(hard_without, launches);
    framed(hard_without_any, launches);
  }
  return 0;
}

}  // namespace hard_frames
