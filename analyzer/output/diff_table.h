// The output of `prof diff`: the rows of a RunDiff as a table of differences, or side by side as torch.compile's
// profile analysis shows two traces.
#pragma once

#include "analyzer/analysis/diff/gate.h"
#include "analyzer/model/call_tree.h"
#include "analyzer/model/names.h"
#include "analyzer/table/table.h"

#include <string>
#include <vector>

namespace prof::analyzer {

struct DiffLabels {
  std::string now = "now", before = "before";
};

// What `prof diff` found. The members must outlive it.
struct DiffAnswer {
  const RunDiff& diff;
  const DiffLabels& labels;
  NameForm names = NameForm::Short;
  const std::vector<GateVerdict>& verdicts;  // of --fail-if
  const std::vector<std::string>& coverage;  // a line for each input
  const CallTree* flame = nullptr;           // GPU time of both sides by call stack, compared; null: no stacks
};

// Both have the verdicts of --fail-if as a part, if there are any.
Table diff_table(const DiffAnswer& answer);
Table side_by_side_table(const DiffAnswer& answer);

// The lines of the totals. They add up: operations minus their overlap is busy time, and busy plus idle time is wall
// time.
std::vector<std::string> diff_totals(const RunDiff& diff, const DiffLabels& labels);

// The name of a kernel in that form. For a replaced kernel, both names.
std::string diff_name(const std::string& name, NameForm form);

}  // namespace prof::analyzer
