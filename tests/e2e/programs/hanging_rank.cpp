// A rank of a job for tests/e2e/drivers/blame.py: hanging_rank STEPS [FIFO]. It makes STEPS all-reduces and then waits,
// in read() of FIFO or in pause(). The device's clock stands still meanwhile, so no kernel ends.
#include "tests/sim/libraries.h"
#include "tests/sim/sim_program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int, char** argv) {
  sim_program::make_context();
  SimUniqueId id;
  std::memset(&id, 7, sizeof id);
  SimComm* world = nullptr;
  if (ncclCommInitRank(&world, std::atoi(std::getenv("WORLD_SIZE")), id, std::atoi(std::getenv("RANK"))) != 0) return 1;
  for (int step = 0; step < std::atoi(argv[1]); ++step) {
    if (ncclAllReduce(nullptr, nullptr, 1024, 7, 0, world, nullptr) != 0) return 2;
  }
  std::printf("waits\n");
  std::fflush(stdout);
  if (argv[2] == nullptr) return pause();
  const int file = open(argv[2], O_RDWR);
  char byte;
  return file >= 0 && read(file, &byte, 1) == 1 ? 0 : 3;
}
