// The options of every verb with a table: --format, -o, --force, --unit, --names.
#pragma once

#include "analyzer/command/choices.h"
#include "analyzer/command/output_options.h"
#include "analyzer/model/names.h"
#include "analyzer/output/forms.h"
#include "analyzer/table/table.h"

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <vector>

namespace prof::analyzer {

struct TableOptions {
  std::string format;  // word of --format; empty: the name of the output file selects the form
  TimeUnit unit = TimeUnit::Auto;
  OutputOptions output;

  // `forms`: words of --format.
  void add_to(CLI::App& verb, std::span<const Form> forms) {
    std::vector<std::string> words;
    for (const Form& form : forms) words.emplace_back(form.name);
    verb.add_option("--format", format,
                    words_text(words) + "; without it, the end of the output file's name selects it")
        ->check(one_of(words))
        ->option_text("FORMAT");
    add_choice<TimeUnit>(verb, "--unit", unit,
                         {{"auto", TimeUnit::Auto},
                          {"ns", TimeUnit::Ns},
                          {"us", TimeUnit::Us},
                          {"ms", TimeUnit::Ms},
                          {"s", TimeUnit::S}},
                         "auto, ns, us, ms or s")
        ->option_text("UNIT");
    output.add_to(verb);
  }
  // Of an answer that has the forms of tables only.
  TableForm answer_form(std::string_view answer) const {
    return *table_form(choose_form(kTableForms, answer, format, output.path).name);
  }
};

inline void add_names_option(CLI::App& verb, NameForm& form) {
  add_choice<NameForm>(verb, "--names", form,
                       {{"short", NameForm::Short}, {"full", NameForm::Full}, {"mangled", NameForm::Mangled}},
                       "kernel names: short, full or mangled")
      ->option_text("FORM");
}

}  // namespace prof::analyzer
