// dlopen(file, flags) and dlmopen(namespace, file, flags): they note what they open past the hooks, and jump to libc's
// function with every argument and the return address unchanged. libc finds the caller, whose RUNPATH and namespace
// count, by the return address. Therefore they are in assembly, as dlsym is (dlsym.S).
//
// Noted are the opens with RTLD_DEEPBIND (deep_binding.h) and those in another namespace (record/bypasses.h).
// They have two symbol versions like libc's own.

#if defined(__x86_64__)

	.macro prof_forward find, slot
	movq	\slot(%rip), %rax
	testq	%rax, %rax
	je	1f
	jmp	*%rax
1:	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	call	\find
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	movq	%rax, \slot(%rip)
	jmp	*%rax
	.endm

	.text
	.p2align 4
	.type	prof_dlopen, @function
	.globl	prof_dlopen
	.hidden	prof_dlopen
prof_dlopen:
	.cfi_startproc
	endbr64
	testl	$8, %esi		// RTLD_DEEPBIND
	je	.Lopen
	lock incl prof_deep_opens(%rip)
.Lopen:
	prof_forward prof_find_dlopen, prof_libc_dlopen_found
	.cfi_endproc
	.size	prof_dlopen, . - prof_dlopen

	.p2align 4
	.type	prof_dlmopen, @function
	.globl	prof_dlmopen
	.hidden	prof_dlmopen
prof_dlmopen:
	.cfi_startproc
	endbr64
	testq	%rdi, %rdi		// LM_ID_BASE
	je	.Lbase
	lock incl prof_namespace_opens(%rip)
	jmp	.Lopen_in
.Lbase:
	testl	$8, %edx
	je	.Lopen_in
	lock incl prof_deep_opens(%rip)
.Lopen_in:
	prof_forward prof_find_dlmopen, prof_libc_dlmopen_found
	.cfi_endproc
	.size	prof_dlmopen, . - prof_dlmopen

	.macro prof_versions name, type, old
	.set	prof_\name\()_old, prof_\name
	.set	prof_\name\()_new, prof_\name
	.globl	prof_\name\()_old
	.globl	prof_\name\()_new
	.type	prof_\name\()_old, \type
	.type	prof_\name\()_new, \type
	.symver	prof_\name\()_old, \name@\old
	.symver	prof_\name\()_new, \name@@GLIBC_2.34
	.endm
	prof_versions dlopen, @function, GLIBC_2.2.5
	prof_versions dlmopen, @function, GLIBC_2.3.4

#elif defined(__aarch64__)

	.macro prof_count counter
	adrp	x9, \counter
	add	x9, x9, #:lo12:\counter
1:	ldaxr	w10, [x9]
	add	w10, w10, #1
	stlxr	w11, w10, [x9]
	cbnz	w11, 1b
	.endm

	.macro prof_forward find, slot
	adrp	x16, \slot
	ldr	x16, [x16, #:lo12:\slot]
	cbz	x16, 2f
	br	x16
2:	stp	x29, x30, [sp, #-48]!
	.cfi_def_cfa_offset 48
	.cfi_offset 29, -48
	.cfi_offset 30, -40
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	str	x2, [sp, #32]
	bl	\find
	mov	x16, x0
	ldr	x2, [sp, #32]
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #48
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	adrp	x9, \slot
	str	x16, [x9, #:lo12:\slot]
	br	x16
	.endm

	.text
	.p2align 4
	.type	prof_dlopen, %function
	.globl	prof_dlopen
	.hidden	prof_dlopen
prof_dlopen:
	.cfi_startproc
	hint	#34
	tbz	w1, #3, .Lopen
	prof_count prof_deep_opens
.Lopen:
	prof_forward prof_find_dlopen, prof_libc_dlopen_found
	.cfi_endproc
	.size	prof_dlopen, . - prof_dlopen

	.p2align 4
	.type	prof_dlmopen, %function
	.globl	prof_dlmopen
	.hidden	prof_dlmopen
prof_dlmopen:
	.cfi_startproc
	hint	#34
	cbz	x0, .Lbase
	prof_count prof_namespace_opens
	b	.Lopen_in
.Lbase:
	tbz	w2, #3, .Lopen_in
	prof_count prof_deep_opens
.Lopen_in:
	prof_forward prof_find_dlmopen, prof_libc_dlmopen_found
	.cfi_endproc
	.size	prof_dlmopen, . - prof_dlmopen

	.macro prof_versions name
	.set	prof_\name\()_old, prof_\name
	.set	prof_\name\()_new, prof_\name
	.globl	prof_\name\()_old
	.globl	prof_\name\()_new
	.type	prof_\name\()_old, %function
	.type	prof_\name\()_new, %function
	.symver	prof_\name\()_old, \name@GLIBC_2.17
	.symver	prof_\name\()_new, \name@@GLIBC_2.34
	.endm
	prof_versions dlopen
	prof_versions dlmopen

#endif

	.bss
	.p2align 3
	.local	prof_libc_dlopen_found
	.type	prof_libc_dlopen_found, %object
	.size	prof_libc_dlopen_found, 8
prof_libc_dlopen_found:
	.zero	8
	.local	prof_libc_dlmopen_found
	.type	prof_libc_dlmopen_found, %object
	.size	prof_libc_dlmopen_found, 8
prof_libc_dlmopen_found:
	.zero	8

	.section .note.GNU-stack, "", %progbits
