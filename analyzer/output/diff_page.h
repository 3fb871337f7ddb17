// A comparison of two sides as one self-contained HTML file: the totals, the rows that changed most, and the flame
// graph of the difference if there are stacks.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/model/call_tree.h"
#include "analyzer/output/diff_table.h"

namespace prof::analyzer {

// `flame`: GPU time of both sides by call stack, compared; null if there are no stacks.
void write_diff_page(const RunDiff& diff, const DiffLabels& labels, NameForm names, const CallTree* flame, Sink& sink);

}  // namespace prof::analyzer
