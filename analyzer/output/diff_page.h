// A comparison as one HTML file that needs nothing else: the totals, the rows that changed most, and the flame graph of the
// difference where there is one.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/model/call_tree.h"
#include "analyzer/output/diff_table.h"

namespace prof::analyzer {

// `flame`: both sides' GPU time by call stack, compared; null: there are no stacks.
void write_diff_page(const RunDiff& diff, const DiffLabels& labels, NameForm names, const CallTree* flame, Sink& sink);

}  // namespace prof::analyzer
