// Which options does a report take, and do the rows of reports.def name its columns?
#include "analyzer/reports/taken_options.h"

#include "analyzer/reports/run_report.h"
#include "tests/unit/analyzer/hand_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::HandTrace;

const Report& report(std::string_view name) {
  return *std::find_if(std::begin(kReports), std::end(kReports), [&](const Report& each) { return each.name == name; });
}

std::string refusal(const std::vector<std::string_view>& names, const GivenOption& given) {
  std::vector<const Report*> reports;
  for (const std::string_view name : names) reports.push_back(&report(name));
  try {
    std::string lines;
    for (const std::string& line : check_options(reports, {&given, 1})) lines += line;
    return lines;
  } catch (const std::runtime_error& error) {
    return std::string("refused: ") + error.what();
  }
}

TEST(TakenOptions, AnOptionThatNoReportTakesIsRefusedWithTheOptionsOfTheReports) {
  EXPECT_EQ(refusal({"idle"}, {"--metric", {"launches"}}),
            "refused: idle does not take --metric; options of idle: --definitions=ours|gap-cause|hta "
            "--group-by=rank|host|process|device; `prof report "
            "idle --help` "
            "describes them");
  EXPECT_EQ(refusal({"idle", "gpu-util"}, {"--peaks", {}}),
            "refused: none of idle, gpu-util takes --peaks; options of idle: --definitions=ours|gap-cause|hta "
            "--group-by=rank|host|process|device; options "
            "of gpu-util: "
            "--definitions=ours|tb --group-by=rank|host|process|device; `prof report idle --help` describes them");
}

TEST(TakenOptions, AnOptionOfSomeReportsNamesTheOthers) {
  EXPECT_EQ(refusal({"idle", "stacks", "copies"}, {"--metric", {"launches"}}),
            "--metric launches applies to stacks; it has no effect on idle, copies");
  EXPECT_EQ(refusal({"stacks", "flame"}, {"--metric", {"launches"}}), "");
}

TEST(TakenOptions, WordsAreThoseOfTheReport) {
  EXPECT_EQ(refusal({"idle"}, {"--definitions", {"hta"}}), "");
  EXPECT_TRUE(refusal({"idle"}, {"--definitions", {"reference"}})
                  .starts_with("refused: idle does not take --definitions reference;"));
  EXPECT_EQ(refusal({"kernels"}, {"--group-by", {"shape", "stack:12"}}), "");
  EXPECT_EQ(refusal({"copies"}, {"--group-by", {"stack"}}), "");
  for (const char* const word : {"stack:", "stack:x", "stack:1x", "stacks", "", "shape"})
    EXPECT_TRUE(refusal({"copies"}, {"--group-by", {word}}).starts_with("refused: ")) << word;
}

TEST(TakenOptions, WhatAReportDoesNotTakeHasItsDefault) {
  ReportOptions options;
  options.group_by = {"shape"};
  options.definitions = Definitions::Hta;
  options.metric = "launches";
  options.window = "run";
  const GivenOption given[] = {{"--group-by", {"shape"}}, {"--definitions", {"hta"}}, {"--metric", {"launches"}}};
  const ReportOptions kernels = taken_options(report("kernels"), given, options);
  EXPECT_EQ(kernels.group_by, options.group_by);
  EXPECT_EQ(kernels.definitions, Definitions::Ours);
  EXPECT_EQ(kernels.metric, ReportOptions().metric);
  EXPECT_EQ(kernels.window, "run") << "every report takes --window";
  const ReportOptions idle = taken_options(report("idle"), given, options);
  EXPECT_TRUE(idle.group_by.empty());
  EXPECT_EQ(idle.definitions, Definitions::Hta);
}

// Columns that only `prof devices`, `prof symbolize`, `prof diff` and `prof blame` show.
constexpr ColumnId kOfVerbs[] = {
    ColumnId::state,
    ColumnId::collective_number,
    ColumnId::last_collective,
    ColumnId::ago,
    ColumnId::trace_name,
    ColumnId::peak_rate,
    ColumnId::bandwidth_gbs,
    ColumnId::memory_gb,
    ColumnId::units,
    ColumnId::mhz,
    ColumnId::tensor_mhz,
    ColumnId::link,
    ColumnId::date,
    ColumnId::addresses,
    ColumnId::named,
    ColumnId::lined,
    ColumnId::embedded,
    ColumnId::build_id,
    ColumnId::lines_from,
    ColumnId::functions_from,
    ColumnId::missing,
    ColumnId::verdict,
    ColumnId::delta,
    ColumnId::count_effect,
    ColumnId::speed_effect,
    ColumnId::speed_percent,
    ColumnId::p,
    ColumnId::false_discovery_rate,
    ColumnId::gate_rule,
    ColumnId::gate_status,
    ColumnId::change_percent,
    ColumnId::change_low_percent,
    ColumnId::change_high_percent,
    ColumnId::tested,
    ColumnId::failing,
    ColumnId::undecided,
    ColumnId::gate_reason,
    ColumnId::launch_shape,
    ColumnId::shapes,
};

TEST(ReportColumns, EveryColumnOfTheCatalogueIsShownByATable) {
  std::set<ColumnId> shown(std::begin(kOfVerbs), std::end(kOfVerbs));
  for (const Report& each : kReports) {
    for (const ColumnId column : each.columns) {
      EXPECT_EQ(std::count(each.columns.begin(), each.columns.end(), column), 1)
          << each.name << " names " << column_info(column).key << " more than once";
      shown.insert(column);
    }
  }
  for (const ColumnInfo& column : kColumns) {
    if (column.tool == "nvprof") continue;  // of prof summary
    EXPECT_TRUE(shown.contains(column.id)) << column.key << " (" << column.tool << ")";
  }
}

// With each word of --definitions and --group-by: run_report() refuses a table with a column that the row does not
// name.
TEST(ReportColumns, TablesHaveTheColumnsOfTheirRow) {
  HandTrace hand;
  hand.range("step", 50, 300);
  hand.launch(100, 110, 1);
  hand.kernel(120, 200, 1);
  hand.finish();
  const std::map<std::string_view, Definitions> definitions{
      {"ours", Definitions::Ours},           {"reference", Definitions::Reference}, {"hta", Definitions::Hta},
      {"tracelens", Definitions::TraceLens}, {"nsys", Definitions::Nsys},           {"tb", Definitions::TensorBoard},
      {"gap-cause", Definitions::GapCause}};
  size_t tables = 0;
  const auto run = [&](const Report& each, const ReportOptions& options) {
    SCOPED_TRACE(each.name);
    const Table table = run_report(each, {hand.trace, hand.views(), hand.selection, options});
    EXPECT_FALSE(table.columns().empty());
    EXPECT_EQ(table.name(), each.name);
    ++tables;
  };
  for (const Report& each : kReports) {
    run(each, {});
    for (const TakenOption& option : options_of(each)) {
      for (const std::string_view word : option.words) {
        ReportOptions options;
        if (option.flag == "--definitions") options.definitions = definitions.at(word);
        if (option.flag == "--group-by") options.group_by = {word == "stack:N" ? "stack:2" : std::string(word)};
        if (option.flag == "--metric" && (word.find('_') == std::string_view::npos || each.name == "stacks"))
          options.metric = word;
        run(each, options);
      }
      if (option.flag == "--peaks") {
        ReportOptions options;
        options.peaks = true;
        run(each, options);
      }
    }
  }
  EXPECT_GT(tables, std::size(kReports));
}

}  // namespace
}  // namespace prof::analyzer
