// prof report stacks|hot-stacks|flame in the forms of other tools, of one input or of two that are compared.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/output/exporters.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

std::vector<std::string> stack_format_names();  // words for --format

// The form asked for: by --format, or for the report flame by the end of the file's name; nothing: a table. Throws
// std::runtime_error where a report has no such form.
std::optional<StackFormat> stack_format(std::string_view report, const std::string& word, const std::string& output);

// `before`: what to compare with; may be null. Returns what the reader should know beside the answer.
std::vector<std::string> write_stack_report(const AnalysisInput& input, const AnalysisInput* before, StackFormat format,
                                            const std::string& output);

}  // namespace prof::analyzer
