// The answer of `prof diff` for CI systems: Markdown that fits a comment on a pull request, and JUnit XML.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/output/diff_table.h"

#include <cstddef>

namespace prof::analyzer {

// A heading with the outcome, the rules, the rows that changed, and the totals. At most kMostMarkdownRows rows.
inline constexpr size_t kMostMarkdownRows = 20;
void write_gate_markdown(const DiffAnswer& answer, Sink& sink);

// A test case a rule: a failure if it was met, an error if it was not decided, so that no CI system takes it as passed.
void write_gate_junit(const DiffAnswer& answer, Sink& sink);

}  // namespace prof::analyzer
