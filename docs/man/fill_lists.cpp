// Fills the lists of a man page from the lists in the code, so that each list exists once. The build runs it on every
// page: fill_lists < page.in > page. A line `.\" LIST WHAT` becomes the list. WHAT is verbs, flags, variables,
// counters, reports, or the name of a verb, for the options of its parser.
#include "analyzer/command/command.h"
#include "analyzer/command/recorder_library.h"
#include "analyzer/command/verbs.h"
#include "analyzer/reports/reports.h"
#include "preload/format/loss_counters.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

// roff reads '-' as a hyphen, '\' as an escape character, and a leading '.' or ''' as a request.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-' || c == '\\') out += '\\';
    out += c == '\\' ? 'e' : c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

// Values such as on|off are printed in bold, placeholders such as FOLDER|PATTERN in italics.
void print_values(std::string_view values) {
  while (!values.empty()) {
    const size_t bar = values.find('|');
    const std::string_view value = values.substr(0, bar);
    const bool placeholder = value.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string_view::npos;
    std::cout << (placeholder ? "\\fI" : "\\fB") << escaped(value) << "\\fR";
    if (bar == std::string_view::npos) return;
    std::cout << '|';
    values.remove_prefix(bar + 1);
  }
}

void print_option(const prof::analyzer::RecorderOption& option, bool as_flag) {
  std::cout << ".TP\n\\fB" << (as_flag ? "\\-\\-" : "") << escaped(as_flag ? option.flag : option.variable) << "\\fR=";
  print_values(option.values);
  std::cout << '\n' << escaped(option.help) << ".\n";
  if (*option.initial != '\0') std::cout << "Default: \\fB" << escaped(option.initial) << "\\fR\n";
}

void print_verb(const prof::analyzer::Verb& verb) {
  CLI::App app;
  prof::analyzer::Run run;
  verb.add(app, run);
  for (const CLI::Option* option : app.get_subcommands({}).front()->get_options()) {
    // Older releases of CLI11 accept a name with a blank. With newer releases prof would not start.
    if (option->get_positional() && option->get_single_name().find(' ') != std::string::npos)
      throw std::logic_error("a blank in the name of the argument " + option->get_single_name());
    if (option->get_positional() || option->check_name("--help")) continue;
    std::string names = option->get_name(false, true);
    for (size_t comma = names.find(','); comma != std::string::npos; comma = names.find(',', comma + 2)) {
      names.insert(comma + 1, " ");
    }
    std::cout << ".TP\n\\fB" << escaped(names) << "\\fR";
    if (option->get_expected_max() > 0) {
      const std::string value = option->get_option_text();
      std::cout << " \\fI" << escaped(value.empty() ? "VALUE" : value) << "\\fR";
    }
    std::cout << '\n' << escaped(option->get_description()) << ".\n";
    if (!option->get_default_str().empty())
      std::cout << "Default: \\fB" << escaped(option->get_default_str()) << "\\fR\n";
  }
}

bool print_list(std::string_view name) {
  for (const prof::analyzer::Verb& verb : prof::analyzer::verbs()) {
    if (verb.name == name) return print_verb(verb), true;
  }
  if (name == "reports") {
    for (size_t area = 0; area < std::size(prof::analyzer::kAreaTitles); ++area) {
      std::cout << ".SS " << escaped(prof::analyzer::kAreaTitles[area]) << '\n';
      for (const prof::analyzer::Report& report : prof::analyzer::kReports) {
        if (report.area == static_cast<prof::analyzer::Area>(area))
          std::cout << ".TP\n\\fB" << escaped(report.name) << "\\fR\n" << escaped(report.question) << '\n';
      }
    }
    return true;
  }
  if (name == "verbs") {
    CLI::App app;
    prof::analyzer::Run run;
    prof::analyzer::add_verbs(app, run);
    for (const prof::analyzer::Verb& verb : prof::analyzer::verbs()) {
      const std::string word(verb.name);
      std::cout << ".TP\n.BR " << word;
      if (word != "help" && word != "version") std::cout << " \", \" prof\\-" << word << " (1)";
      std::cout << '\n' << escaped(app.get_subcommand(word)->get_description()) << '\n';
    }
    return true;
  }
  if (name == "flags" || name == "variables") {
    for (const auto& option : prof::analyzer::recorder_options()) print_option(option, name == "flags");
    return true;
  }
  if (name == "counters") {
    for (const prof::format::CounterInfo& counter : prof::format::kCounters) {
      std::cout << ".TP\n.B " << escaped(counter.name) << '\n' << escaped(counter.help) << ".\n";
    }
    return true;
  }
  return false;
}

}  // namespace

int main() {
  constexpr std::string_view kMark = ".\\\" LIST ";
  for (std::string line; std::getline(std::cin, line);) {
    if (!line.starts_with(kMark)) {
      std::cout << line << '\n';
    } else if (!print_list(line.substr(kMark.size()))) {
      std::cerr << "no list for: " << line << '\n';
      return 1;
    }
  }
  return std::cin.eof() && std::cout.flush() ? 0 : 1;
}
