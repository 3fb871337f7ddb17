// prof: parses the command line and runs a verb. Each verb is implemented in command/<verb>.cpp.
#include "analyzer/base/json/json_text.h"
#include "analyzer/base/sink.h"
#include "analyzer/command/command.h"
#include "analyzer/command/help_text.h"
#include "analyzer/command/usage.h"
#include "analyzer/command/verbs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace prof::analyzer {

extern const char kBuiltCommit[];  // written by the build

namespace {

// The reader of stdout is gone: ends like every program that writes to a closed pipe.
int end_silently() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  return kUnusable;
}

int run_prof(int argc, char** argv) {
  CLI::App app(
      "Where did the GPU time of this program go?\n"
      "  prof record -- ./app        run a program and record it\n"
      "  prof summary prof.*.plog    where its GPU time went\n"
      "  prof trace prof.*.plog      a trace for ui.perfetto.dev or chrome://tracing",
      "prof");
  app.set_version_flag("--version", PROF_VERSION);
  app.require_subcommand(1);
  built_commit = kBuiltCommit;
  Run run;
  add_verbs(app, run);
  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    prepare_words(words);
    std::reverse(words.begin(), words.end());  // the order that CLI11 requires
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", wrapped(app.help(), terminal_width()));
    return kComplete;
  } catch (const CLI::CallForVersion& version) {
    fmt::print("{}\n", version.what());
    return kComplete;
  } catch (const CLI::ParseError& error) {
    throw std::runtime_error(usage_message(app, error));
  }
  return run();
}

// What is still in the buffer of stdout would be lost in silence if it were written only at the exit.
void flush_stdout() {
  if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "stdout");
}

}  // namespace
}  // namespace prof::analyzer

int main(int argc, char** argv) {
  try {
    const int status = prof::analyzer::run_prof(argc, argv);
    prof::analyzer::flush_stdout();
    return status;
  } catch (const std::bad_alloc&) {
    std::string files;
    for (int i = 1; i < argc; ++i) {
      struct stat info {};
      if (stat(argv[i], &info) == 0 && S_ISREG(info.st_mode)) (files += ' ') += argv[i];
    }
    std::fprintf(stderr, "prof: there is not enough memory for the answer; files:%s\n",
                 prof::analyzer::readable_lines(files).c_str());
    return prof::analyzer::kUnusable;
  } catch (const prof::analyzer::BrokenPipe&) {
    return prof::analyzer::end_silently();
  } catch (const std::exception& error) {
    const auto* const system = dynamic_cast<const std::system_error*>(&error);  // of fmt::print
    if (system != nullptr && system->code().value() == EPIPE) return prof::analyzer::end_silently();
    std::fprintf(stderr, "prof: %s\n", prof::analyzer::readable_lines(error.what()).c_str());
    return prof::analyzer::kUnusable;
  }
}
