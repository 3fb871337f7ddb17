// prof help [VERB] and prof version. prepare_words() rewrites `prof help VERB` to `prof VERB --help`, so the verb
// `help` only appears in lists.
#include "analyzer/command/command.h"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace prof::analyzer {

void add_help(CLI::App& app, Run& /*run*/) {
  app.add_subcommand("help", "print this help, or that of a verb or report: prof help VERB");
}

void add_version(CLI::App& app, Run& run) {
  CLI::App* const verb = app.add_subcommand("version", "print the version of prof");
  verb->callback([&run] {
    run = [] {
      std::puts(PROF_VERSION);
      return kComplete;
    };
  });
}

}  // namespace prof::analyzer
