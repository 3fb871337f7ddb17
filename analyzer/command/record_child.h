// The child process of prof record: it starts the program in our process group. prof forwards signals and ends as the
// program ended.
#pragma once

#include <string>
#include <vector>

namespace prof::analyzer {

struct ChildEnd {
  int status = 0;      // exit status, if signal is 0
  int signal = 0;      // the signal that ended the program
  int exec_error = 0;  // errno if the program could not be started
};

// Runs argv[0], searched in PATH, with these variables set. Forwards INT, TERM and HUP if only prof received them.
// Signals of the terminal reach the whole process group without prof.
ChildEnd run_child(const std::vector<std::string>& argv,
                   const std::vector<std::pair<std::string, std::string>>& variables);

// Ends this process with the signal that ended the program. Shells and schedulers check it.
[[noreturn]] void die_by(int signal);

}  // namespace prof::analyzer
