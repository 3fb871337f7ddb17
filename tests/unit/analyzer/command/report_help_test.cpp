// The list of reports, the help of each, and how help texts are wrapped.
#include "analyzer/command/report_help.h"

#include "analyzer/command/command.h"
#include "analyzer/command/help_text.h"
#include "analyzer/reports/taken_options.h"

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace prof::analyzer {
namespace {

TEST(ReportHelp, EveryOptionOfARowIsOneOfTheParser) {
  CLI::App app;
  analyzer::Run run;
  add_report(app, run);
  const CLI::App& verb = *app.get_subcommands({}).front();
  for (const Report& each : kReports) {
    for (const TakenOption& option : options_of(each))
      EXPECT_NE(verb.get_option_no_throw(std::string(option.flag)), nullptr) << each.name << " " << option.flag;
  }
}

TEST(ReportHelp, HasQuestionOptionsColumnsAndAnExample) {
  CLI::App app;
  analyzer::Run run;
  add_report(app, run);
  const CLI::App& verb = *app.get_subcommands({}).front();
  for (const Report& each : kReports) {
    const std::string help = report_help(each, verb);
    EXPECT_NE(help.find(std::string(each.question)), std::string::npos) << each.name;
    for (const TakenOption& option : options_of(each))
      EXPECT_NE(help.find("  " + std::string(option.flag)), std::string::npos) << each.name << " " << option.flag;
    for (const ColumnId column : each.columns)
      EXPECT_NE(help.find(std::string(column_info(column).meaning)), std::string::npos) << each.name;
    EXPECT_NE(help.find("  prof report " + std::string(each.name) + " " + std::string(each.example)),
              std::string::npos);
    EXPECT_EQ(each.question.back(), '?') << each.name;
  }
}

TEST(ReportHelp, TheListHasEachReportOnceBelowItsArea) {
  const std::string list = report_list();
  for (const std::string_view title : kAreaTitles) EXPECT_NE(list.find(std::string(title) + "\n"), std::string::npos);
  EXPECT_EQ(static_cast<size_t>(std::count(list.begin(), list.end(), '\n')),
            std::size(kReports) + 2 * std::size(kAreaTitles) - 1);
}

TEST(HelpText, WrapsBelowTheDescription) {
  EXPECT_EQ(wrapped("  --wall MS   wall time of the same run\n", 28),
            "  --wall MS   wall time of\n"
            "              the same run\n");
  EXPECT_EQ(wrapped("short\n\nalso short", 20), "short\n\nalso short");
  EXPECT_EQ(wrapped("a sentence that is longer than a line", 20), "a sentence that is\nlonger than a line");
  EXPECT_EQ(wrapped("    /a/path/that/is/longer/than/the/line", 20), "    /a/path/that/is/longer/than/the/line");
  const std::string text = wrapped("  key   one two three four five six seven eight nine ten eleven twelve", 30);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    EXPECT_LE(end - begin, 30u) << text;
    begin = end + 1;
  }
}

}  // namespace
}  // namespace prof::analyzer
