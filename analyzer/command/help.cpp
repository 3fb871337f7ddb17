// prof help [VERB] and prof version. prepare_words() rewrites `prof help VERB` to `prof VERB --help`, so the verb
// `help` only appears in lists.
#include "analyzer/command/command.h"
#include "preload/format/block.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace prof::analyzer {

void add_help(CLI::App& app, Run& /*run*/) {
  app.add_subcommand("help", "print this help, or that of a verb or report: prof help VERB");
}

void add_version(CLI::App& app, Run& run) {
  CLI::App* const verb =
      app.add_subcommand("version", "print the version, the commit and the versions of logs it reads");
  verb->callback([&run] {
    run = [] {
      fmt::print("{}\ncommit {}\nreads logs of versions 1 to {}\n", PROF_VERSION, built_commit, format::kFormatVersion);
      return kComplete;
    };
  });
}

}  // namespace prof::analyzer
