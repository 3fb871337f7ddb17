// The main thread leaves by pthread_exit() and the last thread of the program ends later. The process then ends with
// status 0, exit handlers run, and the log is complete. A program whose other thread waits for a signal is not ended.
// (NVTX only: a driver has threads of its own, so such a program does not end with CUDA, with or without the recorder.)
// Link: none
// Shell: timeout -s KILL 20 {run} | grep -c "handler ran" && timeout -s KILL 20 {run} wait | grep -c "got SIGTERM"
// Expect: status 0
// Expect: stdout 1
// Expect: stderr empty
// Expect: logs 2
// Expect: log 1: 101 nvtx_mark, whole, 0 lost
// Expect: log 2: 101 nvtx_mark, whole, 0 lost
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

static void work() {
  for (int i = 0; i < 100; ++i) nvtxMarkA("work");
}

static void* worker(void*) {
  usleep(300'000);  // the main thread has left
  work();
  return nullptr;
}

static void* waiter(void*) {
  work();
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGTERM);
  timespec most{10, 0};
  if (sigtimedwait(&wanted, nullptr, &most) == SIGTERM) std::puts("got SIGTERM");
  return nullptr;
}

static void* sender(void*) {
  usleep(700'000);
  kill(getpid(), SIGTERM);
  return nullptr;
}

int main(int count, char**) {
  std::atexit([] { std::puts("handler ran"); });
  nvtxMarkA("main");
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  pthread_t thread;
  pthread_create(&thread, nullptr, count > 1 ? waiter : worker, nullptr);
  if (count > 1) pthread_create(&thread, nullptr, sender, nullptr);
  pthread_exit(nullptr);
}
