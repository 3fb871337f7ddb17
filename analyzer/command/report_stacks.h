// prof report stacks|hot-stacks|flame in the formats of other tools, for one input or for two that are compared.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/output/exporters.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// The format of a form of a report about stacks. Returns nothing for a table, and for other reports.
std::optional<StackFormat> stack_format(std::string_view report, std::string_view form);

// `before`: the input to compare with; may be null. Returns notes for the reader.
std::vector<std::string> write_stack_report(const AnalysisInput& input, const AnalysisInput* before, StackFormat format,
                                            Sink& sink);

}  // namespace prof::analyzer
