// Secrets of the command line and of recorded variables are not written into the log, unless PROF_SECRETS=keep.
// Env: PROF_GPU=off OMPI_COMM_WORLD_TOKEN=hidden3
// Shell: {run} --password hidden1 --url=redis://me:hidden2@x/ --tokenizer t && PROF_SECRETS=keep {run} --key kept
// Expect: status 0
// Expect: logs 2
// Expect: log 1: text --password *** --url=redis://me:***@x/ --tokenizer t, text OMPI_COMM_WORLD_TOKEN=***
// Expect: log 2: text --key kept, text OMPI_COMM_WORLD_TOKEN=hidden3
#include "tests/sim/sim_program.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using namespace sim_program;

int main() {
  make_context();
  SIM_CHECK(launch(kernel("work")));
  SIM_CHECK(cuCtxSynchronize());
  for (const auto& entry : std::filesystem::directory_iterator(".")) {
    if (entry.path().extension() != ".plog") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    if (bytes.find("hidden1") != std::string::npos || bytes.find("hidden2") != std::string::npos) return 1;
  }
}
