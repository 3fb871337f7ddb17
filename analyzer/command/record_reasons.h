// Why did `prof record` get no log? The reasons that files, variables and the run time show, the most certain one
// first. Nothing watches the program while it runs.
#pragma once

#include "analyzer/command/record_program.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace prof::analyzer {

struct UnrecordedRun {
  const ProgramFacts& program;
  std::span<const std::string> command;
  std::span<const std::pair<std::string, std::string>> variables;  // that prof set; others are in the environment
  std::string output;                                              // folder or pattern of the logs
  double seconds;                                                  // that the program ran
};

// At least one. An obstacle that is certain is the only one.
std::vector<Obstacle> why_nothing_was_recorded(const UnrecordedRun& run);

}  // namespace prof::analyzer
