// A library that sleeps in its own functions, compiled with frame pointers as some distributions compile theirs (Ubuntu
// since 24.04). host_samples/host_waits.cpp and python/tokenizer.py call it.
#include <alloca.h>

#include <cstdint>
#include <cstring>
#include <ctime>

namespace {

// The system call is in the function that calls it, so the thread is blocked there.
[[gnu::always_inline]] inline void sleep_here(uint64_t ns) {
  const timespec time{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
#if defined(__x86_64__)
  constexpr long kNanosleep = 35;
  long result = 0;
  __asm__ volatile("syscall" : "=a"(result) : "a"(kNanosleep), "D"(&time), "S"(nullptr) : "rcx", "r11", "memory");
#else
  nanosleep(&time, nullptr);
#endif
}

}  // namespace

extern "C" {

__attribute__((noinline)) void sleep_in_frame(uint64_t ns) {
  char text[72];
  std::memset(text, static_cast<int>(ns & 1), sizeof text);
  __asm__ volatile("" ::"r"(text) : "memory");
  sleep_here(ns);
  __asm__ volatile("" ::"r"(text) : "memory");
}

// Only the frame pointer leads to its caller.
__attribute__((noinline)) void sleep_in_dynamic_frame(uint64_t ns) {
  void* const room = alloca(64 + ns % 1024);
  std::memset(room, 0, 64);
  __asm__ volatile("" ::"r"(room) : "memory");
  sleep_here(ns);
  __asm__ volatile("" ::"r"(room) : "memory");
}

}  // extern "C"
