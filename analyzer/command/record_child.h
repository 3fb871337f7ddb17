// prof record's child: starts the program in our process group, passes signals on, and ends as it ended.
#pragma once

#include <string>
#include <vector>

namespace prof::analyzer {

struct ChildEnd {
  int status = 0;      // exit status, when signal is 0
  int signal = 0;      // the signal that ended it
  int exec_error = 0;  // errno: it could not be started
};

// Runs argv[0], searched in PATH, with these variables set. INT, TERM and HUP that only we got are passed on to it; those
// of the terminal reach the whole process group by themselves.
ChildEnd run_child(const std::vector<std::string>& argv,
                   const std::vector<std::pair<std::string, std::string>>& variables);

// Ends this process by a signal, as the program did: shells and schedulers look at that.
[[noreturn]] void die_by(int signal);

}  // namespace prof::analyzer
