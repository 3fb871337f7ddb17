// prof summary LOG…: where the time went, as nvprof printed it.
#include "analyzer/command/command.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/table_options.h"
#include "analyzer/output/nvprof_text.h"

#include <cstdio>
#include <memory>

namespace prof::analyzer {

namespace {

struct SummaryArguments {
  std::vector<std::string> inputs;
  TableOptions table;
  SummaryOptions summary;
  bool gpu = false, api = false, nvtx = false, per_device = false, per_stream = false;
};

int run_summary(SummaryArguments options) {
  ignore_broken_pipes();
  const std::unique_ptr<Trace> trace = read_inputs(options.inputs);
  const KernelNames names(*trace);
  SummaryOptions& summary = options.summary;
  const bool chosen = options.gpu || options.api;
  summary.gpu = chosen ? options.gpu : !options.nvtx;
  summary.api = chosen ? options.api : !options.nvtx;
  summary.nvtx = options.nvtx;
  if (options.per_device) summary.group = GroupBy::Device;
  if (options.per_stream) summary.group = GroupBy::Stream;
  Sink sink(options.table.output);
  if (options.table.format == TableFormat::Text) {
    write_nvprof_text(*trace, names, summary, sink);
  } else {
    write_table(summary_table(*trace, names, summary), options.table.format, options.table.unit, sink);
    if (options.table.format == TableFormat::Csv) std::fprintf(stderr, "prof: %s\n", coverage_line(*trace).c_str());
  }
  sink.close();
  return tell_damage(*trace);
}

}  // namespace

void add_summary(CLI::App& app, Run& run) {
  CLI::App* const verb =
      app.add_subcommand("summary", "where the time went, by kernel and by call, as nvprof printed it");
  const auto options = std::make_shared<SummaryArguments>();
  verb->add_option("LOG", options->inputs, "logs; one block for each process")->required();
  verb->add_flag("--gpu", options->gpu, "GPU activities");
  verb->add_flag("--api", options->api, "CUDA calls");
  verb->add_flag("--nvtx", options->nvtx, "NVTX ranges");
  verb->add_flag("--median", options->summary.median, "a Median column");
  verb->add_flag("--stddev", options->summary.stddev, "a StdDev column (sample)");
  verb->add_flag("--per-device", options->per_device, "GPU activities of each device");
  verb->add_flag("--per-stream", options->per_stream, "GPU activities of each stream");
  add_names_option(*verb, options->summary.names);
  options->table.add_to(*verb);
  verb->callback([options, &run] { run = [options] { return run_summary(*options); }; });
}

}  // namespace prof::analyzer
