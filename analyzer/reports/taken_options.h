// Which options of the command line does a report take? Its row in reports.def says it. `prof report` refuses an option that
// no named report takes, before it reads an input.
#pragma once

#include "analyzer/reports/reports.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// An option of a report: "--metric", and the words that it takes if they are a closed set.
struct TakenOption {
  std::string_view flag;
  std::vector<std::string_view> words;
};
std::vector<TakenOption> options_of(const Report& report);

// Whether the option belongs to some reports only. The others belong to every report.
bool is_option_of_reports(std::string_view flag);

// An option on the command line with its values.
struct GivenOption {
  std::string flag;
  std::vector<std::string> words;
};

// For each option that only some of the reports take a line that names the others. Throws std::runtime_error, naming the
// reports and their options, for an option that none of them takes.
std::vector<std::string> check_options(std::span<const Report* const> reports, std::span<const GivenOption> given);

// `options` for this report: what it does not take has its default.
ReportOptions taken_options(const Report& report, std::span<const GivenOption> given, const ReportOptions& options);

}  // namespace prof::analyzer
