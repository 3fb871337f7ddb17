// prof dump: prints a log as text, line by line. For readers who look for one record, and for tests, which convert text
// into logs.
#include "analyzer/command/command.h"
#include "analyzer/input/log/log_text.h"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <memory>

namespace prof::analyzer {

namespace {

// Prints a line on the terminal, from the third second on.
class TerminalProgress {
 public:
  void operator()(double part) {
    if (!terminal_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    shown_ = true;
    std::fprintf(stderr, "\rprof dump: %.0f %%", part * 100);
  }
  void done() const {
    if (shown_) std::fprintf(stderr, "\r\x1b[K");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::seconds(2);
};

int dump(const std::string& path, const std::string& output) {
  const LogOpenResult opened = LogFile::open(path);
  if (!opened) {
    std::fprintf(stderr, "prof dump: %s\n", opened.error.text(path).c_str());
    return kUnusable;
  }
  TerminalProgress progress;
  Sink sink(output);
  write_log_text(*opened.log, sink, std::ref(progress));
  sink.close();
  progress.done();
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
    std::string output = "-";
  };
  const auto options = std::make_shared<Options>();
  CLI::App* const verb = app.add_subcommand("dump", "print a log as text, one line a record");
  verb->add_option("LOG", options->log, "a log, plain or .gz")->required();
  verb->add_option("-o,--output", options->output, "file to write instead of stdout; .gz compresses")
      ->capture_default_str();
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
