// What `prof diff` prints: the rows of a RunDiff as a table of differences, or side by side as torch.compile's profile analysis
// shows two traces.
#pragma once

#include "analyzer/analysis/diff/run_diff.h"
#include "analyzer/model/names.h"
#include "analyzer/table/table.h"

#include <string>

namespace prof::analyzer {

struct DiffLabels {
  std::string now = "now", before = "before";
};

Table diff_table(const RunDiff& diff, const DiffLabels& labels, NameForm names);
Table side_by_side_table(const RunDiff& diff, const DiffLabels& labels, NameForm names);

// Lines of the totals that add up: operations less their overlap is busy, and idle is wall.
std::vector<std::string> diff_totals(const RunDiff& diff, const DiffLabels& labels);

// A kernel's name in that form; of a replaced kernel both.
std::string diff_name(const std::string& name, NameForm form);

}  // namespace prof::analyzer
