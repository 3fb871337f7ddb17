// A program that runs kernels and then ends in one way. Built with the static cudart. Step `exits` runs it.
//
//   ends HOW [PAUSE_MS]   2,000 kernels, a synchronisation, a pause, and then HOW:
//                         return, exit, _exit, _Exit, quick_exit, abort, pthread_exit
//                         syscall      exit_group by libc's syscall()
//                         instruction  exit_group by the instruction, as Go's runtime does
//                         wait         prints "ready" and waits to be killed
//   ends wait_unsynchronised   the same without a synchronisation, 20 ms after the last launch
//   ends assert           a kernel whose assertion fails; the program reports the error and returns
//   ends assert_unseen    the same, and the program returns without a further call
//   ends unsynchronised   after the work 100 kernels of 2 ms each; the program returns at once
//   ends together         8 threads make the first CUDA calls of the process together and launch 1,000 kernels each
#include "check.cuh"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

__global__ void work_kernel() { spin_for(2'000); }
__global__ void spin_kernel(long long ns) { spin_for(ns); }
__global__ void asserting_kernel(int zero) { assert(zero != 0); }

namespace {

constexpr int kLaunches = 2000;

void launch_all(int launches) {
  for (int i = 0; i < launches; ++i) work_kernel<<<1, 1>>>();
  CHECK(cudaGetLastError());
}

void pause(long ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

[[noreturn]] void wait_for_the_end() {
  std::puts("ready");
  std::fflush(stdout);
  for (;;) ::pause();
}

void leave(std::string_view how) {
  if (how == "exit") std::exit(7);
  if (how == "_exit") _exit(7);
  if (how == "_Exit") std::_Exit(7);
  if (how == "quick_exit") std::quick_exit(7);
  if (how == "abort") std::abort();
  if (how == "pthread_exit") pthread_exit(nullptr);
  if (how == "syscall") syscall(SYS_exit_group, 7);
#if defined(__x86_64__)
  if (how == "instruction") asm volatile("syscall" ::"a"(SYS_exit_group), "D"(7) : "rcx", "r11", "memory");
#endif
  if (how == "wait") wait_for_the_end();
}

int together() {
  constexpr int kThreads = 8;
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ++ready;
      while (ready < kThreads) {}
      CHECK(cudaFree(nullptr));
      launch_all(1000);
      CHECK(cudaStreamSynchronize(nullptr));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "return";
  if (how == "together") return together();
  launch_all(kLaunches);
  if (how == "wait_unsynchronised") {
    pause(20);
    wait_for_the_end();
  }
  CHECK(cudaDeviceSynchronize());
  if (how.substr(0, 6) == "assert") {
    asserting_kernel<<<1, 1>>>(0);
    if (how == "assert") std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 7;
  }
  if (how == "unsynchronised") {
    for (int i = 0; i < 100; ++i) spin_kernel<<<1, 1>>>(2'000'000);
    return 7;
  }
  if (argc > 2) pause(std::strtol(argv[2], nullptr, 10));
  leave(how);
  return 7;
}
