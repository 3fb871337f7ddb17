// longjmp out of nested functions and out of a signal handler, between launches.
#include "tests/sim/sim_program.h"

#include <csetjmp>
#include <csignal>

static jmp_buf back;
static sigjmp_buf out_of_handler;

static void (*volatile jump)(jmp_buf, int) = [](jmp_buf to, int value) { longjmp(to, value); };

__attribute__((noinline)) static int deeper(int left, volatile int* depth) {
  *depth = left;
  if (left == 0) {
    jump(back, 7);
    return 0;
  }
  return deeper(left - 1, depth) + 1;
}

static void handle(int) { siglongjmp(out_of_handler, 9); }

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  signal(SIGUSR1, handle);
  volatile long sum = 0;
  volatile int depth = 0;
  volatile int i = 0;
  while (i < 20000) {
    i = i + 1;
    const int value = setjmp(back);
    if (value == 0) sum = sum + deeper(i % 50, &depth);
    sum = sum + value;
    SIM_CHECK(sim_program::launch(function));
  }
  while (i < 21000) {
    i = i + 1;
    const int value = sigsetjmp(out_of_handler, 1);
    if (value == 0) raise(SIGUSR1);
    sum = sum + value;
    SIM_CHECK(sim_program::launch(function));
  }
  std::printf("sum %ld\n", static_cast<long>(sum));
}
