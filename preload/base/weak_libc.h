// Included before every source of libprof.so: functions that only glibc has are weak references. A program of another
// libc (musl) that is started with the same LD_PRELOAD then loads the library, which does nothing there
// (own_library.h). A strong reference would end every such program before main(). The compiler itself refers to the
// checked functions of _FORTIFY_SOURCE, so a declaration is not enough, and which ones it refers to
// depends on the compiler. A name that nothing refers to leaves no trace in the library.
#pragma once

__asm__(
    ".weak __memcpy_chk\n.weak __memmove_chk\n.weak __memset_chk\n.weak __strcpy_chk\n.weak __strncpy_chk\n"
    ".weak __snprintf_chk\n.weak __vsnprintf_chk\n.weak __read_chk\n.weak __pread_chk\n.weak __pread64_chk\n"
    ".weak __readlink_chk\n.weak __register_atfork\n.weak __cxa_at_quick_exit\n");
