// The thunks of cudart_api.def: 16 bytes each, bank after bank, in the order of the rows. A thunk loads its number into
// a register that carries no argument and jumps to prof_cudart_enter (thunk_entry.S). The first three banks are
// exported with version names that are not the default. Only an object that requests a version binds to them, so a
// program without libcudart does not seem to have one. The other banks are for functions that dlsym finds in other
// libraries.
#include "preload/intercept/cudart/thunk_call.h"

#if defined(__x86_64__)
#define PROF_NUMBER_AND_JUMP "endbr64\nmovl $prof_thunk_number, %r11d\njmp prof_cudart_enter\n"
#elif defined(__aarch64__)
#define PROF_NUMBER_AND_JUMP "hint #34\nmovz w16, #prof_thunk_number\nb prof_cudart_enter\n"
#endif
#define PROF_THUNK ".balign 16\n" PROF_NUMBER_AND_JUMP ".set prof_thunk_number, prof_thunk_number + 1\n"
#define PROF_EXPORTED_THUNK(bank, name, version)                                                                     \
  ".balign 16\n.globl prof_rt_" bank "_" name "\n.type prof_rt_" bank "_" name ", %function\nprof_rt_" bank "_" name \
  ":\n" PROF_NUMBER_AND_JUMP ".size prof_rt_" bank "_" name ", . - prof_rt_" bank "_" name "\n.symver prof_rt_" bank \
  "_" name ", " name "@" version "\n.set prof_thunk_number, prof_thunk_number + 1\n"

__asm__(
    ".pushsection .text\n"
    ".set prof_thunk_number, 0\n"
    ".balign 16\n"
    ".globl prof_cudart_thunks\n.hidden prof_cudart_thunks\nprof_cudart_thunks:\n"
#define CUDART_API(name, first) PROF_EXPORTED_THUNK("11", #name, "libcudart.so.11.0")
#include "preload/intercept/cudart/cudart_api.def"
#undef CUDART_API
#define CUDART_API(name, first) PROF_EXPORTED_THUNK("12", #name, "libcudart.so.12")
#include "preload/intercept/cudart/cudart_api.def"
#undef CUDART_API
#define CUDART_API(name, first) PROF_EXPORTED_THUNK("13", #name, "libcudart.so.13")
#include "preload/intercept/cudart/cudart_api.def"
#undef CUDART_API
    PROF_OTHER_THUNKS("prof_thunk_number", PROF_THUNK) ".balign 16\n"
    ".globl prof_cudart_thunks_end\n.hidden prof_cudart_thunks_end\nprof_cudart_thunks_end:\n"
    ".popsection\n");
