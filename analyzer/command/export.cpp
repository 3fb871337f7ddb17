// prof export INPUT…: writes what was recorded as a database that readers of another tool open, or as tables.
#include "analyzer/command/choices.h"
#include "analyzer/command/command.h"
#include "analyzer/command/export_dataset.h"
#include "analyzer/command/input_list.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/output_options.h"
#include "analyzer/command/progress.h"
#include "analyzer/output/exporters.h"
#include "analyzer/output/forms.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <system_error>

namespace prof::analyzer {

namespace {

struct ExportArguments {
  std::vector<std::string> inputs;
  OutputOptions output{"", false};
  std::string format;
  DatasetOptions dataset;
  std::string align;
  CLI::Option* run = nullptr;
};

// Beside the first argument. A folder's database is not in the folder: the next export would read it.
std::string default_path(const std::string& argument, const std::vector<std::string>& inputs,
                         std::string_view extension) {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(argument, error);
  const std::string of = folder                                     ? std::filesystem::canonical(argument).string()
                         : std::filesystem::exists(argument, error) ? argument
                                                                    : inputs.front();
  return of + std::string(extension);
}

int run_export(const ExportArguments& options) {
  ignore_broken_pipes();
  if (!options.align.empty()) {
    if (!options.inputs.empty() || !options.format.empty() || !options.output.path.empty() ||
        !options.dataset.table.empty())
      throw std::runtime_error("--align DIR reads and writes DIR only: give no input, --format, --table or -o");
    return align_dataset(options.align, options.dataset.run);
  }
  if (options.inputs.empty()) throw std::runtime_error("INPUT is required: logs or traces, or --align DIR");
  const std::vector<Form> forms = export_forms();
  const Form& form = choose_form(forms, "an export", options.format, options.output.path);
  const std::vector<std::string> inputs = input_files(options.inputs);
  const std::string path =
      options.output.path.empty() ? default_path(options.inputs.front(), inputs, form.extension) : options.output.path;
  if (form.name == kParquetForm.name || form.name == kArrowForm.name) {
    DatasetOptions dataset = options.dataset;
    dataset.inputs = inputs;
    dataset.path = path;
    dataset.force = options.output.force;
    if (form.name == kParquetForm.name) return export_parquet(dataset);
    check_output(path, options.output.force, inputs);
    return export_arrow(dataset);
  }
  if (!options.dataset.table.empty() || options.run->count() != 0)
    throw std::runtime_error(
        fmt::format("--table and --run are for tables (--format parquet or arrow), not for {}", form.name));
  if (path.ends_with(".gz"))
    throw std::runtime_error(fmt::format("{}: a database is not compressed: its readers could not open it", path));
  check_output(path, options.output.force, inputs);
  const std::unique_ptr<Trace> trace = read_inputs(each_file_once(inputs));
  uint64_t rows = 0;
  std::vector<std::string> left_out;
  {
    const ProgressLine progress("writing " + path);
    DatabaseFile file(path);
    left_out = exporter_named(kDatabaseExporters, form.name)->write(*trace, file);
    rows = file.rows();
    file.close();
  }
  if (path != "-")
    std::fprintf(stderr, "prof: %s: %s, %llu rows\n", path.c_str(), std::string(form.name).c_str(),
                 static_cast<unsigned long long>(rows));
  for (const std::string& line : left_out) std::fprintf(stderr, "prof: %s\n", line.c_str());
  std::fprintf(stderr, "prof: %s\n", coverage_line(*trace).c_str());
  return tell_damage(*trace);
}

}  // namespace

void add_export(CLI::App& app, Run& run) {
  CLI::App* const verb = app.add_subcommand(
      "export", "write a database for readers of nsys or nvprof, or tables for DuckDB, Spark and pandas");
  const auto options = std::make_shared<ExportArguments>();
  verb->add_option("INPUT", options->inputs,
                   "logs, other tools' traces, folders of them, @list; several become one database or dataset");
  std::vector<std::string> words;
  for (const Form& form : export_forms()) words.emplace_back(form.name);
  verb->add_option("--format", options->format,
                   words_text(words) + "; without it, the end of the output file's name selects it")
      ->check(one_of(words))
      ->option_text("FORMAT=" + words.front());
  options->output.add_to(*verb,
                         "file, .sqlite or .nvprof, - for stdout; --format parquet: a folder (default: FIRST-INPUT" +
                             std::string(kDatabaseExporters.front().extension) + ")");
  options->run =
      verb->add_option("--run", options->dataset.run, "value of the column run in a dataset of Parquet files")
          ->option_text("NAME=" + options->dataset.run);
  verb->add_option("--table", options->dataset.table, "table that --format arrow writes")->option_text("NAME");
  verb->add_option("--align", options->align,
                   "measure the clocks of the hosts of a dataset that was written before, and write its table clocks")
      ->option_text("DIR");
  verb->callback([options, &run] { run = [options] { return run_export(*options); }; });
}

}  // namespace prof::analyzer
