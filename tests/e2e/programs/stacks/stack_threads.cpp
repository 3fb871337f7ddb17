// 10,000 short threads, and a forked child: every launch has its stack, and the child's log names its own files.
// Env: PROF_GPU=off PROF_STACKS=launch
// Expect: status 0
// Expect: logs 2
// Expect: log 1: 10000 stack(^work < ), 10001 kernel_launch(kernel), 0 lost, counter stacks_skipped 0, whole, size < 60000000
// Expect: log 2: 1 stack(in_child < main <), whole, 0 lost, counter stacks_skipped 0, text image id=1
#include "tests/sim/sim_program.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

CUfunction g_function;
CUcontext g_context;

__attribute__((noinline)) void work() {
  SIM_CHECK(sim_program::launch(g_function));
  __asm__ volatile("" ::: "memory");
}
void* thread_main(void*) {
  SIM_CHECK(cuCtxSetCurrent(g_context));
  work();
  return nullptr;
}
__attribute__((noinline)) void in_child() {
  sim_program::launch(g_function);  // CUDA does not work in a child, and returns an error
  __asm__ volatile("" ::: "memory");
}

}  // namespace

int main() {
  g_context = sim_program::make_context();
  g_function = sim_program::kernel("kernel");
  SIM_CHECK(sim_program::launch(g_function));
  for (int i = 0; i < 10000; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, thread_main, nullptr) != 0) return 1;
    pthread_join(thread, nullptr);
  }
  const pid_t child = fork();
  if (child == 0) {
    in_child();
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 2;
}
