// Which options of the command line does a report take? Its row in reports.def lists them. `prof report` refuses an
// option that no named report takes, before it reads an input.
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

// Whether the option belongs to some reports only. All other options belong to every report.
bool is_option_of_reports(std::string_view flag);

// An option on the command line with its values.
struct GivenOption {
  std::string flag;
  std::vector<std::string> words;
};

// Returns one line for each option that only some of the reports take; it names the others. Throws std::runtime_error
// for an option that no report takes. The message names the reports and their options.
std::vector<std::string> check_options(std::span<const Report* const> reports, std::span<const GivenOption> given);

// Returns `options` for this report. Options that it does not take have their defaults.
ReportOptions taken_options(const Report& report, std::span<const GivenOption> given, const ReportOptions& options);

}  // namespace prof::analyzer
