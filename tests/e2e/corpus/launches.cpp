// A plain CUDA program: launches, a copy, an error that the driver returns, output to both streams, and a status.
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  const CUdeviceptr memory = sim_program::allocate(4096);
  char host[4096] = "hello";
  char back[4096] = {};
  for (int i = 0; i < 1000; ++i) SIM_CHECK(sim_program::launch(function));
  SIM_CHECK(cuMemcpyHtoD(memory, host, sizeof host));
  SIM_CHECK(cuMemcpyDtoH(back, memory, sizeof back));
  const char* name = nullptr;
  cuGetErrorName(cuMemFree(memory + 12345), &name);
  std::printf("%s, %s\n", back, name);
  std::fprintf(stderr, "to stderr\n");
  std::FILE* const file = std::fopen("output", "w");
  if (file == nullptr) return 1;
  std::fprintf(file, "a file\n");
  std::fclose(file);
  return 21;
}
