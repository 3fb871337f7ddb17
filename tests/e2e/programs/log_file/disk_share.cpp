// libprof leaves 5 % of a disk free that others fill as well: 1 MiB of 20 MiB, half of which belongs to another file. A
// mount needs root; without it nothing is tested.
// Env: PROF_GPU=off PROF_SLAB=256K
// Shell: mkdir disk; if mount -t tmpfs -o size=20m none disk 2> /dev/null; then head -c 10485760 /dev/zero > disk/other; PROF_OUTPUT={dir}/disk {run}; status=$?; left=$(($(stat -f -c '%a * %S' disk))); size=$(stat -c %s disk/*.plog); rm disk/*.plog; umount disk; [ $left -ge 1048576 ] || status=7; [ $size -ge 8388608 ] || status=8; exit $status; fi
// Expect: status 0
#include "tests/sim/sim_program.h"

int main() {
  sim_program::make_context();
  const CUfunction function = sim_program::kernel("kernel");
  for (int i = 0; i < 2'000'000; ++i) SIM_CHECK(sim_program::launch(function));
}
