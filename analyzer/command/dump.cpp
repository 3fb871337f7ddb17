// prof dump: prints a log as text, line by line. For readers who look for one record, and for tests, which convert text
// into logs.
#include "analyzer/base/sink.h"
#include "analyzer/command/command.h"
#include "analyzer/command/inputs.h"
#include "analyzer/command/output_options.h"
#include "analyzer/command/progress.h"
#include "analyzer/input/log/log_text.h"
#include "analyzer/output/forms.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

namespace prof::analyzer {

namespace {

int dump(const std::string& path, const OutputOptions& output) {
  ignore_broken_pipes();
  void(choose_form(kDumpForms, "a dump", "", output.path));
  check_output(output.path, output.force, {&path, 1});
  const LogOpenResult opened = LogFile::open(path);
  if (!opened) {
    std::fprintf(stderr, "prof dump: %s\n", opened.error.text(path).c_str());
    return kUnusable;
  }
  {
    ProgressLine progress("dumping");
    Sink sink(output.path);
    write_log_text(*opened.log, sink, [&](double share) { progress.share(share); });
    sink.close();
  }
  if (!opened.log->damage().empty()) {
    std::fprintf(stderr, "prof dump: %s is damaged in %zu places; `prof check` lists them\n", path.c_str(),
                 opened.log->damage().size());
    return kPartial;
  }
  return kComplete;
}

}  // namespace

void add_dump(CLI::App& app, Run& run) {
  struct Options {
    std::string log;
    OutputOptions output;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* const verb = app.add_subcommand("dump", "print a log as text, one line a record");
  verb->add_option("LOG", options->log, "a log, plain or .gz")->required();
  options->output.add_to(*verb, "file to write instead of stdout, .txt or .log; .gz compresses");
  verb->footer(
      "Examples:\n"
      "  prof dump prof.42.plog | grep kernel_launch | head\n"
      "  prof dump prof.42.plog -o log.txt.gz\n"
      "The text is complete: every byte of the log can be made from it again. Columns are documented in "
      "docs/log_format.md.\n"
      "Exit status: 0 complete, 1 the log is damaged, 2 no log or no output.");
  verb->callback([&run, options] { run = [options] { return dump(options->log, options->output); }; });
}

}  // namespace prof::analyzer
