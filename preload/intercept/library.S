// prof_library_enter: where every thunk of library_thunks.cpp jumps, its number in a register without an argument. Where library calls are
// not asked for the first call put the real function in prof_library_direct, and this is two loads and a jump. Else
// prof_library_begin is asked: jumps to the real function if the call is not recorded, with everything as it came; if it is, calls
// it with the same registers and a copy of the first 144 bytes of stack arguments (the longest row has 136, and there is always
// that much of the callers' frames to read), and tells prof_library_end.
//
//   frame, from the stack pointer up:  144 bytes of stack arguments, ThunkCall (112 bytes, thunk_call.h), saved frame pointer

#define CALL 144
#define CALLER (CALL + 64)
#define RESULT (CALL + 72)
#define SLOT (CALL + 96)

#if defined(__x86_64__)

	.text
	.p2align 4
	.type	prof_library_enter, @function
	.globl	prof_library_enter
	.hidden	prof_library_enter
prof_library_enter:
	.cfi_startproc
	leaq	prof_library_direct(%rip), %r10
	movq	(%r10,%r11,8), %r10
	testq	%r10, %r10
	je	.Lasked
	jmp	*%r10
.Lasked:
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
	call	prof_library_begin
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
	movaps	%xmm0, 0(%rsp)
	movups	32(%rbp), %xmm1
	movaps	%xmm1, 16(%rsp)
	movups	48(%rbp), %xmm2
	movaps	%xmm2, 32(%rsp)
	movups	64(%rbp), %xmm3
	movaps	%xmm3, 48(%rsp)
	movups	80(%rbp), %xmm4
	movaps	%xmm4, 64(%rsp)
	movups	96(%rbp), %xmm5
	movaps	%xmm5, 80(%rsp)
	movups	112(%rbp), %xmm6
	movaps	%xmm6, 96(%rsp)
	movups	128(%rbp), %xmm7
	movaps	%xmm7, 112(%rsp)
	movups	144(%rbp), %xmm0
	movaps	%xmm0, 128(%rsp)
	call	*%r11
	movq	%rax, RESULT(%rsp)
	leaq	CALL(%rsp), %rdi
	call	prof_library_end
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
	.size	prof_library_enter, . - prof_library_enter

#elif defined(__aarch64__)

	.text
	.p2align 4
	.type	prof_library_enter, %function
	.globl	prof_library_enter
	.hidden	prof_library_enter
prof_library_enter:
	.cfi_startproc
	adrp	x17, prof_library_direct
	add	x17, x17, #:lo12:prof_library_direct
	ldr	x17, [x17, w16, uxtw #3]
	cbz	x17, .Lasked
	br	x17
.Lasked:
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
	bl	prof_library_begin
	mov	x16, x0
	mov	x17, x1
	ldp	x0, x1, [sp, #(CALL)]
	ldp	x2, x3, [sp, #(CALL + 16)]
	ldp	x4, x5, [sp, #(CALL + 32)]
	ldp	x6, x7, [sp, #(CALL + 48)]
	cbz	x17, .Lpass
	ldp	q0, q1, [x29, #16]
	ldp	q2, q3, [x29, #48]
	ldp	q4, q5, [x29, #80]
	ldp	q6, q7, [x29, #112]
	ldr	q16, [x29, #144]
	stp	q0, q1, [sp]
	stp	q2, q3, [sp, #32]
	stp	q4, q5, [sp, #64]
	stp	q6, q7, [sp, #96]
	str	q16, [sp, #128]
	blr	x16
	str	x0, [sp, #(RESULT)]
	add	x0, sp, #(CALL)
	bl	prof_library_end
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
	.size	prof_library_enter, . - prof_library_enter

#endif

	.section .note.GNU-stack, "", %progbits
