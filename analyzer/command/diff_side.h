// One side of a comparison: its runs, each reduced to rows. Runs are read one after the other, so that recordings that
// do not fit into memory together can be compared.
#pragma once

#include "analyzer/analysis/analysis_options.h"
#include "analyzer/analysis/diff/run_rows.h"
#include "analyzer/analysis/stacks/stack_tree.h"

#include <memory>
#include <string>
#include <vector>

namespace prof::analyzer {

struct ReadSide {
  std::vector<RunWork> runs;
  std::vector<std::string> coverage;        // a line for each run
  std::unique_ptr<const StackTree> stacks;  // of the first run, if requested
};

struct ReadSideOptions {
  const ReportOptions& report;
  const StackOptions& stacks;
  bool with_peaks = false;   // and the shares of the peaks of each row
  bool with_stacks = false;  // GPU time by call stack
};

// The files of a run. A run may be a folder: all its files belong to one program, as `prof record --output FOLDER`
// writes them.
std::vector<std::string> files_of_run(const std::string& input);
// The files of all runs.
std::vector<std::string> files_of_runs(const std::vector<std::string>& inputs);

// Prints the coverage line of each run on stderr. Raises `status` if an input is damaged. Throws InputError.
ReadSide read_side(const std::vector<std::string>& inputs, const ReadSideOptions& options, int& status);

}  // namespace prof::analyzer
