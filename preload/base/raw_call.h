// A system call that nothing in the program stands in front of. Libraries that control what time a program sees replace
// clock_gettime(), nanosleep() and sometimes syscall(); the recorder's own clocks and waits must not go through them.
// Returns the kernel's result: a negative value is the negative error number. errno is not touched.
#pragma once

#include <sys/syscall.h>

namespace prof::preload {

inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
  return x0;
#else
#error "the system call instruction of this processor is not known"
#endif
}

template <class T> long word_of(T* pointer) { return reinterpret_cast<long>(pointer); }

}  // namespace prof::preload
