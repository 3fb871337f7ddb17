// The exported driver symbols, for programs linked with -lcuda. Each row has one jump through prof_exported
// (hooks.cpp). They are jumps and not functions, because a jump leaves no frame. Also, cuda.h declares their C names
// with other attributes.
#if defined(__x86_64__)
#define PROF_JUMP "endbr64\njmp *prof_exported+8*prof_row(%rip)\n"
#elif defined(__aarch64__)
#define PROF_JUMP                                                                                                   \
  "hint #34\nadrp x16, prof_exported+8*prof_row\nadd x16, x16, :lo12:prof_exported+8*prof_row\nldr x16, [x16]\nbr " \
  "x16\n"
#endif

__asm__(
    ".pushsection .text\n"
    ".set prof_row, 0\n"
    ".balign 16\n"
    ".globl prof_exports_begin\n.hidden prof_exports_begin\nprof_exports_begin:\n"
#define CUDA_API(name, ...)                                                                                        \
  ".balign 16\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" PROF_JUMP ".size " #name ", . - " #name \
  "\n.set prof_row, prof_row + 1\n"
#include "preload/driver/cuda_api.def"
#undef CUDA_API
    ".globl prof_exports_end\n.hidden prof_exports_end\nprof_exports_end:\n"
    ".popsection\n");
