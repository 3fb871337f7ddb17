// Prints the completion script of a shell: print_completion bash|zsh|fish. Verbs, options and their words come from the
// parser; names and words of reports come from reports.def. The build runs it.
#include "analyzer/command/choices.h"
#include "analyzer/command/verbs.h"
#include "analyzer/reports/reports.h"
#include "analyzer/reports/taken_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace prof::analyzer;

struct CompletedOption {
  std::vector<std::string> names;  // "-o", "--output"
  std::string description;
  std::vector<std::string> words;
  bool takes_value = false;
};

struct CompletedVerb {
  std::string name, description;
  std::vector<CompletedOption> options;
  std::vector<std::string> words;  // of arguments that are no options
};

void add_once(std::vector<std::string>& words, const std::string& word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
}

// The words of an option that differ between reports: those of all reports.
void add_report_words(CompletedOption& option) {
  for (const Report& report : kReports) {
    for (const TakenOption& taken : options_of(report)) {
      if (std::find(option.names.begin(), option.names.end(), taken.flag) == option.names.end()) continue;
      for (const std::string_view word : taken.words) {
        if (!word.ends_with(":N")) add_once(option.words, std::string(word));
      }
    }
  }
}

std::vector<CompletedVerb> completed_verbs() {
  CLI::App app;
  Run run;
  add_verbs(app, run);
  std::vector<CompletedVerb> completed;
  for (const Verb& verb : verbs()) {
    CLI::App& parser = *app.get_subcommand(std::string(verb.name));
    CompletedVerb& into = completed.emplace_back();
    into.name = verb.name;
    into.description = parser.get_description();
    for (const CLI::Option* const option : static_cast<const CLI::App&>(parser).get_options()) {
      if (option->get_group().empty()) continue;  // hidden
      CompletedOption known;
      for (const std::string& name : option->get_snames()) known.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) known.names.push_back("--" + name);
      known.description = option->get_description();
      known.takes_value = option->get_expected_max() > 0;
      known.words = words_of(*option);
      if (option->get_positional()) {
        for (const std::string& word : known.words) add_once(into.words, word);
        continue;
      }
      if (verb.name == "report") add_report_words(known);
      into.options.push_back(std::move(known));
    }
    if (verb.name == "report") {
      for (const Report& report : kReports) into.words.emplace_back(report.name);
    }
    if (verb.name == "help") into.words = verb_names();
  }
  return completed;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::string all_names(const CompletedVerb& verb) {
  std::string names;
  for (const CompletedOption& option : verb.options) names += (names.empty() ? "" : " ") + joined(option.names);
  return names;
}

// The pattern of a case: verb and name of the option, "trace --arrows".
std::string option_pattern(const CompletedVerb& verb, const CompletedOption& option) {
  std::string pattern;
  for (const std::string& name : option.names)
    pattern += fmt::format("{}\"{} {}\"", pattern.empty() ? "" : "|", verb.name, name);
  return pattern;
}

void print_bash(const std::vector<CompletedVerb>& completed) {
  fmt::print(
      "# Completion of prof for bash.\n"
      "_prof() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} verb=${{COMP_WORDS[1]}} i words=\n"
      "  [[ $cur != = ]] || cur=\n"
      "  [[ $prev != = ]] || prev=${{COMP_WORDS[COMP_CWORD-2]}}\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))\n"
      "    return\n"
      "  fi\n"
      "  for ((i = 2; i < COMP_CWORD; i++)); do  # the program of record and doctor, and its arguments\n"
      "    if [[ ${{COMP_WORDS[i]}} == -- ]]; then\n"
      "      if ((i + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -f -- \"$cur\")); fi\n"
      "      return\n"
      "    fi\n"
      "  done\n"
      "  case \"$verb $prev\" in\n",
      joined(verb_names()));
  for (const CompletedVerb& verb : completed) {
    for (const CompletedOption& option : verb.options) {
      if (!option.takes_value) continue;
      fmt::print("    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n", option_pattern(verb, option),
                 joined(option.words));
    }
  }
  fmt::print("  esac\n  case $verb in\n");
  for (const CompletedVerb& verb : completed) {
    fmt::print("    {}) if [[ $cur == -* ]]; then words=\"{}\"; else words=\"{}\"; fi ;;\n", verb.name, all_names(verb),
               joined(verb.words));
  }
  fmt::print(
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "  [[ $cur == -* || $verb == help ]] || COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
      "}}\n"
      "complete -o default -o filenames -F _prof prof\n");
}

// In single quotes.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char each : text) out += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return out + "'";
}

void print_zsh(const std::vector<CompletedVerb>& completed) {
  fmt::print(
      "#compdef prof\n"
      "# Completion of prof for zsh.\n"
      "_prof() {{\n"
      "  local verb=$words[2] prev=$words[CURRENT-1]\n"
      "  if ((CURRENT == 2)); then\n"
      "    local -a verbs=(\n");
  for (const CompletedVerb& verb : completed)
    fmt::print("      {}\n", in_quotes(fmt::format("{}:{}", verb.name, verb.description)));
  fmt::print(
      "    )\n"
      "    _describe verb verbs\n"
      "    return\n"
      "  fi\n"
      "  local separator=$words[(i)--]\n"
      "  if ((separator < CURRENT)); then\n"
      "    if ((separator + 1 == CURRENT)); then _command_names -e; fi\n"
      "    _files\n"
      "    return\n"
      "  fi\n"
      "  case \"$verb $prev\" in\n");
  for (const CompletedVerb& verb : completed) {
    for (const CompletedOption& option : verb.options) {
      if (!option.takes_value) continue;
      const std::string action = option.words.empty() ? "_files" : "compadd -- " + joined(option.words);
      fmt::print("    {}) {}; return ;;\n", option_pattern(verb, option), action);
    }
  }
  fmt::print("  esac\n  case $verb in\n");
  for (const CompletedVerb& verb : completed) {
    fmt::print("    {}) if [[ $PREFIX == -* ]]; then compadd -- {}; else {}; fi ;;\n", verb.name, all_names(verb),
               verb.words.empty() ? "_files" : fmt::format("compadd -- {}; _files", joined(verb.words)));
  }
  fmt::print("  esac\n}}\n_prof \"$@\"\n");
}

void print_fish(const std::vector<CompletedVerb>& completed) {
  fmt::print("# Completion of prof for fish.\n");
  for (const CompletedVerb& verb : completed) {
    fmt::print("complete -c prof -n __fish_use_subcommand -f -a {} -d {}\n", verb.name, in_quotes(verb.description));
    const std::string seen = in_quotes("__fish_seen_subcommand_from " + verb.name);
    for (const CompletedOption& option : verb.options) {
      fmt::print("complete -c prof -n {}", seen);
      for (const std::string& name : option.names) {
        const bool is_long = name.starts_with("--");
        fmt::print(" -{} {}", is_long ? "l" : "s", name.substr(is_long ? 2 : 1));
      }
      if (!option.words.empty()) {
        fmt::print(" -x -a {}", in_quotes(joined(option.words)));
      } else if (option.takes_value) {
        fmt::print(" -r");
      }
      fmt::print(" -d {}\n", in_quotes(option.description));
    }
    if (!verb.words.empty()) fmt::print("complete -c prof -n {} -a {}\n", seen, in_quotes(joined(verb.words)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view shell = argc == 2 ? argv[1] : "";
  const std::vector<CompletedVerb> completed = completed_verbs();
  if (shell == "bash") {
    print_bash(completed);
  } else if (shell == "zsh") {
    print_zsh(completed);
  } else if (shell == "fish") {
    print_fish(completed);
  } else {
    std::fputs("usage: print_completion bash|zsh|fish\n", stderr);
    return 2;
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
