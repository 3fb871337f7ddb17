// The options every verb with a table has: --format, -o, --unit, --names.
#pragma once

#include "analyzer/model/names.h"
#include "analyzer/output/table.h"

#include <CLI/CLI.hpp>

#include <map>
#include <string>

namespace prof::analyzer {

struct TableOptions {
  TableFormat format = TableFormat::Text;
  TimeUnit unit = TimeUnit::Auto;
  std::string output = "-";

  void add_to(CLI::App& verb) {
    static const std::map<std::string, TableFormat> kFormats{
        {"text", TableFormat::Text}, {"csv", TableFormat::Csv}, {"json", TableFormat::Json}};
    static const std::map<std::string, TimeUnit> kUnits{
        {"auto", TimeUnit::Auto}, {"ns", TimeUnit::Ns}, {"us", TimeUnit::Us}, {"ms", TimeUnit::Ms}, {"s", TimeUnit::S}};
    verb.add_option("--format", format, "text, csv or json")
        ->transform(CLI::CheckedTransformer(kFormats))
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
