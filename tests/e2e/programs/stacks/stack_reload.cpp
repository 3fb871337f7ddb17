// Two libraries are mapped at one address in turn: a stack is named with the library that was mapped when the stack was
// recorded.
// Env: PROF_GPU=off PROF_STACKS=launch
// Expect: status 0
// Expect: stdout same place
// Expect: log 1: 30 stack(^launch_now < launch_by_first < run_plugin < turn < main <), 30 stack(^launch_now < launch_by_second < run_plugin < turn < main <)
// Expect: log 1: 60 kernel_launch(kernel), whole, 0 lost, >=10 image_gone, counter stacks_skipped 0
#include "tests/sim/sim_program.h"

#include <dlfcn.h>

#include <set>

namespace {

CUfunction g_function;

void launch_now() {
  SIM_CHECK(sim_program::launch(g_function));
  __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void turn(const char* file, std::set<void*>& places) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    exit(98);
  }
  const auto run = reinterpret_cast<void (*)(void (*)())>(dlsym(library, "run_plugin"));
  places.insert(reinterpret_cast<void*>(run));
  for (int i = 0; i < 3; ++i) run(launch_now);
  dlclose(library);
}

}  // namespace

int main() {
  sim_program::make_context();
  g_function = sim_program::kernel("kernel");
  std::set<void*> first, second;
  for (int i = 0; i < 10; ++i) {
    turn("libstack_plugin_first.so", first);
    turn("libstack_plugin_second.so", second);
  }
  bool same = false;
  for (void* const place : first) same |= second.count(place) != 0;
  puts(same ? "same place" : "never at the same place: this shows nothing");
}
