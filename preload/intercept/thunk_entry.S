// prof_cudart_enter and prof_library_enter: every thunk of cudart_thunks.cpp and library_thunks.cpp jumps to one of
// them. The thunk's number is in a register that carries no argument. An entry calls its BEGIN, which returns the real
// function.
//
// If the call is not recorded, the entry jumps to the real function with all registers and the stack unchanged.
//
// If the call is recorded, the entry calls the real function and then its END. It passes the same registers and a copy
// of the first STACK bytes of stack arguments. STACK is a multiple of 16. No row has more, and the callers' frames
// always have that many bytes to read.
//
// A call may throw through an entry, so an unwinder must find its way out of it. The .cfi lines are for that.
//
//   frame, from the stack pointer up:
//     STACK bytes of stack arguments, ThunkCall (112 bytes, thunk_call.h), saved frame pointer

#define CALLER 64
#define RESULT 72
#define SLOT 96
#define CALL_BYTES 112

#if defined(__x86_64__)

// The place of a ThunkCall field, as an offset from the frame pointer that fits in one byte.
#define CALL_AT(offset) (offset - CALL_BYTES)(%rbp)

.macro entry name, begin, end, stack, direct
	.section .text.hot, "ax", @progbits
	.p2align 6
	.type	\name, @function
	.globl	\name
	.hidden	\name
\name:
	.cfi_startproc
.ifnb \direct
	leaq	\direct(%rip), %r10
	movq	(%r10,%r11,8), %r10
	testq	%r10, %r10
	je	1f
	jmp	*%r10
1:
.endif
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$(\stack + CALL_BYTES), %rsp
	movq	%rdi, CALL_AT(0)
	movq	%rsi, CALL_AT(8)
	movq	%rdx, CALL_AT(16)
	movq	%rcx, CALL_AT(24)
	movq	%r8, CALL_AT(32)
	movq	%r9, CALL_AT(40)
	movq	8(%rbp), %rax
	movq	%rax, CALL_AT(CALLER)
	movl	%r11d, CALL_AT(SLOT)
	leaq	CALL_AT(0), %rdi
	call	\begin
	movq	%rax, %r11
	movq	%rdx, %r10
	movq	CALL_AT(0), %rdi
	movq	CALL_AT(8), %rsi
	movq	CALL_AT(16), %rdx
	movq	CALL_AT(24), %rcx
	movq	CALL_AT(32), %r8
	movq	CALL_AT(40), %r9
	testq	%r10, %r10
	je	2f
	.set	at, 0
	.rept	\stack / 16
	movups	16+at(%rbp), %xmm0
	movaps	%xmm0, at(%rsp)
	.set	at, at + 16
	.endr
	call	*%r11
	movq	%rax, CALL_AT(RESULT)
	leaq	CALL_AT(0), %rdi
	call	\end
	movq	CALL_AT(RESULT), %rax
	.cfi_remember_state
	leave
	.cfi_def_cfa %rsp, 8
	ret
2:
	.cfi_restore_state
	leave
	.cfi_def_cfa %rsp, 8
	jmp	*%r11
	.cfi_endproc
	.size	\name, . - \name
.endm

#elif defined(__aarch64__)

.macro leave stack
	ldp	x29, x30, [sp, #(\stack + CALL_BYTES)]
	.cfi_restore 29
	.cfi_restore 30
	add	sp, sp, #(\stack + CALL_BYTES + 16)
	.cfi_def_cfa_offset 0
.endm

.macro entry name, begin, end, stack, direct
	.section .text.hot, "ax", %progbits
	.p2align 6
	.type	\name, %function
	.globl	\name
	.hidden	\name
\name:
	.cfi_startproc
.ifnb \direct
	adrp	x17, \direct
	add	x17, x17, #:lo12:\direct
	ldr	x17, [x17, w16, uxtw #3]
	cbz	x17, 1f
	br	x17
1:
.endif
	sub	sp, sp, #(\stack + CALL_BYTES + 16)
	.cfi_def_cfa_offset (\stack + CALL_BYTES + 16)
	stp	x29, x30, [sp, #(\stack + CALL_BYTES)]
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	add	x29, sp, #(\stack + CALL_BYTES)
	stp	x0, x1, [sp, #(\stack)]
	stp	x2, x3, [sp, #(\stack + 16)]
	stp	x4, x5, [sp, #(\stack + 32)]
	stp	x6, x7, [sp, #(\stack + 48)]
	str	x30, [sp, #(\stack + CALLER)]
	str	w16, [sp, #(\stack + SLOT)]
	add	x0, sp, #(\stack)
	bl	\begin
	mov	x16, x0
	mov	x17, x1
	ldp	x0, x1, [sp, #(\stack)]
	ldp	x2, x3, [sp, #(\stack + 16)]
	ldp	x4, x5, [sp, #(\stack + 32)]
	ldp	x6, x7, [sp, #(\stack + 48)]
	cbz	x17, 2f
	.set	at, 0
	.rept	\stack / 16
	ldr	q0, [x29, #(16 + at)]
	str	q0, [sp, #at]
	.set	at, at + 16
	.endr
	blr	x16
	str	x0, [sp, #(\stack + RESULT)]
	add	x0, sp, #(\stack)
	bl	\end
	ldr	x0, [sp, #(\stack + RESULT)]
	.cfi_remember_state
	leave	\stack
	ret
2:
	.cfi_restore_state
	leave	\stack
	br	x16
	.cfi_endproc
	.size	\name, . - \name
.endm

#endif

// No function of the CUDA runtime has more than 80 bytes of stack arguments.
	entry	prof_cudart_enter, prof_cudart_begin, prof_cudart_end, 80

// If library calls are not recorded, the first call stores the real function in prof_library_direct. Later calls then
// take two loads and a jump. The longest row has 136 bytes of stack arguments.
	entry	prof_library_enter, prof_library_begin, prof_library_end, 144, prof_library_direct

	.section .note.GNU-stack, "", %progbits
