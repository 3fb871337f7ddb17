// prof doctor: which parts of a recording will work here, which will not, and why?
#include "analyzer/base/json/json_text.h"
#include "analyzer/command/choices.h"
#include "analyzer/command/command.h"
#include "analyzer/command/doctor_finding.h"
#include "analyzer/command/recorder_library.h"

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

namespace prof::analyzer {

namespace {

std::string_view finding_name(FindingVerdict verdict) {
  switch (verdict) {
    case FindingVerdict::Ok: return "ok";
    case FindingVerdict::Less: return "less";
    case FindingVerdict::No: return "no";
  }
  return "";
}

void print_text(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    // Lines after the first are indented as the text is.
    const auto lines = [](std::string_view text) {
      std::string shown;
      for (const char each : readable_lines(text))
        shown += each == '\n' ? "\n" + std::string(19, ' ') : std::string(1, each);
      return shown;
    };
    fmt::print("{:<4}  {:<12} {}\n", finding_name(finding.verdict), finding.topic, lines(finding.text));
    if (!finding.remedy.empty()) fmt::print("      {:<12} -> {}\n", "", lines(finding.remedy));
  }
}

void print_json(const std::vector<Finding>& findings) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.StartArray();
  for (const Finding& finding : findings) {
    json.StartObject();
    json.Key("verdict");
    json.String(std::string(finding_name(finding.verdict)));
    json.Key("topic");
    json.String(finding.topic);
    json.Key("finding");
    json.String(readable_utf8(finding.text));
    json.Key("remedy");
    json.String(readable_utf8(finding.remedy));
    json.EndObject();
  }
  json.EndArray();
  fmt::print("{}\n", buffer.GetString());
}

void append(std::vector<Finding>& to, std::vector<Finding> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

int doctor(const std::vector<std::string>& command, const std::string& format, bool self_test) {
  std::vector<Finding> findings;
  std::string library;
  try {
    library = find_recorder();
  } catch (const std::exception& error) {
    findings.push_back({FindingVerdict::No, "recorder", error.what(), "install prof and libprof.so together"});
  }
  const char* const output = std::getenv("PROF_OUTPUT");
  if (!library.empty()) {
    append(findings, examine_machine(library, output != nullptr && *output != '\0' ? output : "."));
    append(findings, examine_variables());
    if (!command.empty()) append(findings, examine_program(command[0]));
    if (self_test) append(findings, run_self_test(library));
  }
  if (format == "json") {
    print_json(findings);
  } else {
    print_text(findings);
  }
  FindingVerdict worst = FindingVerdict::Ok;
  for (const Finding& finding : findings) worst = std::max(worst, finding.verdict);
  return worst == FindingVerdict::Ok ? kComplete : worst == FindingVerdict::Less ? kPartial : kUnusable;
}

}  // namespace

void add_doctor(CLI::App& app, Run& run) {
  struct Options {
    std::string format = "text";
    bool no_self_test = false;
    bool is_self_test = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* const verb =
      app.add_subcommand("doctor", "what of a recording will work here, and what will not: prof doctor [-- PROGRAM]");
  verb->add_option("--format", options->format, "text or json")
      ->check(one_of({"text", "json"}))
      ->option_text("FORMAT")
      ->capture_default_str();
  verb->add_flag("--no-self-test", options->no_self_test, "start nothing: only read files and variables");
  verb->add_flag("--self-test-program", options->is_self_test)->group("");
  verb->prefix_command();
  verb->footer(
      "Examples:\n"
      "  prof doctor\n"
      "  prof doctor -- ./app\n"
      "A line each: ok; less: it will be recorded, but less of it; no: nothing will be. Below it what to do.\n"
      "Exit status: 0 all ok, 1 the worst is less, 2 the worst is no.");
  verb->callback([&run, options, verb] {
    std::vector<std::string> command = verb->remaining();
    if (!command.empty() && command[0] == "--") command.erase(command.begin());
    run = [options, command] {
      return options->is_self_test ? self_test_program() : doctor(command, options->format, !options->no_self_test);
    };
  });
}

}  // namespace prof::analyzer
