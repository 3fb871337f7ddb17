// A program that leaves by the system call itself runs no code of the recorder then. GPU work that finished before
// a synchronising call is in the log, if the program lives a little longer: the call made the helper thread flush.
// PROF_FLUSH is so long that no other flush happens. A launch after the last such call has no GPU time and is counted.
// Env: SIM="kernel work 20000" PROF_FLUSH=3600
// Shell: for how in context stream event copy query twice later; do {run} $how || [ $? = 7 ] || exit 1; done
// Expect: status 0
// Expect: stderr empty
// Expect: logs 7
// Expect: log 1: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 2: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 3: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 4: 100 kernel_launch, 100 kernel_run, 1 copy_run, whole, 0 lost
// Expect: log 5: 100 kernel_launch, 100 kernel_run, whole, 0 lost
// Expect: log 6: 200 kernel_launch, 200 kernel_run, whole, 0 lost
// Expect: log 7: 101 kernel_launch, 100 kernel_run, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

using namespace sim_program;

static void work(CUstream stream = nullptr) {
  for (int i = 0; i < 100; ++i) SIM_CHECK(launch(kernel("work"), stream));
}

static void a_little_later() { usleep(400'000); }

int main(int, char** arguments) {
  const std::string_view how = arguments[1];
  make_context();
  work();
  if (how == "context" || how == "twice" || how == "later") SIM_CHECK(cuCtxSynchronize());
  if (how == "stream") SIM_CHECK(cuStreamSynchronize(nullptr));
  if (how == "event") {
    CUevent event = nullptr;
    SIM_CHECK(cuEventCreate(&event, 0));
    SIM_CHECK(cuEventRecord(event, nullptr));
    SIM_CHECK(cuEventSynchronize(event));
  }
  if (how == "copy") {
    char bytes[64];
    CUdeviceptr memory = 0;
    SIM_CHECK(cuMemAlloc(&memory, sizeof bytes));
    SIM_CHECK(cuMemcpyDtoH(bytes, memory, sizeof bytes));
  }
  if (how == "query") {
    while (cuStreamQuery(nullptr) != CUDA_SUCCESS) usleep(100);
  }
  if (how == "twice") {  // the second call comes while the helper thread pauses after its flush
    usleep(5'000);
    work();
    SIM_CHECK(cuCtxSynchronize());
  }
  a_little_later();
  if (how == "later") SIM_CHECK(launch(kernel("work")));
#if defined(__x86_64__)
  asm volatile("syscall" ::"a"(SYS_exit_group), "D"(7) : "rcx", "r11", "memory");
#else
  syscall(SYS_exit_group, 7);
#endif
}
