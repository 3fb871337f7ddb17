// Why did `prof record` get no log? The reasons that files, variables and the run time show, the most certain one
// first. Of the run itself only the recorder's lines are known, which it writes at the end of a process that awaited a
// launch or a range (preload/control/unstarted.h).
#pragma once

#include "analyzer/command/record_program.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

// Names and values that prof sets for the program; others are in the environment.
using Variables = std::span<const std::pair<std::string, std::string>>;

// The value that the program gets; empty if there is none.
std::string given_value(Variables variables, const char* name);

struct UnrecordedRun {
  const ProgramFacts& program;
  std::span<const std::string> command;
  Variables variables;
  std::string output;          // folder or pattern of the logs
  double seconds;              // that the program ran
  std::string_view unstarted;  // the lines of the processes
};

// At least one. An obstacle that is certain is the only one.
std::vector<Obstacle> why_nothing_was_recorded(const UnrecordedRun& run);

}  // namespace prof::analyzer
