#include "analyzer/command/usage.h"

#include "analyzer/command/nearest.h"
#include "analyzer/command/verbs.h"
#include "analyzer/reports/reports.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace prof::analyzer {

namespace {

void check_verb(const std::string& word) {
  const std::vector<std::string> names = verb_names();
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  // The name of a report is no verb, but users expect it to be one.
  std::vector<std::string> reports;
  for (const Report& report : kReports) reports.emplace_back(report.name);
  const std::vector<std::string> near = nearest_names(word, reports);
  if (!near.empty() && (near.front() == word || nearest_names(word, names).empty())) {
    throw std::runtime_error(fmt::format(
        "unknown verb {}: did you mean report {}? (`prof report --list` lists the reports)", word, near.front()));
  }
  if (access(word.c_str(), F_OK) == 0) {
    throw std::runtime_error(fmt::format(
        "{} is a file; a verb comes first, as in prof summary {} (`prof help` lists the verbs)", word, word));
  }
  throw std::runtime_error(unknown_word("verb", word, names, "`prof help` lists the verbs"));
}

}  // namespace

void prepare_words(std::vector<std::string>& words) {
  if (words.empty() || words[0].starts_with('-')) return;
  check_verb(words[0]);
  if (words[0] == "help") {
    words.erase(words.begin());
    if (!words.empty() && !words[0].starts_with('-')) check_verb(words[0]);
    if (words.empty() || words.back() != "--help") words.emplace_back("--help");
    return;
  }
  drop_separator(words);
}

std::string unknown_option(const CLI::App& verb, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  return unknown_word("option", name, long_options(verb),
                      fmt::format("`prof help {}` lists the options", verb.get_name()));
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = const_cast<CLI::App&>(app).get_subcommands();
  const std::vector<std::string> before = app.remaining();
  if (!before.empty() && before.front().starts_with('-')) {
    return unknown_word("option", before.front(), long_options(app),
                        "options of a verb come after it; `prof help` lists the verbs");
  }
  if (chosen.empty()) return "no verb is given; `prof help` lists the verbs";
  const CLI::App& verb = *chosen.front();
  const std::string name = verb.get_name();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> rest = verb.remaining();
    for (const std::string& word : rest) {
      if (word.starts_with('-')) return unknown_option(verb, word);
    }
    if (!rest.empty())
      return fmt::format("{} does not take {} (`prof help {}` prints what it takes)", name, rest.front(), name);
  }
  std::string text = error.what();
  text.insert(std::min(text.find('\n'), text.size()), fmt::format(" (`prof help {}` describes it)", name));
  return text;
}

}  // namespace prof::analyzer
