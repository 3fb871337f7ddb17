// The clock of controlled_clock.cpp: replaces what libc offers to read the time and to wait, as tools that control the
// time of a program do. CLOCK_MODE selects how: frozen, back (each reading is a second earlier), scaled (a thousand
// times faster), gone (every reading fails).
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

long kernel(long number, const long (&a)[6]) {
#if defined(__x86_64__)
  long result = number;
  register long r10 __asm__("r10") = a[3];
  register long r8 __asm__("r8") = a[4];
  register long r9 __asm__("r9") = a[5];
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#else
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a[0];
  register long x1 __asm__("x1") = a[1];
  register long x2 __asm__("x2") = a[2];
  register long x3 __asm__("x3") = a[3];
  register long x4 __asm__("x4") = a[4];
  register long x5 __asm__("x5") = a[5];
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8) : "memory");
  return x0;
#endif
}

uint64_t real_ns() {
  uint64_t now[2] = {};
  kernel(SYS_clock_gettime, {CLOCK_MONOTONIC, reinterpret_cast<long>(now)});
  return now[0] * 1'000'000'000 + now[1];
}

bool mode_is(const char* name) {
  const char* const mode = getenv("CLOCK_MODE");
  return mode != nullptr && std::strcmp(mode, name) == 0;
}

int64_t controlled_ns() {
  static uint64_t readings = 0;
  constexpr int64_t kStart = 1'577'836'800'000'000'000;
  if (mode_is("frozen")) return kStart;
  if (mode_is("back"))
    return kStart - static_cast<int64_t>(__atomic_add_fetch(&readings, 1, __ATOMIC_RELAXED)) * 1'000'000'000;
  return kStart + static_cast<int64_t>(real_ns() % 1'000'000'000'000) * 1000;
}

int fail() {
  errno = EPERM;
  return -1;
}

}  // namespace

extern "C" {
int clock_gettime(clockid_t, timespec* to) {
  if (mode_is("gone")) return fail();
  const int64_t ns = controlled_ns();
  *to = {ns / 1'000'000'000, ns % 1'000'000'000};
  return 0;
}
int gettimeofday(timeval* to, void*) {
  if (mode_is("gone")) return fail();
  const int64_t ns = controlled_ns();
  *to = {ns / 1'000'000'000, ns / 1000 % 1'000'000};
  return 0;
}
time_t time(time_t* to) {
  const time_t now = mode_is("gone") ? -1 : controlled_ns() / 1'000'000'000;
  if (to != nullptr) *to = now;
  return now;
}
int nanosleep(const timespec*, timespec*) { return mode_is("gone") ? fail() : 0; }
int clock_nanosleep(clockid_t, int, const timespec*, timespec*) { return mode_is("gone") ? EPERM : 0; }
int usleep(useconds_t) { return mode_is("gone") ? fail() : 0; }
unsigned sleep(unsigned) { return 0; }
int pthread_cond_timedwait(pthread_cond_t*, pthread_mutex_t*, const timespec*) { return ETIMEDOUT; }

// As tools do that also replace system calls about time.
long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& one : a) one = va_arg(list, long);
  va_end(list);
  if (number == SYS_clock_gettime)
    return clock_gettime(static_cast<clockid_t>(a[0]), reinterpret_cast<timespec*>(a[1]));
  if (number == SYS_nanosleep || number == SYS_clock_nanosleep) return mode_is("gone") ? fail() : 0;
  if (number == SYS_futex && a[3] != 0 && (a[1] & 0x7f) == 0) {  // a wait with a limit
    errno = ETIMEDOUT;
    return -1;
  }
  const long result = kernel(number, a);
  if (result < 0 && result > -4096) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}
}
