// The program closes every descriptor and reuses the numbers: its own file is unchanged, and launches are still
// recorded.
// Env: PROF_GPU=off PROF_SLAB=64K
// Expect: status 0
// Expect: log 1: 201000 kernel_launch(kernel), whole
#include "tests/sim/sim_program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 1000; ++i) SIM_CHECK(sim_program::launch(function));
  for (int fd = 3; fd < 2048; ++fd) close(fd);
  const char* const folder = getenv("E2E_DIR");
  if (chdir(folder) != 0) return 1;
  const int mine = open("users_file", O_RDWR | O_CREAT, 0600);
  if (mine < 0 || write(mine, "mine", 4) != 4) return 2;
  for (int fd = 512; fd < 600; ++fd) dup2(mine, fd);  // the number that the log's descriptor had
  for (int i = 0; i < 200000; ++i) SIM_CHECK(sim_program::launch(function));
  struct stat is;
  if (fstat(mine, &is) != 0 || is.st_size != 4) return 3;
  return 0;
}
