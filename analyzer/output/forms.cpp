#include "analyzer/output/forms.h"

#include "analyzer/output/exporters.h"

#include <fmt/format.h>
#include <strings.h>
#include <sys/stat.h>

#include <algorithm>
#include <stdexcept>

namespace prof::analyzer {

namespace {

bool is_device_or_folder(const std::string& path) {
  struct stat info {};
  return path == "-" || path.ends_with('/') || (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode));
}

// ".csv" of "a/b.csv"; empty if there is none.
std::string_view extension_of(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos || dot == 0 || dot + 1 == path.size() ? std::string_view() : path.substr(dot);
}

// The row with the longest extension at the end of the path, in letters of any case: .speedscope.json is not .json.
const Form* form_of_file(std::span<const Form> forms, std::string_view path) {
  const Form* best = nullptr;
  for (const Form& form : forms) {
    const size_t size = form.extension.size();
    const bool fits =
        path.size() > size && strncasecmp(path.data() + path.size() - size, form.extension.data(), size) == 0;
    if (fits && (best == nullptr || form.extension.size() > best->extension.size())) best = &form;
  }
  return best;
}

template <class Rows> void add_forms(const Rows& rows, std::vector<Form>& forms) {
  for (const auto& row : rows) {
    const auto same = std::find_if(forms.begin(), forms.end(), [&](const Form& form) { return form.name == row.name; });
    if (same == forms.end()) forms.push_back({row.name, row.extension, kHoldsOne});
  }
}

}  // namespace

std::vector<Form> report_forms(std::string_view report) {
  std::vector<Form> forms(kTableForms.begin(), kTableForms.end());
  if (report == "roofline") add_forms(kRooflineExporters, forms);
  if (is_about_stacks(report)) add_forms(kStackExporters, forms);
  return forms;
}

std::vector<Form> all_report_forms() {
  std::vector<Form> forms = report_forms("roofline");
  add_forms(kStackExporters, forms);
  return forms;
}

std::vector<Form> diff_forms() {
  std::vector<Form> forms(kTableForms.begin(), kTableForms.end());
  add_forms(kDiffExporters, forms);
  return forms;
}

std::vector<Form> export_forms() {
  std::vector<Form> forms;
  add_forms(kDatabaseExporters, forms);
  forms.insert(forms.end(), {kParquetForm, kArrowForm});
  return forms;
}

const Form& choose_form(std::span<const Form> possible, std::string_view answer, const std::string& word,
                        const std::string& path) {
  if (!word.empty()) {
    const auto found = std::find_if(possible.begin(), possible.end(), [&](const Form& f) { return f.name == word; });
    if (found != possible.end()) return *found;
    throw std::runtime_error(
        fmt::format("--format {}: {} has no such form; it has {}", word, answer, forms_text(possible)));
  }
  if (is_device_or_folder(path)) return possible.front();
  const std::string_view plain = path.ends_with(".gz") ? std::string_view(path).substr(0, path.size() - 3) : path;
  for (const std::string_view name : {std::string_view(path), plain}) {
    if (const Form* const form = form_of_file(possible, name)) return *form;
  }
  const std::string_view extension = extension_of(plain);
  if (extension.empty()) return possible.front();
  throw std::runtime_error(
      fmt::format("{}: {} has no form {}; it has {}", path, answer, extension, forms_text(possible)));
}

std::optional<TableForm> table_form(std::string_view form) {
  const auto found =
      std::find_if(kTableForms.begin(), kTableForms.end(), [&](const Form& each) { return each.name == form; });
  if (found == kTableForms.end()) return std::nullopt;
  return static_cast<TableForm>(found - kTableForms.begin());
}

std::string forms_text(std::span<const Form> forms) {
  std::vector<std::string> words;
  for (const Form& form : forms) words.push_back(fmt::format("{} ({})", form.name, form.extension));
  return words_text(words);
}

std::string words_text(const std::vector<std::string>& words, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? fmt::format(" {} ", last) : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace prof::analyzer
