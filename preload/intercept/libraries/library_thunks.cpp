// The thunks of library_api.def: 16 bytes each, bank after bank, in the order of the rows. A thunk loads its number
// into a register that carries no argument and jumps to prof_library_enter (thunk_entry.S). A bank represents a version
// of each library. The first three banks are exported with version names that are not the default. Only an object that
// was linked with that library binds to them. The other banks are for functions that dlsym finds in other libraries.
#include "preload/intercept/cudart/thunk_call.h"
#include "preload/intercept/libraries/library_versions.h"

#if defined(__x86_64__)
#define PROF_NUMBER_AND_JUMP "endbr64\nmovl $prof_library_number, %r11d\njmp prof_library_enter\n"
#elif defined(__aarch64__)
#define PROF_NUMBER_AND_JUMP "hint #34\nmovz w16, #prof_library_number\nb prof_library_enter\n"
#endif
#define PROF_THUNK ".balign 16\n" PROF_NUMBER_AND_JUMP ".set prof_library_number, prof_library_number + 1\n"
#define PROF_SYMBOL(symbol)                                                                                        \
  ".balign 16\n.globl " symbol "\n.type " symbol ", %function\n" symbol ":\n" PROF_NUMBER_AND_JUMP ".size " symbol \
  ", . - " symbol "\n"
// The assembler chooses the symbol: NAME@VERSION with a version, NAME without one (first bank only).
#define PROF_EXPORTED_THUNK(bank, name, version)                                               \
  ".ifnc \"" version "\",\"\"\n" PROF_SYMBOL(                                                  \
      "prof_lib_" bank                                                                         \
      "_" name) ".symver prof_lib_" bank "_" name "," name "@" version "\n.else\n.ifc \"" bank \
                "\",\"1\"\n" PROF_SYMBOL(name) ".else\n.balign 16\n" PROF_NUMBER_AND_JUMP      \
                                               ".endif\n.endif\n.set prof_library_number, prof_library_number + 1\n"

#define PROF_FIRST(a, b, c) a
#define PROF_SECOND(a, b, c) b
#define PROF_THIRD(a, b, c) c

__asm__(
    ".pushsection .text\n"
    ".set prof_library_number, 0\n"
    ".balign 16\n"
    ".globl prof_library_thunks\n.hidden prof_library_thunks\nprof_library_thunks:\n"
#define LIBRARY_API(library, name, form, type) PROF_EXPORTED_THUNK("1", #name, PROF_LIBRARY_##library(PROF_FIRST))
#include "preload/intercept/libraries/library_api.def"
#undef LIBRARY_API
#define LIBRARY_API(library, name, form, type) PROF_EXPORTED_THUNK("2", #name, PROF_LIBRARY_##library(PROF_SECOND))
#include "preload/intercept/libraries/library_api.def"
#undef LIBRARY_API
#define LIBRARY_API(library, name, form, type) PROF_EXPORTED_THUNK("3", #name, PROF_LIBRARY_##library(PROF_THIRD))
#include "preload/intercept/libraries/library_api.def"
#undef LIBRARY_API
    PROF_OTHER_THUNKS("prof_library_number", PROF_THUNK) ".balign 16\n"
    ".globl prof_library_thunks_end\n.hidden prof_library_thunks_end\nprof_library_thunks_end:\n"
    ".popsection\n");
