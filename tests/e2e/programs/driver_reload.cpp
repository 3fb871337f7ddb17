// A program that probes for a GPU opens the driver, closes it, and opens it again, possibly at another address.
// Env: PROF_GPU=off
// Link: none
// Expect: status 0
// Expect: log 1: 2 api_call(cuInit), whole
#include <dlfcn.h>
#include <sys/mman.h>

int main() {
  for (int round = 0; round < 2; ++round) {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) return 1;
    const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    if (init == nullptr || init(0) != 0) return 2;
    if (round == 0) dlclose(driver);
    // Fills the gap, so that the next copy is mapped at another address.
    for (int i = 0; i < 64; ++i) mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  return 0;
}
