// prof_cudart_enter: where every thunk of cudart_thunks.cpp jumps, its number in a register without an argument. Asks
// prof_cudart_begin for the real function; jumps there if the call is not recorded, with everything as it came, else calls it
// with the same registers and a copy of the first 80 bytes of stack arguments (no function of the run time has more, and
// there is always that much of the callers' frames to read), and tells prof_cudart_end.
//
//   frame, from the stack pointer up:  80 bytes of stack arguments, ThunkCall (112 bytes, thunk_call.h), saved frame pointer

#define CALL 80
#define CALLER (CALL + 64)
#define RESULT (CALL + 72)
#define SLOT (CALL + 96)

#if defined(__x86_64__)

	.text
	.p2align 4
	.type	prof_cudart_enter, @function
	.globl	prof_cudart_enter
	.hidden	prof_cudart_enter
prof_cudart_enter:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$(CALL + 112), %rsp
	movq	%rdi, CALL(%rsp)
	movq	%rsi, CALL+8(%rsp)
	movq	%rdx, CALL+16(%rsp)
	movq	%rcx, CALL+24(%rsp)
	movq	%r8, CALL+32(%rsp)
	movq	%r9, CALL+40(%rsp)
	movq	8(%rbp), %rax
	movq	%rax, CALLER(%rsp)
	movl	%r11d, SLOT(%rsp)
	leaq	CALL(%rsp), %rdi
	call	prof_cudart_begin
	movq	%rax, %r11
	movq	%rdx, %r10
	movq	CALL(%rsp), %rdi
	movq	CALL+8(%rsp), %rsi
	movq	CALL+16(%rsp), %rdx
	movq	CALL+24(%rsp), %rcx
	movq	CALL+32(%rsp), %r8
	movq	CALL+40(%rsp), %r9
	testq	%r10, %r10
	je	.Lpass
	movups	16(%rbp), %xmm0
	movups	32(%rbp), %xmm1
	movups	48(%rbp), %xmm2
	movups	64(%rbp), %xmm3
	movups	80(%rbp), %xmm4
	movaps	%xmm0, (%rsp)
	movaps	%xmm1, 16(%rsp)
	movaps	%xmm2, 32(%rsp)
	movaps	%xmm3, 48(%rsp)
	movaps	%xmm4, 64(%rsp)
	call	*%r11
	movq	%rax, RESULT(%rsp)
	leaq	CALL(%rsp), %rdi
	call	prof_cudart_end
	movq	RESULT(%rsp), %rax
	.cfi_remember_state
	leave
	.cfi_def_cfa %rsp, 8
	ret
.Lpass:
	.cfi_restore_state
	leave
	.cfi_def_cfa %rsp, 8
	jmp	*%r11
	.cfi_endproc
	.size	prof_cudart_enter, . - prof_cudart_enter

#elif defined(__aarch64__)

	.text
	.p2align 4
	.type	prof_cudart_enter, %function
	.globl	prof_cudart_enter
	.hidden	prof_cudart_enter
prof_cudart_enter:
	.cfi_startproc
	sub	sp, sp, #(CALL + 112 + 16)
	.cfi_def_cfa_offset (CALL + 112 + 16)
	stp	x29, x30, [sp, #(CALL + 112)]
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	add	x29, sp, #(CALL + 112)
	stp	x0, x1, [sp, #(CALL)]
	stp	x2, x3, [sp, #(CALL + 16)]
	stp	x4, x5, [sp, #(CALL + 32)]
	stp	x6, x7, [sp, #(CALL + 48)]
	str	x30, [sp, #(CALLER)]
	str	w16, [sp, #(SLOT)]
	add	x0, sp, #(CALL)
	bl	prof_cudart_begin
	mov	x16, x0
	mov	x17, x1
	ldp	x0, x1, [sp, #(CALL)]
	ldp	x2, x3, [sp, #(CALL + 16)]
	ldp	x4, x5, [sp, #(CALL + 32)]
	ldp	x6, x7, [sp, #(CALL + 48)]
	cbz	x17, .Lpass
	ldp	q0, q1, [x29, #16]
	ldp	q2, q3, [x29, #48]
	ldr	q4, [x29, #80]
	stp	q0, q1, [sp]
	stp	q2, q3, [sp, #32]
	str	q4, [sp, #64]
	blr	x16
	str	x0, [sp, #(RESULT)]
	add	x0, sp, #(CALL)
	bl	prof_cudart_end
	ldr	x0, [sp, #(RESULT)]
	.cfi_remember_state
	ldp	x29, x30, [sp, #(CALL + 112)]
	.cfi_restore 29
	.cfi_restore 30
	add	sp, sp, #(CALL + 112 + 16)
	.cfi_def_cfa_offset 0
	ret
.Lpass:
	.cfi_restore_state
	ldp	x29, x30, [sp, #(CALL + 112)]
	.cfi_restore 29
	.cfi_restore 30
	add	sp, sp, #(CALL + 112 + 16)
	.cfi_def_cfa_offset 0
	br	x16
	.cfi_endproc
	.size	prof_cudart_enter, . - prof_cudart_enter

#endif

	.section .note.GNU-stack, "", %progbits
