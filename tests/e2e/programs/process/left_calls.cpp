// One blocking call is left by siglongjmp, another by pthread_cancel: the guard that remains set is detected and reset,
// later launches are recorded, and no frame of libprof stops the cancellation.
// Env: PROF_GPU=off
// Link: none
// Expect: status 0
// Expect: log 1: 3 api_call(cuInit), counter guard_resets 1, whole
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

// The simulated driver waits with a lock held, so a program must not leave it that way. So the driver here is a shared
// object of the test (shims/) whose cuStreamSynchronize sleeps for ever; it is the only libcuda in the process.
static sigjmp_buf back;
static void on_alarm(int) { siglongjmp(back, 1); }

using Init = CUresult (*)(unsigned);
using Wait = CUresult (*)(CUstream);
static Init init;
static Wait wait_for;

static void* cancelled(void*) {
  init(1);
  wait_for(nullptr);
  return nullptr;
}

int main() {
  void* const driver = dlopen("libleft_calls_shim.so", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return 1;
  init = reinterpret_cast<Init>(dlsym(driver, "cuInit"));
  wait_for = reinterpret_cast<Wait>(dlsym(driver, "cuStreamSynchronize"));
  if (init(0) != CUDA_SUCCESS) return 2;
  struct sigaction action {};
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, nullptr);
  if (sigsetjmp(back, 1) == 0) {
    ualarm(100000, 0);
    wait_for(nullptr);
    return 3;
  }
  if (init(2) != CUDA_SUCCESS) return 4;
  pthread_t thread;
  pthread_create(&thread, nullptr, cancelled, nullptr);
  usleep(200000);
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED ? 0 : 5;
}
