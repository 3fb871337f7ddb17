// The output of `prof diff`: the rows of a RunDiff as a table of differences, or side by side as torch.compile's
// profile analysis shows two traces.
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

// The lines of the totals. They add up: operations minus their overlap is busy time, and busy plus idle time is wall
// time.
std::vector<std::string> diff_totals(const RunDiff& diff, const DiffLabels& labels);

// The name of a kernel in that form. For a replaced kernel, both names.
std::string diff_name(const std::string& name, NameForm form);

}  // namespace prof::analyzer
