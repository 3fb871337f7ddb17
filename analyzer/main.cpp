// prof: the table of its verbs. What a verb does is in command/<verb>.cpp.
#include "analyzer/command/command.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

constexpr void (*kVerbs[])(CLI::App&, Run&) = {
    add_record, add_doctor,    add_check,   add_dump, add_trace, add_summary,
    add_report, add_symbolize, add_devices, add_diff, add_ctl,
};

int run_prof(int argc, char** argv) {
  CLI::App app(
      "Where did the GPU time of this program go?\n"
      "  prof record -- ./app        run a program and record it\n"
      "  prof summary prof.*.plog    where its GPU time went\n"
      "  prof trace prof.*.plog      a trace for ui.perfetto.dev or chrome://tracing",
      "prof");
  app.set_version_flag("--version", PROF_VERSION);
  app.require_subcommand(1);
  Run run;
  for (const auto verb : kVerbs) verb(app, run);
  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    drop_separator(words);
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kComplete : kUnusable;  // prints help, version or what was wrong
  }
  return run();
}

}  // namespace
}  // namespace prof::analyzer

int main(int argc, char** argv) {
  try {
    return prof::analyzer::run_prof(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "prof: %s\n", error.what());
    return prof::analyzer::kUnusable;
  }
}
