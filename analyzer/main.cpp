// prof: the table of its verbs. Each verb is implemented in command/<verb>.cpp.
#include "analyzer/base/json/json_text.h"
#include "analyzer/command/command.h"
#include "analyzer/command/help_text.h"

#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

struct Verb {
  const char* group;  // heading in `prof --help`
  void (*add)(CLI::App&, Run&);
};
constexpr const char* kRecord = "Record";
constexpr const char* kAnswer = "Analyze logs, and traces of other tools";
constexpr const char* kInspect = "Inspect files and machines";
constexpr Verb kVerbs[] = {
    {kRecord, add_record}, {kRecord, add_ctl},        {kRecord, add_doctor},   {kAnswer, add_summary},
    {kAnswer, add_report}, {kAnswer, add_diff},       {kAnswer, add_trace},    {kInspect, add_check},
    {kInspect, add_dump},  {kInspect, add_symbolize}, {kInspect, add_devices},
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
  for (const Verb& verb : kVerbs) {
    verb.add(app, run);
    app.get_subcommands({}).back()->group(verb.group);
  }
  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    drop_separator(words);
    std::reverse(words.begin(), words.end());  // the order that CLI11 requires
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    std::fputs(wrapped(app.help(), terminal_width()).c_str(), stdout);
    return kComplete;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kComplete : kUnusable;  // prints the version or the error
  }
  return run();
}

}  // namespace
}  // namespace prof::analyzer

int main(int argc, char** argv) {
  try {
    return prof::analyzer::run_prof(argc, argv);
  } catch (const std::bad_alloc&) {
    std::string files;
    for (int i = 1; i < argc; ++i) {
      struct stat info {};
      if (stat(argv[i], &info) == 0 && S_ISREG(info.st_mode)) (files += ' ') += argv[i];
    }
    std::fprintf(stderr, "prof: there is not enough memory for the answer; files:%s\n",
                 prof::analyzer::readable_lines(files).c_str());
    return prof::analyzer::kUnusable;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "prof: %s\n", prof::analyzer::readable_lines(error.what()).c_str());
    return prof::analyzer::kUnusable;
  }
}
