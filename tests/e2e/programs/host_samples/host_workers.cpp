// A program that waits for others between its launches, for drivers/host_samples.py. It prints what they did meanwhile,
// as they measured it.
//
//   pipe, socket, poll   for a process that it forked: it decodes, and another of its threads compresses
//   threads              for a mutex, a rwlock and the end of a thread, while their owner computes
//   shares SEED          for nothing: it computes and sleeps in four functions, for random times, which it prints
//   busy                 for nothing: it launches 1 to 4 kernels, works 10 ms and never synchronises
//   turns                for nothing: it computes in one function while a kernel runs, waits, and computes in another
//   apart EVERY          for nothing: it launches each 40 us, computes in one function after 7 of 10 launches and in
//                        another one after the others, and synchronises after EVERY launches, 0: never
#include "tests/sim/sim_program.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>

namespace {

constexpr uint64_t kMs = 1'000'000;

uint64_t now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// Computes for so many ns of the thread's CPU time.
__attribute__((always_inline)) inline uint64_t compute(uint64_t ns) {
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

extern "C" {

__attribute__((noinline)) uint64_t worker_decode(uint64_t ns) { return compute(ns) + 1; }
__attribute__((noinline)) uint64_t worker_compress(uint64_t ns) { return compute(ns) + 2; }
__attribute__((noinline)) uint64_t hold_mutex(uint64_t ns) { return compute(ns) + 3; }
__attribute__((noinline)) uint64_t hold_rwlock(uint64_t ns) { return compute(ns) + 4; }
__attribute__((noinline)) uint64_t end_slowly(uint64_t ns) { return compute(ns) + 5; }
__attribute__((noinline)) uint64_t host_work(uint64_t ns) { return compute(ns) + 6; }
__attribute__((noinline)) uint64_t compute_first(uint64_t ns) { return compute(ns) + 7; }
__attribute__((noinline)) uint64_t compute_second(uint64_t ns) { return compute(ns) + 8; }
__attribute__((noinline)) uint64_t sleep_first(uint64_t ns) {
  const timespec time{0, static_cast<long>(ns)};
  return static_cast<uint64_t>(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr)) + 9;
}
__attribute__((noinline)) uint64_t sleep_second(uint64_t ns) {
  const timespec time{0, static_cast<long>(ns)};
  return static_cast<uint64_t>(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr)) + 10;
}

}  // extern "C"

constexpr int kRounds = 25;
constexpr uint64_t kWork = 30 * kMs;

uint64_t g_sink = 0;

struct Compressor {
  std::atomic<bool> wanted{false}, ends{false};
};

void* compress_main(void* argument) {
  auto& of = *static_cast<Compressor*>(argument);
  uint64_t sink = 0;
  while (!of.ends) {
    if (of.wanted.exchange(false)) sink += worker_compress(kWork / 2);
    usleep(500);
  }
  return reinterpret_cast<void*>(sink);
}

// The worker: for each byte that it gets, it decodes and writes one.
int work(int requests, int results) {
  Compressor compressor;
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, compress_main, &compressor) != 0) return 1;
  char byte = 0;
  while (read(requests, &byte, 1) == 1) {
    compressor.wanted = true;
    g_sink += worker_decode(kWork);
    if (write(results, &byte, 1) != 1) return 1;
  }
  compressor.ends = true;
  pthread_join(thread, nullptr);
  return g_sink == 0;
}

bool wait_for(int results, bool polls) {
  char byte = 0;
  pollfd descriptor{results, POLLIN, 0};
  if (polls && poll(&descriptor, 1, -1) != 1) return false;
  return read(results, &byte, 1) == 1;
}

int workers(const std::string& mode) {
  int requests[2], results[2];
  const bool is_socket = mode == "socket";
  if (pipe(requests) != 0) return 1;
  if ((is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, results) : pipe(results)) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    close(requests[1]);
    close(results[0]);
    exit(work(requests[0], results[1]));
  }
  close(requests[0]);
  close(results[1]);
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("vector_add");
  for (int i = 0; i < kRounds; ++i) {
    SIM_CHECK(sim_program::launch(kernel));
    SIM_CHECK(cuCtxSynchronize());
    if (write(requests[1], "x", 1) != 1 || !wait_for(results[0], mode == "poll")) return 1;
  }
  SIM_CHECK(sim_program::launch(kernel));
  SIM_CHECK(cuCtxSynchronize());
  close(requests[1]);
  int status = 1;
  waitpid(child, &status, 0);
  printf("child %d\n", child);
  return status != 0;
}

struct Owner {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
  std::atomic<int> request{0};  // 1: the mutex, 2: the rwlock, 3: end
  std::atomic<int> held{0};
};

void* own_main(void* argument) {
  auto& owner = *static_cast<Owner*>(argument);
  for (;;) {
    const int request = owner.request.exchange(0);
    if (request == 1) {
      pthread_mutex_lock(&owner.mutex);
      ++owner.held;
      g_sink += hold_mutex(kWork);
      pthread_mutex_unlock(&owner.mutex);
    }
    if (request == 2) {
      pthread_rwlock_wrlock(&owner.rwlock);
      ++owner.held;
      g_sink += hold_rwlock(kWork);
      pthread_rwlock_unlock(&owner.rwlock);
    }
    if (request == 3) return nullptr;
    usleep(200);
  }
}

void* ending_main(void*) {
  g_sink += end_slowly(kWork);
  return nullptr;
}

int threads() {
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("vector_add");
  Owner owner;
  pthread_t owns{};
  if (pthread_create(&owns, nullptr, own_main, &owner) != 0) return 1;
  const auto until_held = [&](int request) {
    const int before = owner.held;
    owner.request = request;
    while (owner.held == before) usleep(100);
  };
  for (int i = 0; i < kRounds; ++i) {
    SIM_CHECK(sim_program::launch(kernel));
    SIM_CHECK(cuCtxSynchronize());
    until_held(1);
    pthread_mutex_lock(&owner.mutex);
    pthread_mutex_unlock(&owner.mutex);
    until_held(2);
    if (i % 2 == 0) {
      pthread_rwlock_rdlock(&owner.rwlock);
    } else {
      pthread_rwlock_wrlock(&owner.rwlock);
    }
    pthread_rwlock_unlock(&owner.rwlock);
    pthread_t ends{};
    if (pthread_create(&ends, nullptr, ending_main, nullptr) != 0) return 1;
    pthread_join(ends, nullptr);
  }
  SIM_CHECK(sim_program::launch(kernel));
  SIM_CHECK(cuCtxSynchronize());
  owner.request = 3;
  pthread_join(owns, nullptr);
  return g_sink == 0;
}

int busy() {
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("vector_add");
  for (int i = 0; i < 200; ++i) {
    for (int launch = 0; launch < 1 + i % 4; ++launch) SIM_CHECK(sim_program::launch(kernel));
    g_sink += host_work(10 * kMs);
  }
  return g_sink == 0;
}

int turns() {
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("vector_add");
  for (int i = 0; i < 100; ++i) {
    SIM_CHECK(sim_program::launch(kernel));
    g_sink += compute_first(20 * kMs);
    SIM_CHECK(cuCtxSynchronize());
    g_sink += compute_second(20 * kMs);
  }
  return g_sink == 0;
}

int apart(int every) {
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("vector_add");
  const uint64_t end = now_ns(CLOCK_MONOTONIC) + 3000 * kMs;
  for (int i = 1; now_ns(CLOCK_MONOTONIC) < end; ++i) {
    SIM_CHECK(sim_program::launch(kernel));
    g_sink += i % 10 < 7 ? compute_first(40'000) : compute_second(40'000);
    if (every != 0 && i % every == 0) SIM_CHECK(cuCtxSynchronize());
  }
  return g_sink == 0;
}

// A second of the thread's time. Of a function that computes, CPU time is printed, else real time.
int shares(unsigned seed) {
  struct Part {
    const char* name;
    uint64_t (*run)(uint64_t ns);
    clockid_t clock;
  };
  const Part parts[] = {{"compute_first", compute_first, CLOCK_THREAD_CPUTIME_ID},
                        {"compute_second", compute_second, CLOCK_THREAD_CPUTIME_ID},
                        {"sleep_first", sleep_first, CLOCK_MONOTONIC},
                        {"sleep_second", sleep_second, CLOCK_MONOTONIC}};
  std::mt19937 random(seed);
  std::discrete_distribution<size_t> which{4, 2, 3, 1};
  std::exponential_distribution<double> length(1 / 6e6);  // ns
  sim_program::make_context();
  const CUfunction kernel = sim_program::kernel("vector_add");
  uint64_t took[4] = {};
  const uint64_t end = now_ns(CLOCK_MONOTONIC) + 1000 * kMs;
  while (now_ns(CLOCK_MONOTONIC) < end) {
    SIM_CHECK(sim_program::launch(kernel));
    SIM_CHECK(cuCtxSynchronize());
    const size_t part = which(random);
    // The recorder must have time to look at a wait.
    const auto ns = static_cast<uint64_t>(std::min(5e6 + length(random), 9e8));
    const uint64_t begin = now_ns(parts[part].clock);
    g_sink += parts[part].run(ns);
    took[part] += now_ns(parts[part].clock) - begin;
  }
  SIM_CHECK(sim_program::launch(kernel));
  SIM_CHECK(cuCtxSynchronize());
  for (size_t i = 0; i < 4; ++i) printf("%s %llu\n", parts[i].name, static_cast<unsigned long long>(took[i]));
  return g_sink == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "shares") return shares(argc > 2 ? static_cast<unsigned>(atoi(argv[2])) : 1);
  if (mode == "turns") return turns();
  if (mode == "apart") return apart(argc > 2 ? atoi(argv[2]) : 0);
  return mode == "threads" ? threads() : mode == "busy" ? busy() : workers(mode);
}
