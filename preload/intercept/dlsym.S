// dlsym(handle, name). If a name cannot be ours, it jumps to libc's dlsym with every argument and the return address
// unchanged. RTLD_NEXT means "after the caller", and libc finds the caller by the return address. Compilers do not make
// such a tail call at -O0 and under sanitizers. Therefore the function is in assembly. Ours are cu[A-Z], cuda[A-Z],
// cupti[A-Z], nvtx, cub, cudn, cuf, cus, nccl and Init (of NVTX tools): dlsym_answer.cpp answers them.
//
// It has two symbol versions like libc's own, because no program binds to a version with another name.

#if defined(__x86_64__)

	.text
	.p2align 4
	.type	prof_dlsym, @function
	.globl	prof_dlsym
	.hidden	prof_dlsym
prof_dlsym:
	.cfi_startproc
	endbr64
	testq	%rsi, %rsi
	je	.Lforward
	movl	prof_deep_opens(%rip), %eax	// deep_binding.h
	cmpl	prof_deep_opens_bound(%rip), %eax
	jne	.Lbind
.Lfilter:
	cmpb	$'c', (%rsi)
	jne	.Lnot_cu
	cmpb	$'u', 1(%rsi)
	jne	.Lforward
	leaq	2(%rsi), %rcx
	cmpb	$'d', (%rcx)		// cuda
	jne	.Lnot_cuda
	cmpb	$'n', 1(%rcx)		// cudnn
	je	.Lours
	cmpb	$'a', 1(%rcx)
	jne	.Lforward
	addq	$2, %rcx
	jmp	.Lcapital
.Lnot_cuda:
	cmpb	$'b', (%rcx)		// cublas
	je	.Lours
	cmpb	$'f', (%rcx)		// cufft
	je	.Lours
	cmpb	$'s', (%rcx)		// cusparse
	je	.Lours
	cmpb	$'p', (%rcx)		// cupti
	jne	.Lcapital
	cmpb	$'t', 1(%rcx)
	jne	.Lforward
	cmpb	$'i', 2(%rcx)
	jne	.Lforward
	addq	$3, %rcx
.Lcapital:
	movzbl	(%rcx), %eax
	subl	$'A', %eax
	cmpl	$25, %eax
	ja	.Lforward
	jmp	.Lours
.Lnot_cu:
	cmpb	$'n', (%rsi)		// byte by byte: a short name may end at the end of a page
	jne	.Lnot_n
	cmpb	$'c', 1(%rsi)		// nccl
	jne	.Lnot_nccl
	cmpb	$'c', 2(%rsi)
	jne	.Lforward
	cmpb	$'l', 3(%rsi)
	je	.Lours
	jmp	.Lforward
.Lnot_nccl:
	cmpb	$'v', 1(%rsi)
	jne	.Lforward
	cmpb	$'t', 2(%rsi)
	jne	.Lforward
	cmpb	$'x', 3(%rsi)
	je	.Lours
	jmp	.Lforward
.Lnot_n:
	cmpb	$'I', (%rsi)		// InitializeInjectionNvtx2
	jne	.Lforward
	cmpb	$'n', 1(%rsi)
	jne	.Lforward
	cmpb	$'i', 2(%rsi)
	jne	.Lforward
	cmpb	$'t', 3(%rsi)
	jne	.Lforward
.Lours:
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movq	24(%rsp), %rdx
	call	prof_dlsym_answer
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rdx, %rdx
	jne	.Lforward
	ret
.Lforward:
	movq	prof_libc_dlsym(%rip), %rax
	testq	%rax, %rax
	je	.Lfind
	jmp	*%rax
.Lfind:
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	prof_find_dlsym
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	movq	%rax, prof_libc_dlsym(%rip)
	jmp	*%rax
.Lbind:
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	prof_bind_deep_objects
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	.Lfilter
	.cfi_endproc
	.size	prof_dlsym, . - prof_dlsym

	.set	prof_dlsym_old, prof_dlsym
	.set	prof_dlsym_new, prof_dlsym
	.globl	prof_dlsym_old
	.globl	prof_dlsym_new
	.type	prof_dlsym_old, @function
	.type	prof_dlsym_new, @function
	.symver	prof_dlsym_old, dlsym@GLIBC_2.2.5
	.symver	prof_dlsym_new, dlsym@@GLIBC_2.34

#elif defined(__aarch64__)

	.text
	.p2align 4
	.type	prof_dlsym, %function
	.globl	prof_dlsym
	.hidden	prof_dlsym
prof_dlsym:
	.cfi_startproc
	hint	#34			// bti c
	cbz	x1, .Lforward
	adrp	x9, prof_deep_opens		// deep_binding.h
	ldr	w9, [x9, #:lo12:prof_deep_opens]
	adrp	x10, prof_deep_opens_bound
	ldr	w10, [x10, #:lo12:prof_deep_opens_bound]
	cmp	w9, w10
	b.ne	.Lbind
.Lfilter:
	ldrb	w9, [x1]
	cmp	w9, #'c'
	b.ne	.Lnot_cu
	ldrb	w9, [x1, #1]
	cmp	w9, #'u'
	b.ne	.Lforward
	add	x10, x1, #2
	ldrb	w9, [x10]
	cmp	w9, #'d'
	b.ne	.Lnot_cuda
	ldrb	w9, [x10, #1]
	cmp	w9, #'n'
	b.eq	.Lours
	cmp	w9, #'a'
	b.ne	.Lforward
	add	x10, x10, #2
	b	.Lcapital
.Lnot_cuda:
	cmp	w9, #'b'
	b.eq	.Lours
	cmp	w9, #'f'
	b.eq	.Lours
	cmp	w9, #'s'
	b.eq	.Lours
	cmp	w9, #'p'
	b.ne	.Lcapital
	ldrb	w9, [x10, #1]
	cmp	w9, #'t'
	b.ne	.Lforward
	ldrb	w9, [x10, #2]
	cmp	w9, #'i'
	b.ne	.Lforward
	add	x10, x10, #3
.Lcapital:
	ldrb	w9, [x10]
	sub	w9, w9, #'A'
	cmp	w9, #25
	b.hi	.Lforward
	b	.Lours
.Lnot_cu:
	cmp	w9, #'n'
	b.ne	.Lnot_n
	ldrb	w9, [x1, #1]
	cmp	w9, #'c'
	b.ne	.Lnot_nccl
	ldrb	w9, [x1, #2]
	cmp	w9, #'c'
	b.ne	.Lforward
	ldrb	w9, [x1, #3]
	cmp	w9, #'l'
	b.eq	.Lours
	b	.Lforward
.Lnot_nccl:
	cmp	w9, #'v'
	b.ne	.Lforward
	ldrb	w9, [x1, #2]
	cmp	w9, #'t'
	b.ne	.Lforward
	ldrb	w9, [x1, #3]
	cmp	w9, #'x'
	b.eq	.Lours
	b	.Lforward
.Lnot_n:
	cmp	w9, #'I'		// InitializeInjectionNvtx2
	b.ne	.Lforward
	ldrb	w9, [x1, #1]
	cmp	w9, #'n'
	b.ne	.Lforward
	ldrb	w9, [x1, #2]
	cmp	w9, #'i'
	b.ne	.Lforward
	ldrb	w9, [x1, #3]
	cmp	w9, #'t'
	b.ne	.Lforward
.Lours:
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	mov	x2, x30
	bl	prof_dlsym_answer
	mov	x9, x0
	mov	x10, x1
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	cbnz	x10, .Lforward
	mov	x0, x9
	ret
.Lforward:
	adrp	x16, prof_libc_dlsym
	ldr	x16, [x16, #:lo12:prof_libc_dlsym]
	cbz	x16, .Lfind
	br	x16
.Lfind:
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	bl	prof_find_dlsym
	mov	x16, x0
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	adrp	x9, prof_libc_dlsym
	str	x16, [x9, #:lo12:prof_libc_dlsym]
	br	x16
.Lbind:
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	bl	prof_bind_deep_objects
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	b	.Lfilter
	.cfi_endproc
	.size	prof_dlsym, . - prof_dlsym

	.set	prof_dlsym_old, prof_dlsym
	.set	prof_dlsym_new, prof_dlsym
	.globl	prof_dlsym_old
	.globl	prof_dlsym_new
	.type	prof_dlsym_old, %function
	.type	prof_dlsym_new, %function
	.symver	prof_dlsym_old, dlsym@GLIBC_2.17
	.symver	prof_dlsym_new, dlsym@@GLIBC_2.34

#endif

	.bss
	.p2align 3
	.type	prof_libc_dlsym, %object
	.size	prof_libc_dlsym, 8
	.local	prof_libc_dlsym
prof_libc_dlsym:
	.zero	8

	.section .note.GNU-stack, "", %progbits
