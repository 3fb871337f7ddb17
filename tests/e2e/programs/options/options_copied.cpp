// Options are copied when the library is loaded: the program may clear its environment, set other values and change its
// working folder before its first CUDA call. Facts about the job, such as the rank, are those of the first recorded
// event. A forked child keeps the options.
// Env: PROF_OUTPUT=logs/%r-%p.plog PROF_GPU=off PROF_MAX_SIZE=1G
// Shell: mkdir logs "100%p" && {run} && [ $(echo logs/3-*.plog | wc -w) = 2 ] && cd "100%p" && PROF_OUTPUT=. {run} && ls prof.*.plog > /dev/null
// Expect: status 0
// Expect: stderr empty
// Expect: logs 4
// Expect: log 1: 1 kernel_launch(parent), 1 kernel_launch, whole, 0 lost, text meta key="gpu_times" value="off"
// Expect: log 1: text meta key="environment" value="PROF_GPU=off"
// Expect: log 1: text meta key="environment" value="PROF_MAX_SIZE=1G"
// Expect: log 1: text meta key="environment" value="RANK=3", text meta key="rank" value="3"
// Expect: log 2: 0 kernel_launch, >=1 api_call(cuInit), whole, 0 lost, text meta key="environment" value="PROF_GPU=off"
// Expect: log 3: 1 kernel_launch(parent), whole, 0 lost
#include "tests/sim/sim_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

using namespace sim_program;

int main() {
  if (clearenv() != 0 || chdir("/") != 0) return 1;
  setenv("PROF_OUTPUT", "/nowhere", 1);
  setenv("PROF_GPU", "on", 1);
  setenv("PROF_LOG", "debug", 1);
  setenv("RANK", "3", 1);
  make_context();
  SIM_CHECK(launch(kernel("parent")));
  const pid_t child = fork();
  if (child == 0) {
    cuInit(0);  // the driver refuses in a forked child; the call is recorded
    exit(0);
  }
  int status = 1;
  return waitpid(child, &status, 0) == child ? status : 1;
}
