// The launch loop with which overhead is measured, and the program that is killed. Built with the static cudart.
//
//   launch_loop --serve      warms up, prints "ready", then executes lines of standard input until it ends:
//                              loop LAUNCHES KERNEL_NS [PAUSE_NS]   one timed loop, answered with one line of JSON; a
//                                                                   pause after each launch
//                              loop sparse LAUNCHES PAUSE_NS        the same with kernels of 5, 40 and 150 us in turn,
//                                                                   each followed by a pause of half to one and a half
//                                                                   times PAUSE_NS
//                              loop sync LAUNCHES                   the same with a synchronisation after each launch
//                              start                                cudaProfilerStart(), answered with {}
//                            so that processes with and without a profiler can be kept alive and timed in turn
//   launch_loop --forever NS launches a kernel every 20 us and prints how many launches have returned, until killed
//   launch_loop              one loop of 1,000 launches
#include "check.cuh"

#include <cuda_profiler_api.h>

#include <chrono>
#include <cstdint>
#include <cstring>

// 0: the shortest possible kernel.
extern "C" __global__ void wait_kernel(unsigned long long ns) {
  if (ns != 0) spin_for(ns);
}

extern "C" __global__ void short_kernel() { spin_for(5'000); }
extern "C" __global__ void middle_kernel() { spin_for(40'000); }
extern "C" __global__ void long_kernel() { spin_for(150'000); }

namespace {

uint64_t now_ns() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

// Busy waiting, like a program that computes between its launches.
void pause(uint64_t ns) {
  const uint64_t until = now_ns() + ns;
  while (now_ns() < until) {}
}

struct Loop {
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;

  Loop() {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }

  // host: only the loop of launch calls. wall: until the GPU has finished. gpu: between two timed events around the
  // kernels.
  void run(long launches, unsigned long long kernel_ns, unsigned long long pause_ns, bool print) {
    timed(launches, print, [&](long) {
      wait_kernel<<<1, 1, 0, stream>>>(kernel_ns);
      if (pause_ns != 0) pause(pause_ns);
    });
  }

  void run_synchronising(long launches) {
    timed(launches, true, [&](long) {
      wait_kernel<<<1, 1, 0, stream>>>(0);
      CHECK(cudaStreamSynchronize(stream));
    });
  }

  // The pauses are the same in every loop, and their duration is subtracted from the result.
  void run_sparse(long launches, unsigned long long pause_ns) {
    uint32_t random = 1;
    timed(launches, true, [&](long i) {
      if (i % 3 == 0) short_kernel<<<1, 1, 0, stream>>>();
      if (i % 3 == 1) middle_kernel<<<1, 1, 0, stream>>>();
      if (i % 3 == 2) long_kernel<<<1, 1, 0, stream>>>();
      random = random * 1664525u + 1013904223u;
      pause(pause_ns / 2 + pause_ns * (random >> 16) / 65536);
    });
  }

 private:
  template <class Launch> void timed(long launches, bool print, const Launch& launch) {
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventRecord(begin, stream));
    const uint64_t t0 = now_ns();
    for (long i = 0; i < launches; ++i) launch(i);
    const uint64_t t1 = now_ns();
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamSynchronize(stream));
    const uint64_t t2 = now_ns();
    CHECK(cudaGetLastError());
    float gpu_ms = 0;
    CHECK(cudaEventElapsedTime(&gpu_ms, begin, end));
    if (!print) return;
    const double n = static_cast<double>(launches);
    std::printf("{\"launches\": %ld, \"host_ns\": %.3f, \"wall_ns\": %.3f, \"gpu_ns\": %.3f}\n", launches,
                static_cast<double>(t1 - t0) / n, static_cast<double>(t2 - t0) / n, gpu_ms * 1e6 / n);
    std::fflush(stdout);
  }
};

[[noreturn]] void forever(unsigned long long kernel_ns) {
  Loop loop;
  uint64_t launched = 0;
  for (uint64_t next = now_ns();; next += 20'000) {
    while (now_ns() < next) {}
    wait_kernel<<<1, 1, 0, loop.stream>>>(kernel_ns);
    CHECK(cudaGetLastError());
    ++launched;
    if (launched % 500 == 0) {
      std::printf("%llu\n", static_cast<unsigned long long>(launched));
      std::fflush(stdout);
    }
    if (launched % 1000 == 0) CHECK(cudaStreamSynchronize(loop.stream));
  }
}

void serve() {
  Loop loop;
  loop.run(20'000, 0, 0, false);
  std::puts("ready");
  std::fflush(stdout);
  char line[128];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    long launches = 0;
    unsigned long long kernel_ns = 0, pause_ns = 0;
    if (std::strcmp(line, "start\n") == 0) {
      CHECK(cudaProfilerStart());
      std::puts("{}");
      std::fflush(stdout);
      continue;
    }
    if (std::sscanf(line, "loop sync %ld", &launches) == 1 && launches > 0) {
      loop.run_synchronising(launches);
      continue;
    }
    if (std::sscanf(line, "loop sparse %ld %llu", &launches, &pause_ns) == 2 && launches > 0) {
      loop.run_sparse(launches, pause_ns);
      continue;
    }
    if (std::sscanf(line, "loop %ld %llu %llu", &launches, &kernel_ns, &pause_ns) < 2 || launches <= 0) break;
    loop.run(launches, kernel_ns, pause_ns, true);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--serve") == 0) {
    serve();
  } else if (argc > 1 && std::strcmp(argv[1], "--forever") == 0) {
    forever(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 5'000);
  } else {
    Loop().run(1000, 0, 0, true);
  }
  return 0;
}
