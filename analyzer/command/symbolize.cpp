// prof symbolize LOG…: which native frames of a log's stacks can be named here, per module? With --embed, the names
// are added to the log.
#include "analyzer/base/sink.h"
#include "analyzer/command/command.h"
#include "analyzer/command/input_list.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/progress.h"
#include "analyzer/command/symbol_options.h"
#include "analyzer/command/table_options.h"
#include "analyzer/input/log/build/builder.h"
#include "analyzer/input/log/log_embed.h"
#include "analyzer/symbols/cubins_of_log.h"

#include "preload/format/kept_cubins.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace prof::analyzer {

namespace {

struct SymbolizeArguments {
  std::vector<std::string> logs;
  TableOptions table;
  SymbolOptions symbols;
  bool embed = false;
};

Table module_table(const Trace& trace, const Symbols& symbols) {
  Table table("symbolize", "Native frames by module, and what they are named by");
  table.add_columns({ColumnId::addresses, ColumnId::named, ColumnId::lined, ColumnId::embedded, ColumnId::module,
                     ColumnId::build_id, ColumnId::lines_from, ColumnId::functions_from, ColumnId::missing});
  uint64_t addresses = 0, named = 0, lined = 0;
  for (const ModuleSymbols& each : symbols.modules()) {
    const Module& module = trace.stacks[each.module];
    Table::Row row = table.row();
    row.add(each.addresses).add(each.named).add(each.lined).add(each.embedded);
    row.add(each.module == ModuleId{} ? "(no file)" : trace.text(module.path)).add(trace.text(module.build_id));
    row.add(std::string_view(each.files.lines)).add(std::string_view(each.files.functions));
    row.add(each.lined == each.addresses ? std::string_view() : std::string_view(each.problem));
    addresses += each.addresses;
    named += each.named;
    lined += each.lined;
  }
  table.notes.push_back(fmt::format("{} stacks, {} native frames: {} with a function, {} with a line",
                                    trace.stacks.size() - 1, addresses, named, lined));
  return table;
}

// Where the cubins of a log with PC samples go, if the log gets another name; empty: nowhere.
std::string cubins_output(const Trace& trace, const std::string& log, const OutputOptions& to) {
  const std::vector<PcCubin>& cubins = trace.pc_samples.cubins;
  const bool kept = std::any_of(cubins.begin(), cubins.end(), [](const PcCubin& cubin) { return cubin.kept; });
  if (!kept || to.is_stdout() || to.path == log) return {};
  std::error_code error;
  if (!std::filesystem::exists(log + format::kCubinFileEnding, error)) {
    std::fprintf(stderr, "prof: %s%s: not found; PC samples of %s will have no lines\n", log.c_str(),
                 format::kCubinFileEnding, to.path.c_str());
    return {};
  }
  return to.path + format::kCubinFileEnding;
}

int embed(const SymbolizeArguments& options) {
  for (const std::string& path : options.logs) {
    const LogOpenResult opened = LogFile::open(path);
    if (!opened) throw std::runtime_error(opened.error.text(path));
    const std::unique_ptr<Trace> trace = read_inputs({path});
    const Symbols symbols(*trace, options.symbols);
    const OutputOptions& to = options.table.output;
    const std::string output = to.is_stdout() ? path : to.path;
    if (!to.is_stdout()) {
      void(choose_form(kLogForms, "a log", "", to.path));
      check_output(to.path, to.force, options.logs);
    }
    const std::string cubins = cubins_output(*trace, path, to);
    const std::string read[] = {path, path + format::kCubinFileEnding};
    if (!cubins.empty() && KeptCubins(to.path).size() == 0) check_output(cubins, to.force, read);
    struct stat status {};
    const bool known = stat(path.c_str(), &status) == 0;
    Sink sink(output);
    const EmbedResult result = write_with_symbols(*opened.log, *trace, symbols, sink);
    sink.close();
    if (known && output == path) chmod(output.c_str(), status.st_mode & 07777);
    std::fprintf(stderr, "prof: %s: %llu addresses named in the log, %llu bytes more\n", output.c_str(),
                 static_cast<unsigned long long>(result.addresses),
                 static_cast<unsigned long long>(result.bytes_after - result.bytes_before));
    if (!cubins.empty()) {
      std::error_code error;
      std::filesystem::copy_file(path + format::kCubinFileEnding, cubins,
                                 std::filesystem::copy_options::overwrite_existing, error);
      if (error) throw std::runtime_error(fmt::format("{}: {}", cubins, error.message()));
      std::fprintf(stderr, "prof: %s: the cubins of the log's PC samples\n", cubins.c_str());
    }
    for (const std::string& note : symbols.notes(*trace)) std::fprintf(stderr, "prof: %s\n", note.c_str());
  }
  return kComplete;
}

int run_symbolize(const SymbolizeArguments& options) {
  ignore_broken_pipes();
  if (options.embed) {
    if (options.logs.size() > 1 && !options.table.output.is_stdout())
      throw std::runtime_error("--embed -o FILE: one log at a time");
    return embed(options);
  }
  const TableForm form = options.table.answer_form("symbolize");
  const OutputOptions& output = options.table.output;
  check_output(output.path, output.force, options.logs);
  const std::unique_ptr<Trace> trace = read_inputs(options.logs);
  auto progress = std::make_unique<ProgressLine>("searching symbols");
  const Symbols symbols(*trace, options.symbols);
  progress.reset();
  Table table = module_table(*trace, symbols);
  table.coverage = coverage_line(*trace);
  Sink sink(output.path);
  write_document(table, form, options.table.unit, sink, output.terminal_columns());
  sink.close();
  return tell_damage(*trace);
}

}  // namespace

void add_symbolize(CLI::App& app, Run& run) {
  CLI::App* const verb =
      app.add_subcommand("symbolize", "which native frames have names here; --embed puts the names into the log");
  const auto options = std::make_shared<SymbolizeArguments>();
  verb->add_option("LOG", options->logs, "logs with call stacks, folders of them, @list")->required();
  verb->add_flag("--embed", options->embed,
                 "write the names into the log itself (or into -o FILE), to be read on other machines");
  options->table.add_to(*verb, kTableForms);
  add_symbol_search(*verb, options->symbols);
  verb->footer(
      "Examples:\n"
      "  prof symbolize prof.42.plog                          what has a name here, and what is missing\n"
      "  prof symbolize --embed prof.42.plog                  before the log goes to another machine\n"
      "  prof symbolize --symbol-path build/ prof.42.plog     debug files that lie elsewhere\n"
      "Exit status: 0 complete, 1 the log is damaged, 2 no log or no output.");
  verb->callback([options, &run] {
    run = [options] {
      options->logs = input_files(options->logs);
      return run_symbolize(*options);
    };
  });
}

}  // namespace prof::analyzer
