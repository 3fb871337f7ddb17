// Which counts of the coverage line are gaps of the recording, and which are the program's or on purpose? `prof check`
// prints its verdict by this, so that it never contradicts the coverage line of a report. In coverage.cpp.
//
//   missing      records or times that should be there: launches without GPU time that CUPTI dropped, launches that no
//                hook saw. Losses that a counter of the log names, and damage, are not repeated here.
//   later        what a copy of a log does not have yet, because its recording went on
//   less exact   everything is there, but not as exactly as it could be: texts that were cut, stacks without an end
//   neither      launches that failed or were captured; what PROF_GPU, PROF_BUDGET, PROF_RING, PROF_DEVICES or a
//                recording of a part of the run leave out
#pragma once

#include <string>
#include <vector>

namespace prof::analyzer {

struct Process;

struct CoverageGaps {
  std::vector<std::string> missing, later, less_exact;
};

CoverageGaps coverage_gaps(const Process& process);

}  // namespace prof::analyzer
