// Known work of the host between launches, for the step host_samples.
//
//   host_samples cases ROUNDS    each round: a kernel of 1 ms and its synchronisation; then the host computes for 10 ms
//                                of CPU time, sleeps for 6 ms, and waits for a mutex that another thread holds for 5
//                                ms.
//                                Prints "compute NS sleep NS lock NS kernel NS interrupted N"
#include "check.cuh"

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" __global__ void wait_kernel(unsigned long long ns) {
  if (ns != 0) spin_for(ns);
}

namespace {

constexpr uint64_t kMs = 1'000'000;

uint64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

volatile uint64_t g_sink = 0;
int g_interrupted = 0;

struct Holder {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<int> request{0}, held{0};
  std::atomic<bool> over{false};
};

void sleep_for(uint64_t ns) {
  const timespec time{0, static_cast<long>(ns)};
  g_interrupted += clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr) == EINTR;
}

void* hold(void* argument) {
  auto& holder = *static_cast<Holder*>(argument);
  while (!holder.over) {
    if (holder.request.exchange(0) != 0) {
      pthread_mutex_lock(&holder.mutex);
      ++holder.held;
      sleep_for(5 * kMs);
      pthread_mutex_unlock(&holder.mutex);
    }
    sleep_for(50'000);
  }
  return nullptr;
}

}  // namespace

extern "C" __attribute__((noinline)) void host_compute(uint64_t cpu_ns) {
  const uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;
  uint64_t x = 1;
  do {
    for (int i = 0; i < 2000; ++i) x = x * 6364136223846793005 + 1442695040888963407;
  } while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end);
  g_sink = x;
}

extern "C" __attribute__((noinline)) void host_sleep() {
  sleep_for(6 * kMs);
  g_sink = 1;
}

extern "C" __attribute__((noinline)) void host_lock(pthread_mutex_t* mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
  g_sink = 2;
}

namespace {

int cases(int rounds) {
  Holder holder;
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, hold, &holder) != 0) return 1;
  uint64_t compute = 0, sleep = 0, lock = 0, kernel = 0;
  for (int i = 0; i < rounds; ++i) {
    uint64_t begin = now_ns();
    wait_kernel<<<1, 1>>>(kMs);
    CHECK(cudaDeviceSynchronize());
    kernel += now_ns() - begin;
    begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
    host_compute(10 * kMs);
    compute += now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    begin = now_ns();
    host_sleep();
    sleep += now_ns() - begin;
    const int before = holder.held;
    holder.request = 1;
    while (holder.held == before) {}
    begin = now_ns();
    host_lock(&holder.mutex);
    lock += now_ns() - begin;
  }
  holder.over = true;
  pthread_join(thread, nullptr);
  printf("compute %llu sleep %llu lock %llu kernel %llu interrupted %d\n", static_cast<unsigned long long>(compute),
         static_cast<unsigned long long>(sleep), static_cast<unsigned long long>(lock),
         static_cast<unsigned long long>(kernel), g_interrupted);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || strcmp(argv[1], "cases") != 0) return 2;
  CHECK(cudaFree(nullptr));
  return cases(atoi(argv[2]));
}
