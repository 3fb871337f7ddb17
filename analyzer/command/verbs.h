// The table of verbs: everything that lists verbs or their options reads it (help, messages, man pages, completion).
#pragma once

#include "analyzer/command/command.h"

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct Verb {
  std::string_view name;
  const char* group;  // heading in `prof --help`
  void (*add)(CLI::App&, Run&);
};
std::span<const Verb> verbs();
std::vector<std::string> verb_names();

// Adds every verb to the parser.
void add_verbs(CLI::App& app, Run& run);

// The long names of an option, such as --output; of a verb without hidden options.
std::vector<std::string> long_options(const CLI::App& verb);

}  // namespace prof::analyzer
