// A thread that launches and does known things between its launches, for drivers/host_samples.py: it computes, sleeps,
// reads a pipe, waits for a mutex that another thread holds, for a child and for the end of a thread, and sleeps in a
// library that has frame pointers. It prints how long each took, as it measured it, and how many system calls returned
// EINTR.
#include "tests/sim/sim_program.h"

#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace {

int g_interrupted = 0;

uint64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

extern "C" {

__attribute__((noinline)) uint64_t host_compute(uint64_t ns) {
  const uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
  uint64_t x = 88172645463325252;
  do {
    for (int i = 0; i < 20000; ++i) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
  } while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end);
  return x;
}

__attribute__((noinline)) int host_sleep(uint64_t ns) {
  const timespec time{0, static_cast<long>(ns)};
  const int result = clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  g_interrupted += result == EINTR;
  return result + 1;
}

__attribute__((noinline)) int host_read_pipe(int pipe) {
  char byte = 0;
  const ssize_t size = read(pipe, &byte, 1);
  g_interrupted += size < 0 && errno == EINTR;
  return static_cast<int>(size) + 1;
}

__attribute__((noinline)) int host_poll(int pipe, int ms) {
  pollfd descriptor{pipe, POLLIN, 0};
  const int ready = poll(&descriptor, 1, ms);
  g_interrupted += ready < 0 && errno == EINTR;
  return ready + 1;
}

__attribute__((noinline)) int host_lock(pthread_mutex_t* mutex) {
  const int result = pthread_mutex_lock(mutex);
  return result + 1;
}

__attribute__((noinline)) int host_join(pthread_t thread) {
  const int result = pthread_join(thread, nullptr);
  return result + 1;
}

__attribute__((noinline)) int host_wait_child(pid_t child) {
  int status = 0;
  const pid_t found = waitpid(child, &status, 0);
  g_interrupted += found < 0 && errno == EINTR;
  return found == child ? 1 : 2;
}

}  // extern "C"

extern "C" void sleep_in_frame(uint64_t ns);  // shims/sleeping_library.cpp

extern "C" __attribute__((noinline)) int host_sleep_in_library(uint64_t ns) {
  sleep_in_frame(ns);
  return errno == EINTR ? 1 : 2;
}

constexpr uint64_t kMs = 1'000'000;

// The other side: writes into the pipe and holds the mutex, each for some ms, when it is requested to.
struct Other {
  std::atomic<int> request{0};  // 1: write after 5 ms; 2: hold the mutex for 6 ms; 3: end
  std::atomic<int> held{0};     // how many times it took the mutex
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  int pipes[2] = {-1, -1};
};

void* other_main(void* argument) {
  auto& other = *static_cast<Other*>(argument);
  for (;;) {
    const int request = other.request.exchange(0);
    if (request == 3) return nullptr;
    if (request == 1) {
      usleep(5000);
      if (write(other.pipes[1], "x", 1) != 1) return nullptr;
    }
    if (request == 2) {
      pthread_mutex_lock(&other.mutex);
      ++other.held;
      usleep(6000);
      pthread_mutex_unlock(&other.mutex);
    }
    usleep(100);
  }
}

void* short_main(void*) {
  usleep(4000);
  return nullptr;
}

enum Phase { kCompute, kSleep, kPipe, kPoll, kLock, kJoin, kChild, kLibrary, kPhases };
constexpr const char* kNames[] = {"compute", "sleep", "pipe", "poll", "lock", "join", "child", "library"};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 40;
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("vector_add");
  Other other;
  if (pipe(other.pipes) != 0) return 1;
  pthread_t other_thread{};
  if (pthread_create(&other_thread, nullptr, other_main, &other) != 0) return 1;
  uint64_t took[kPhases] = {};
  const auto timed = [&](Phase phase, auto&& work) {
    const uint64_t begin = now_ns();
    work();
    took[phase] += now_ns() - begin;
  };
  uint64_t sink = 0;
  const uint64_t cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID), begin = now_ns();
  for (int i = 0; i < rounds; ++i) {
    SIM_CHECK(sim_program::launch(kernel));
    SIM_CHECK(cuCtxSynchronize());
    timed(kCompute, [&] { sink += host_compute(8 * kMs); });
    timed(kSleep, [&] { sink += static_cast<uint64_t>(host_sleep(5 * kMs)); });
    other.request = 1;
    timed(kPipe, [&] { sink += static_cast<uint64_t>(host_read_pipe(other.pipes[0])); });
    timed(kPoll, [&] { sink += static_cast<uint64_t>(host_poll(other.pipes[0], 4)); });
    const int before = other.held;
    other.request = 2;
    while (other.held == before) sched_yield();
    timed(kLock, [&] { sink += static_cast<uint64_t>(host_lock(&other.mutex)); });
    pthread_mutex_unlock(&other.mutex);
    pthread_t joined{};
    if (pthread_create(&joined, nullptr, short_main, nullptr) != 0) return 1;
    timed(kJoin, [&] { sink += static_cast<uint64_t>(host_join(joined)); });
    const pid_t child = fork();
    if (child == 0) {
      usleep(4000);
      _exit(0);
    }
    timed(kChild, [&] { sink += static_cast<uint64_t>(host_wait_child(child)); });
    timed(kLibrary, [&] { sink += static_cast<uint64_t>(host_sleep_in_library(4 * kMs)); });
  }
  const uint64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin, wall = now_ns() - begin;
  other.request = 3;
  pthread_join(other_thread, nullptr);
  for (int phase = 0; phase < kPhases; ++phase)
    printf("%s %llu\n", kNames[phase], static_cast<unsigned long long>(took[phase]));
  printf("cpu %llu\nwall %llu\ninterrupted %d\nsink %d\n", static_cast<unsigned long long>(cpu),
         static_cast<unsigned long long>(wall), g_interrupted, sink != 0);
  return g_interrupted;
}
