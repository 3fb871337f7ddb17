// Ways in which sampled threads and processes end, for drivers/host_samples.py: threads that come and go, fork, exec,
// _exit, SIGKILL, several recordings; also a process without CUDA and its forked child, a kernel that is outstanding
// for a known time, 5,000 threads, a system that refuses perf events, and a filter that kills a process for them.
#include "tests/e2e/seccomp_filter.h"
#include "tests/sim/sim_program.h"

#include <cudaProfiler.h>

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>

namespace {

constexpr uint64_t kMs = 1'000'000;

uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

extern "C" {

__attribute__((noinline)) uint64_t host_compute(uint64_t ns) {
  const uint64_t end = now_ns() + ns;
  uint64_t x = 1;
  do {
    for (int i = 0; i < 20000; ++i) x = x * 6364136223846793005 + 1442695040888963407;
  } while (now_ns() < end);
  return x;
}

__attribute__((noinline)) int host_sleep(uint64_t ns) {
  const timespec time{0, static_cast<long>(ns)};
  return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr) + 1;
}

}  // extern "C"

CUcontext g_context = nullptr;
CUfunction g_kernel = nullptr;

void start() {
  g_context = sim_program::make_context();
  g_kernel = sim_program::kernel("vector_add");
}

// 5 times: 100 ms in which a kernel is outstanding, and 100 ms without.
int starved() {
  uint64_t sink = 0;
  for (int i = 0; i < 5; ++i) {
    SIM_CHECK(sim_program::launch(g_kernel));
    sink += host_compute(100 * kMs);
    SIM_CHECK(cuCtxSynchronize());
    sink += static_cast<uint64_t>(host_sleep(100 * kMs));
  }
  return sink == 0;
}

void* thread_main(void*) {
  SIM_CHECK(cuCtxSetCurrent(g_context));
  uint64_t sink = 0;
  for (int i = 0; i < 10; ++i) {
    SIM_CHECK(sim_program::launch(g_kernel));
    sink += host_compute(kMs / 4);
    sink += static_cast<uint64_t>(host_sleep(10 * kMs));
  }
  return reinterpret_cast<void*>(sink);
}

int threads() {
  constexpr int kThreads = 90;
  pthread_t made[kThreads];
  for (int turn = 0; turn < 2; ++turn) {
    for (pthread_t& thread : made) {
      if (pthread_create(&thread, nullptr, thread_main, nullptr) != 0) return 1;
    }
    for (const pthread_t thread : made) pthread_join(thread, nullptr);
  }
  return 0;
}

std::atomic<int> g_started{0};
std::atomic<bool> g_all{false};

void* waiting_main(void*) {
  SIM_CHECK(cuCtxSetCurrent(g_context));
  SIM_CHECK(sim_program::launch(g_kernel));
  ++g_started;
  while (!g_all) host_sleep(50 * kMs);
  return nullptr;
}

// 5,000 threads that have launched wait together.
int many() {
  constexpr int kThreads = 5000;
  static pthread_t made[kThreads];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  for (pthread_t& thread : made) {
    if (pthread_create(&thread, &attributes, waiting_main, nullptr) != 0) return 77;  // too many for this machine
  }
  while (g_started < kThreads) host_sleep(10 * kMs);
  host_sleep(500 * kMs);
  g_all = true;
  for (const pthread_t thread : made) pthread_join(thread, nullptr);
  return 0;
}

int work(int rounds) {
  uint64_t sink = 0;
  for (int i = 0; i < rounds; ++i) {
    SIM_CHECK(sim_program::launch(g_kernel));
    sink += host_compute(5 * kMs) + static_cast<uint64_t>(host_sleep(10 * kMs));
  }
  return sink == 0;
}

// One child ends without a call of CUDA, the other one is another program with a log of its own.
int fork_both(const char* name) {
  if (work(10) != 0) return 1;
  const pid_t quiet = fork();
  if (quiet == 0) {
    host_sleep(30 * kMs);
    exit(0);
  }
  const pid_t child = fork();
  if (child == 0) {
    host_sleep(30 * kMs);
    execl("/proc/self/exe", name, "again", nullptr);
    _exit(1);
  }
  if (work(20) != 0) return 1;
  int status = 1;
  waitpid(child, &status, 0);
  if (status != 0) return 1;
  waitpid(quiet, &status, 0);
  return status != 0;
}

int parts() {
  for (int i = 0; i < 3; ++i) {
    SIM_CHECK(cuProfilerStart());
    if (work(10) != 0) return 1;
    SIM_CHECK(cuProfilerStop());
    host_sleep(20 * kMs);
  }
  return 0;
}

// Parent and child compute and sleep, and make no call of CUDA.
int plain() {
  const pid_t child = fork();
  uint64_t sink = 0;
  for (int i = 0; i < 10; ++i) sink += host_compute(20 * kMs) + static_cast<uint64_t>(host_sleep(20 * kMs));
  if (child == 0) exit(sink == 0);
  int status = 1;
  waitpid(child, &status, 0);
  return status != 0 || sink == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "refused" &&
      !install_filter({SYS_perf_event_open}, SECCOMP_RET_ERRNO | EACCES, SECCOMP_RET_ALLOW, Filtered::ThisThread))
    return 77;
  const auto kills = [&](int call, Filtered threads) {
    return mode != "filtered" || install_filter({call}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW, threads);
  };
  if (!kills(SYS_perf_event_open, Filtered::ThisThread)) return 77;
  if (mode == "plain") return plain();
  start();
  if (!kills(SYS_process_vm_readv, Filtered::AllThreads)) return 77;  // the simulated driver reads images with it
  if (mode == "many") return many();
  if (mode == "starved" || mode == "refused") return starved();
  if (mode == "threads") return threads();
  if (mode == "fork") return fork_both(argv[0]);
  if (mode == "parts") return parts();
  if (work(20) != 0) return 1;
  if (mode == "exec") execl("/proc/self/exe", argv[0], "again", nullptr);
  if (mode == "exit") _exit(7);
  if (mode == "kill") raise(SIGKILL);
  return 0;
}
