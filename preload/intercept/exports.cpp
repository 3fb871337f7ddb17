// The exported driver symbols, for programs linked with -lcuda: one jump a row through prof_exported (hooks.cpp). Jumps, not
// functions: they leave no frame, and their names are C names that cuda.h declares with other attributes.
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
