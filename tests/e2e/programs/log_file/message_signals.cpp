// A line of the recorder never kills the program: stderr is a file at its limit (SIGXFSZ) or a pipe without a reader
// (SIGPIPE). SIGXFSZ and SIGPIPE of the program itself still do what they do without the recorder.
// Env: PROF_GPU=off PROF_RING=junk PROF_DUMP=junk
// Shell: (ulimit -f 0; {run} 2>stderr.txt); echo -n $?,; {run} 2> >(exec true); echo -n $?,; {run} raise; [ $? = 141 ]
// Expect: status 0
// Expect: stdout 5,5,
#include "tests/sim/sim_program.h"

#include <unistd.h>
#include <csignal>

using namespace sim_program;

int main(int count, char**) {
  usleep(50'000);  // the reader of the pipe has ended
  make_context();
  SIM_CHECK(launch(kernel("work")));
  SIM_CHECK(cuCtxSynchronize());
  if (count > 1) raise(SIGPIPE);
  return 5;
}
