// Stacks of every shape, each with the right frames: recursion, exceptions, signal handlers, coroutines, code without
// unwind tables, copies, allocations and waits. libgcc stays the program's unwinder.
// Env: PROF_GPU=off PROF_STACKS=all
// Expect: status 0
// Expect: stdout exceptions by libgcc_s
// Expect: log 1: 1 stack(^recurse < recurse < recurse < recurse < recurse < main <), 6 stack(^thrower < catcher < main <), 6 stack(^catcher < main <)
// Expect: log 1: 2 stack(^handler < .* < interrupted < main <), 2 stack(^coroutine < [^<]*!8$), 2 stack(^from_page < [?] < call_page < main <)
// Expect: log 1: 3 stack(^memory < main <), 1 stack(^waits < main <), 0 stack(!16), counter stacks_skipped 0, whole, 0 lost
#include "tests/sim/sim_program.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#include <csignal>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace {

CUfunction g_function;
#define NO_TAIL_CALL __asm__ volatile("" ::: "memory")

__attribute__((noinline)) void recurse(int levels) {
  if (levels == 0) {
    SIM_CHECK(sim_program::launch(g_function));
  } else {
    recurse(levels - 1);
  }
  NO_TAIL_CALL;
}

__attribute__((noinline)) void thrower(int i) {
  SIM_CHECK(sim_program::launch(g_function));
  if (i % 2 == 0) throw std::runtime_error("on purpose");
  NO_TAIL_CALL;
}
__attribute__((noinline)) void catcher() {
  for (int i = 0; i < 6; ++i) {
    try {
      thrower(i);
    } catch (const std::runtime_error&) {}
    SIM_CHECK(sim_program::launch(g_function));
  }
  NO_TAIL_CALL;
}

void handler(int) {
  SIM_CHECK(sim_program::launch(g_function));
  NO_TAIL_CALL;
}
__attribute__((noinline)) void interrupted() {
  for (const int flags : {0, SA_ONSTACK}) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, nullptr);
    raise(SIGUSR1);
  }
  NO_TAIL_CALL;
}

ucontext_t g_main, g_fiber;
void coroutine() {
  SIM_CHECK(sim_program::launch(g_function));
  swapcontext(&g_fiber, &g_main);
  SIM_CHECK(sim_program::launch(g_function));
}
__attribute__((noinline)) void run_coroutine() {
  static std::vector<char> room(1 << 18);
  getcontext(&g_fiber);
  g_fiber.uc_stack.ss_sp = room.data(), g_fiber.uc_stack.ss_size = room.size();
  g_fiber.uc_link = &g_main;
  makecontext(&g_fiber, coroutine, 0);
  for (int i = 0; i < 2; ++i) swapcontext(&g_main, &g_fiber);
}

void from_page() {
  SIM_CHECK(sim_program::launch(g_function));
  NO_TAIL_CALL;
}
__attribute__((noinline)) void call_page() {
#if defined(__aarch64__)
  // stp x29, x30, [sp, -16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], 16; ret
  static const unsigned kCode[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#else
  // push rbp; mov rbp, rsp; call rdi; pop rbp; ret
  static const unsigned char kCode[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
#endif
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, kCode, sizeof kCode);
  __builtin___clear_cache(static_cast<char*>(page), static_cast<char*>(page) + sizeof kCode);
  for (int i = 0; i < 2; ++i) reinterpret_cast<void (*)(void (*)())>(page)(from_page);
  munmap(page, 4096);
  NO_TAIL_CALL;
}

__attribute__((noinline)) void memory() {
  CUdeviceptr there = 0;
  char here[64] = {};
  SIM_CHECK(cuMemAlloc(&there, sizeof here));
  SIM_CHECK(cuMemcpyHtoD(there, here, sizeof here));
  SIM_CHECK(cuMemFree(there));
  NO_TAIL_CALL;
}
__attribute__((noinline)) void waits() {
  SIM_CHECK(cuCtxSynchronize());
  NO_TAIL_CALL;
}

}  // namespace

int main() {
  sim_program::make_context();
  g_function = sim_program::kernel("kernel");
  static char room[65536];
  stack_t alternate{};
  alternate.ss_sp = room, alternate.ss_size = sizeof room;
  sigaltstack(&alternate, nullptr);
  recurse(4);
  catcher();
  interrupted();
  run_coroutine();
  call_page();
  memory();
  waits();
  Dl_info info{};
  dladdr(dlsym(RTLD_DEFAULT, "_Unwind_RaiseException"), &info);
  puts(info.dli_fname != nullptr && strstr(info.dli_fname, "libgcc_s") != nullptr ? "exceptions by libgcc_s"
                                                                                  : info.dli_fname);
}
