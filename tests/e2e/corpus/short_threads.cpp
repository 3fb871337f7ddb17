// 10,000 short threads on the smallest stacks that libc allows; with "cuda" each of them launches.
#include "tests/sim/sim_program.h"

#include <pthread.h>
#include <unistd.h>
#include <climits>
#include <cstring>

static CUcontext context;
static CUfunction function;
static int done = 0;

static void* work(void* number) {
  if (function != nullptr &&
      (cuCtxSetCurrent(context) != CUDA_SUCCESS || sim_program::launch(function) != CUDA_SUCCESS))
    return nullptr;
  __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
  return number;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "cuda") == 0) {
    context = sim_program::make_context();
    function = sim_program::kernel("kernel");
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, static_cast<size_t>(sysconf(_SC_THREAD_STACK_MIN)));
  for (int round = 0; round < 1000; ++round) {
    pthread_t threads[10];
    for (pthread_t& thread : threads) {
      if (pthread_create(&thread, &attributes, work, threads) != 0) return 1;
    }
    for (pthread_t& thread : threads) {
      void* result = nullptr;
      if (pthread_join(thread, &result) != 0 || result != threads) return 2;
    }
  }
  std::printf("%d threads\n", done);
}
