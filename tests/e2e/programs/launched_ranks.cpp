// Three ranks, started by a launcher (mpirun if there is one): each has its own whole log with its rank in it. The
// launcher, which is preloaded too, has none.
// Env: PROF_GPU=off OMPI_MCA_rmaps_base_oversubscribe=1
// Shell: export LD_PRELOAD=$E2E_LIBPROF; if command -v mpirun > /dev/null; then mpirun --allow-run-as-root -n 3 {plain}; else for rank in 0 1 2; do OMPI_COMM_WORLD_RANK=$rank {plain} & done; wait; fi
// Expect: status 0
// Expect: stderr empty
// Expect: logs 3
// Expect: log 1: 5 kernel_launch, whole, 0 lost
// Expect: log 2: 5 kernel_launch, whole, 0 lost
// Expect: log 3: 5 kernel_launch, whole, 0 lost
// Expect: report api-trace --rank 0: 5 x kernel_of_0
// Expect: report api-trace --rank 1: 5 x kernel_of_1
// Expect: report api-trace --rank 2: 5 x kernel_of_2
#include "tests/sim/sim_program.h"

#include <string>

int main() {
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) return 1;
  sim_program::make_context();
  const CUfunction function = sim_program::kernel(("kernel_of_" + std::string(rank)).c_str());
  for (int i = 0; i < 5; ++i) SIM_CHECK(sim_program::launch(function));
}
