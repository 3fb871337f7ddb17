// prof summary LOG…: where the time went, as nvprof printed it.
#include "analyzer/command/command.h"
#include "analyzer/command/input_list.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/selection_options.h"
#include "analyzer/command/table_options.h"
#include "analyzer/output/nvprof_text.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace prof::analyzer {

namespace {

struct SummaryArguments {
  std::vector<std::string> inputs;
  TableOptions table;
  SummaryOptions summary;
  Selection selection;
  size_t limit = 0;
  bool limit_given = false;
  bool gpu = false, api = false, nvtx = false, per_device = false, per_stream = false;
};

int run_summary(SummaryArguments options) {
  ignore_broken_pipes();
  const TableForm form = options.table.answer_form("summary");
  const OutputOptions& output = options.table.output;
  options.inputs = input_files(options.inputs);
  check_output(output.path, output.force, options.inputs);
  const std::unique_ptr<Trace> trace = read_inputs(options.inputs);
  options.selection.find_processes(*trace);
  const KernelNames names(*trace);
  SummaryOptions& summary = options.summary;
  summary.processes = options.selection.processes;
  const bool chosen = options.gpu || options.api;
  summary.gpu = chosen ? options.gpu : !options.nvtx;
  summary.api = chosen ? options.api : !options.nvtx;
  summary.nvtx = options.nvtx;
  if (options.per_device) summary.group = GroupBy::Device;
  if (options.per_stream) summary.group = GroupBy::Stream;
  Sink sink(output.path);
  if (form == TableForm::Text) {
    constexpr size_t kRowsOnTerminal = 20;
    NvprofLook look;
    look.width = output.terminal_columns();
    look.rows = options.limit_given ? options.limit : look.width != 0 ? kRowsOnTerminal : 0;
    write_nvprof_text(*trace, names, summary, look, sink);
  } else {
    Table table = summary_table(*trace, names, summary);
    if (options.limit != 0 && table.rows() > options.limit) {
      table.notes.push_back(fmt::format("first {} of {} rows", options.limit, table.rows()));
      table.limit(options.limit);
    }
    write_document(table, form, options.table.unit, sink);
    if (form == TableForm::Csv) std::fprintf(stderr, "prof: %s\n", coverage_line(*trace).c_str());
  }
  sink.close();
  return tell_damage(*trace);
}

}  // namespace

void add_summary(CLI::App& app, Run& run) {
  CLI::App* const verb =
      app.add_subcommand("summary", "where the time went, by kernel and by call, as nvprof printed it");
  const auto options = std::make_shared<SummaryArguments>();
  verb->add_option("LOG", options->inputs, "logs, folders of logs, @list; one block for each process")->required();
  verb->add_flag("--gpu", options->gpu, "GPU activities");
  verb->add_flag("--api", options->api, "CUDA calls");
  verb->add_flag("--nvtx", options->nvtx, "NVTX ranges");
  verb->add_flag("--median", options->summary.median, "a Median column");
  verb->add_flag("--stddev", options->summary.stddev, "a StdDev column (sample)");
  verb->add_flag("--per-device", options->per_device, "GPU activities of each device");
  verb->add_flag("--per-stream", options->per_stream, "GPU activities of each stream");
  verb->add_option("--limit", options->limit, "most rows of each block; 0: all. Without it 20 on a terminal, else all")
      ->check(whole_number(0))
      ->option_text("N");
  add_names_option(*verb, options->summary.names);
  add_process_options(*verb, options->selection);
  options->table.add_to(*verb, kTableForms);
  verb->callback([options, verb, &run] {
    options->limit_given = verb->count("--limit") != 0;
    run = [options] { return run_summary(*options); };
  });
}

}  // namespace prof::analyzer
