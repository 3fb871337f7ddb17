// The disk becomes full: the records that fit are in the log and readable, and the program is not affected. A mount
// needs root; without it the limit of PROF_MAX_SIZE replaces the disk (max_size.cpp tests that limit alone).
// Env: PROF_GPU=off
// Shell: mkdir disk; if mount -t tmpfs -o size=6m none disk 2> /dev/null; then echo mounted; PROF_OUTPUT={dir}/disk {run}; status=$?; cp disk/*.plog .; umount disk; exit $status; else PROF_MAX_SIZE=6M {run}; fi
// Expect: status 0
// Expect: stderr once the log is full (disk, quota, PROF_MAX_SIZE or ulimit -f)
// Expect: logs 1
// Expect: log 1: >=1000 kernel_launch(kernel), size < 6291457, >=1 lost, whole
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 600000; ++i) SIM_CHECK(sim_program::launch(function));
}
