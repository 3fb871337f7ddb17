// A comparison of two sides as one self-contained HTML file: the totals, the rows that changed most, and the flame
// graph of the difference if there are stacks.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/output/diff_table.h"

namespace prof::analyzer {

void write_diff_page(const DiffAnswer& answer, Sink& sink);

}  // namespace prof::analyzer
