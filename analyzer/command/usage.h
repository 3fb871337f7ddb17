// The words of the command line before the parser sees them, and the messages about words that it does not take.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace prof::analyzer {

// Rewrites `help VERB ...` to `VERB ... --help`, and removes the "--" between the options of `record` or `doctor` and
// the program. Throws std::runtime_error if the first word is no verb.
void prepare_words(std::vector<std::string>& words);

// The message about a command line that the parser refused.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

// The message about an option that the verb does not have.
std::string unknown_option(const CLI::App& verb, const std::string& word);

}  // namespace prof::analyzer
