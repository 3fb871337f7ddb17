// A library that is loaded, calls back, and is closed again: programs/stacks/stack_reload.cpp.
extern "C" __attribute__((noinline)) void LAUNCH_NAME(void (*callback)()) {
  callback();
  __asm__ volatile("" ::: "memory");
}
extern "C" void run_plugin(void (*callback)()) {
  LAUNCH_NAME(callback);
  __asm__ volatile("" ::: "memory");
}
