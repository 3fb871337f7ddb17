// prof report stacks|hot-stacks|flame in the formats of other tools, for one input or for two that are compared.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/output/exporters.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

std::vector<std::string> stack_format_names();  // words for --format

// The format requested by --format or, for the report flame, by the end of the file's name. Returns nothing for a
// table. Throws std::runtime_error if the report does not have the format.
std::optional<StackFormat> stack_format(std::string_view report, const std::string& word, const std::string& output);

// `before`: the input to compare with; may be null. Returns notes for the reader.
std::vector<std::string> write_stack_report(const AnalysisInput& input, const AnalysisInput* before, StackFormat format,
                                            const std::string& output);

}  // namespace prof::analyzer
