#include "analyzer/command/verbs.h"

namespace prof::analyzer {

namespace {

constexpr const char* kRecord = "Record";
constexpr const char* kAnswer = "Analyze logs, and traces of other tools";
constexpr const char* kInspect = "Inspect files and machines";
constexpr const char* kAbout = "About prof";
constexpr Verb kVerbs[] = {
    {"record", kRecord, add_record},    {"ctl", kRecord, add_ctl},
    {"top", kRecord, add_top},          {"doctor", kRecord, add_doctor},
    {"summary", kAnswer, add_summary},  {"report", kAnswer, add_report},
    {"blame", kAnswer, add_blame},      {"diff", kAnswer, add_diff},
    {"page", kAnswer, add_page},        {"trace", kAnswer, add_trace},
    {"export", kAnswer, add_export},    {"check", kInspect, add_check},
    {"dump", kInspect, add_dump},       {"symbolize", kInspect, add_symbolize},
    {"devices", kInspect, add_devices}, {"help", kAbout, add_help},
    {"version", kAbout, add_version},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  return names;
}

void add_verbs(CLI::App& app, Run& run) {
  for (const Verb& verb : kVerbs) {
    verb.add(app, run);
    app.get_subcommand(std::string(verb.name))->group(verb.group);
  }
}

std::vector<std::string> long_options(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : verb.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace prof::analyzer
