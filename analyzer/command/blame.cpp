// prof blame INPUT…: which rank holds a job that hangs, was killed or is running.
#include "analyzer/analysis/collectives/rank_blame.h"
#include "analyzer/base/sink.h"
#include "analyzer/command/command.h"
#include "analyzer/command/input_list.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/symbol_options.h"
#include "analyzer/command/table_options.h"
#include "analyzer/reports/run_report.h"

#include <fmt/format.h>

#include <memory>
#include <set>

namespace prof::analyzer {

namespace {

constexpr int kNoDifference = 0, kCulprit = kFailedIf, kCannotTell = kUndecided;

struct BlameArguments {
  std::vector<std::string> inputs;
  TableOptions table;
  StackOptions stacks;
  double after_s = 1;
};

Table rank_rows(const Blame& blame) {
  Table table("blame", "The last collective of each rank");
  table.add_columns({ColumnId::communicator, ColumnId::communicator_rank, ColumnId::ranks, ColumnId::pid,
                     ColumnId::state, ColumnId::collective_number, ColumnId::last_collective, ColumnId::ago,
                     ColumnId::note});
  for (const BlameCommunicator& communicator : blame.communicators) {
    for (const BlameRank& rank : communicator.of_rank) {
      Table::Row row = table.row();
      row.add(std::string_view(communicator.name)).add(rank.rank).add_if(communicator.ranks != 0, communicator.ranks);
      if (rank.process == kNone) {
        row.empty();
      } else {
        row.add_owner(rank.process);
      }
      row.add(state_name(rank.state)).add(rank.number).add_text(rank.collective).add(rank.ago_ns).add_text(rank.note);
    }
  }
  return table;
}

Table finding_rows(const Blame& blame) {
  Table table("findings", "Ranks that hold the others");
  table.add_columns(
      {ColumnId::kind, ColumnId::communicator, ColumnId::communicator_rank, ColumnId::pid, ColumnId::finding});
  for (const BlameFinding& finding : blame.findings) {
    table.row()
        .add(finding_name(finding.kind))
        .add(std::string_view(finding.communicator))
        .add(finding.rank)
        .add_owner(finding.process)
        .add(std::string_view(finding.text));
  }
  return table;
}

// Of the processes that hold the others.
Table thread_rows(const Blame& blame, const Trace& trace, const Views& views) {
  Table table("threads", "Where their threads were at the end of the logs");
  table.add_columns({ColumnId::pid, ColumnId::tid, ColumnId::thread_name, ColumnId::where, ColumnId::stack});
  std::set<uint32_t> done;
  for (const BlameFinding& finding : blame.findings) {
    if (!done.insert(finding.process).second) continue;
    for (const ThreadPlace& place : thread_places(trace, views, finding.process, kNone)) {
      const Thread& thread = trace.threads[place.thread];
      table.row()
          .add_owner(finding.process)
          .add(thread.tid)
          .add_text(thread.name)
          .add(std::string_view(place.text))
          .add_text(place.stack);
    }
  }
  return table;
}

std::string verdict(const Blame& blame) {
  if (!blame.findings.empty()) return fmt::format("{} findings", blame.findings.size());
  return blame.unknown.empty() ? "no rank differs from the others" : "it cannot be told which rank holds the job";
}

int run_blame(BlameArguments options) {
  ignore_broken_pipes();
  const TableForm form = options.table.answer_form("blame");
  const OutputOptions& output = options.table.output;
  options.inputs = input_files(options.inputs);
  check_output(output.path, output.force, options.inputs);
  const std::unique_ptr<Trace> trace = read_inputs(options.inputs);
  const Views views(*trace, {}, options.stacks);
  const Blame blame = find_blame(*trace, views, static_cast<int64_t>(options.after_s * 1e9));
  Table table = rank_rows(blame);
  for (const BlameFinding& finding : blame.findings) table.notes.push_back(finding.text);
  if (blame.findings.empty()) table.notes.push_back(verdict(blame));
  for (const std::string& text : blame.unknown) table.notes.push_back("not known: " + text);
  table.notes.insert(table.notes.end(), blame.notes.begin(), blame.notes.end());
  name_owners(*trace, owners_shown(form), table);
  if (!blame.findings.empty() || form == TableForm::Json) {
    table.parts.push_back(finding_rows(blame));
    table.parts.push_back(thread_rows(blame, *trace, views));
    for (Table& part : table.parts) {
      name_owners(*trace, owners_shown(form), part);
      part.notes.clear();  // those of the first table
    }
  }
  table.coverage = fmt::format("calls of NCCL {}, communicators {}; {}", blame.collectives, blame.communicators.size(),
                               verdict(blame));
  Sink sink(output.path);
  write_document(table, form, options.table.unit, sink, output.terminal_columns());
  sink.close();
  tell_damage(*trace);
  return !blame.findings.empty() ? kCulprit : !blame.unknown.empty() ? kCannotTell : kNoDifference;
}

}  // namespace

void add_blame(CLI::App& app, Run& run) {
  CLI::App* const verb = app.add_subcommand("blame", "which rank holds a job that hangs, was killed or is running");
  const auto options = std::make_shared<BlameArguments>();
  verb->add_option("LOG", options->inputs, "logs of the ranks, folders of logs, @list")->required();
  verb->add_option("--after", options->after_s, "others must have waited at least so long for a rank")
      ->check(decimal_number(0, 1e6))
      ->option_text("SECONDS=1");
  options->table.add_to(*verb, kTableForms);
  add_symbol_options(*verb, options->stacks);
  verb->footer(
      "Record with prof record --collectives 1 -- PROGRAM.\n"
      "Exit status: 0 no rank differs, 3 a rank is named, 4 it cannot be told, 2 no usable input. Damage of an input "
      "alone changes none of them.");
  verb->callback([options, &run] { run = [options] { return run_blame(*options); }; });
}

}  // namespace prof::analyzer
