#include "analyzer/command/report_help.h"

#include "analyzer/reports/taken_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace prof::analyzer {

namespace {

std::string option_lines(const Report& report, const CLI::App& verb) {
  std::string lines;
  for (const TakenOption& taken : options_of(report)) {
    const CLI::Option* const option = verb.get_option(std::string(taken.flag));
    std::string name(taken.flag);
    if (!taken.words.empty()) {
      name += fmt::format(" {}", fmt::join(taken.words, "|"));
    } else if (option->get_expected_max() > 0) {
      name += fmt::format(" {}", option->get_option_text().empty() ? "VALUE" : option->get_option_text());
    }
    lines += fmt::format("  {:<24} {}{}\n", name, name.size() > 24 ? "\n                            " : " ",
                         option->get_description());
  }
  return lines.empty() ? "  none of its own\n" : lines;
}

// "start_ns", and the title of a text table in quotes.
std::string column_lines(const Report& report) {
  std::string lines;
  for (const ColumnId id : report.columns) {
    const ColumnInfo& column = column_info(id);
    lines += fmt::format("  {:<24}  {}: {}\n", json_key(column.key, column.type), column.title(), column.meaning);
  }
  return lines;
}

}  // namespace

std::string report_list() {
  std::string list;
  for (size_t area = 0; area < std::size(kAreaTitles); ++area) {
    list += fmt::format("{}{}\n", list.empty() ? "" : "\n", kAreaTitles[area]);
    for (const Report& report : kReports) {
      if (report.area == static_cast<Area>(area)) list += fmt::format("  {:<22}  {}\n", report.name, report.question);
    }
  }
  return list;
}

std::string report_help(const Report& report, const CLI::App& verb) {
  return fmt::format(
      "{}: {}\n\n"
      "Options of this report (`prof report --help` describes those of every report):\n{}\n"
      "Columns: key in JSON and --sort, title, meaning. Some need an option or data that the input may not have.\n{}\n"
      "Example:\n  prof report {} {}\n",
      report.name, report.question, option_lines(report, verb), column_lines(report), report.name, report.example);
}

}  // namespace prof::analyzer
