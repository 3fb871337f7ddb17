// Which address stands for the frame of a hook? One that is the same for every hook that is called from one place. So a
// hook that runs inside another one differs from one that comes after it (lifecycle/call_scope.h), and a stack walk
// finds the caller (stacks/native_stack.cpp). On x86-64 that is the frame pointer, below the return address. On aarch64
// the frame pointer is at the lowest address of the frame, which depends on its size. There it is the stack pointer of
// the caller.
#pragma once

#if defined(__aarch64__)
#define PROF_HOOK_FRAME() __builtin_dwarf_cfa()
#else
#define PROF_HOOK_FRAME() __builtin_frame_address(0)
#endif
