// PROF_PROCESSES and PROF_RANKS: two of six runs are recorded, the second and the sixth.
// Env: PROF_GPU=off
// Shell: PROF_PROCESSES=other,wanted {run} a; PROF_PROCESSES='other,wanted_*' {run} b; PROF_RANKS=0,2-3 RANK=1 {run} c; PROF_RANKS=0 RANK=10 {run} d; PROF_RANKS=0 OMPI_COMM_WORLD_RANK=2 {run} e; PROF_RANKS=0,2-3 RANK=3 {run} f
// Expect: status 0
// Expect: logs 2
// Expect: log 1: 1 kernel_launch(b), whole, 0 lost
// Expect: log 2: 1 kernel_launch(f), whole, 0 lost
// Expect: stderr empty
#include "tests/sim/sim_program.h"

int main(int, char** argv) {
  sim_program::make_context();
  SIM_CHECK(sim_program::launch(sim_program::kernel(argv[1])));
}
