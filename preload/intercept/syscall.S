// syscall(number, …) of libc, for the calls that the recorder must know: exit_group is an exit without exit handlers
// (exit_calls.cpp), unshare and setns may need a process with one thread (namespace_calls.cpp). Every other number
// jumps to libc's function with all arguments unchanged: three comparisons, less than 1 ns of the 70 ns or more of a
// system call. aarch64 has no such function: there these calls are not noticed.

#if defined(__x86_64__)

	.text
	.p2align 4
	.type	prof_syscall, @function
	.globl	prof_syscall
	.hidden	prof_syscall
prof_syscall:
	.cfi_startproc
	endbr64
	cmpq	$231, %rdi		// SYS_exit_group
	je	.Lexit_group
	cmpq	$272, %rdi		// SYS_unshare
	je	.Lunshare
	cmpq	$308, %rdi		// SYS_setns
	je	.Lsetns
.Lforward:
	movq	prof_next_syscall(%rip), %rax
	testq	%rax, %rax
	je	prof_direct_syscall
	jmp	*%rax
.Lexit_group:
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	prof_before_exit_group
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	.Lforward
.Lunshare:
	movl	%esi, %edi
	jmp	prof_unshare_call
.Lsetns:
	movl	%esi, %edi
	movl	%edx, %esi
	jmp	prof_setns_call
	.cfi_endproc
	.size	prof_syscall, . - prof_syscall

// The same system call without libc, before libc's function is known.
	.p2align 4
	.type	prof_direct_syscall, @function
	.globl	prof_direct_syscall
	.hidden	prof_direct_syscall
prof_direct_syscall:
	.cfi_startproc
	endbr64
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	movq	%r8, %r10
	movq	%r9, %r8
	movq	8(%rsp), %r9
	syscall
	cmpq	$-4095, %rax
	jae	.Lerror
	ret
.Lerror:
	negl	%eax
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	call	__errno_location@PLT
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	movl	%ecx, (%rax)
	movq	$-1, %rax
	ret
	.cfi_endproc
	.size	prof_direct_syscall, . - prof_direct_syscall

	.set	prof_syscall_old, prof_syscall
	.globl	prof_syscall_old
	.type	prof_syscall_old, @function
	.symver	prof_syscall_old, syscall@@GLIBC_2.2.5

#endif

	.section	.note.GNU-stack, "", %progbits
