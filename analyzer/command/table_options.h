// The options of every verb with a table: --format, -o, --unit, --names.
#pragma once

#include "analyzer/model/names.h"
#include "analyzer/table/table.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace prof::analyzer {

struct TableOptions {
  TableFormat format = TableFormat::Text;
  TimeUnit unit = TimeUnit::Auto;
  std::string output = "-";
  std::string other_format;  // a word of `others`, if the output is not a table

  // `others`: additional words for --format.
  void add_to(CLI::App& verb, const std::vector<std::string>& others = {}) {
    static const std::map<std::string, TableFormat> kFormats{
        {"text", TableFormat::Text}, {"csv", TableFormat::Csv}, {"json", TableFormat::Json}};
    static const std::map<std::string, TimeUnit> kUnits{
        {"auto", TimeUnit::Auto}, {"ns", TimeUnit::Ns}, {"us", TimeUnit::Us}, {"ms", TimeUnit::Ms}, {"s", TimeUnit::S}};
    std::string words = "text, csv or json";
    for (const std::string& word : others) words += (word == others.front() ? "; reports of stacks: " : ", ") + word;
    verb.add_option_function<std::string>(
            "--format",
            [this, others](const std::string& word) {
              const auto found = kFormats.find(word);
              if (found != kFormats.end()) {
                format = found->second;
              } else if (std::find(others.begin(), others.end(), word) != others.end()) {
                other_format = word;
              } else {
                throw CLI::ValidationError("--format", "'" + word + "' is no format");
              }
            },
            words)
        ->option_text("FORMAT");
    verb.add_option("--unit", unit, "auto, ns, us, ms or s")
        ->transform(CLI::CheckedTransformer(kUnits))
        ->option_text("UNIT");
    verb.add_option("-o,--output", output, "file, - for stdout");
  }
};

inline void add_names_option(CLI::App& verb, NameForm& form) {
  static const std::map<std::string, NameForm> kForms{
      {"short", NameForm::Short}, {"full", NameForm::Full}, {"mangled", NameForm::Mangled}};
  verb.add_option("--names", form, "kernel names: short, full or mangled")
      ->transform(CLI::CheckedTransformer(kForms))
      ->option_text("FORM");
}

}  // namespace prof::analyzer
