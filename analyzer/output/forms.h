// In which form is an answer written? --format names a form, else the end of the name of the output file does. An
// answer has the forms of tables (table_formats.def) and those of its exporters (exporters.def).
#pragma once

#include "analyzer/table/table_document.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct Form {
  std::string_view name, extension;
  bool holds_several = false;  // one file can hold several answers
};

inline constexpr bool kHoldsOne = false, kHoldsSeveral = true;
inline constexpr auto kTableForms = std::to_array<Form>({
#define PROF_TABLE_FORMAT(id, name, extension, holds) {name, extension, holds},
#include "analyzer/table/table_formats.def"
#undef PROF_TABLE_FORMAT
});

// The forms of a report, of a comparison, of an export, and of a file that has one form.
std::vector<Form> report_forms(std::string_view report);
std::vector<Form> all_report_forms();
std::vector<Form> diff_forms();
std::vector<Form> export_forms();
inline constexpr Form kPageForms[] = {{"html", ".html"}};
inline constexpr auto kTraceForms = std::to_array<Form>({
#define PROF_EXPORT_TRACE(id, name, extension, function) {name, extension},
#include "analyzer/output/exporters.def"
#undef PROF_EXPORT_TRACE
});
inline constexpr Form kParquetForm = {"parquet", ".parquet"}, kArrowForm = {"arrow", ".arrows"};
inline constexpr Form kDumpForms[] = {{"text", ".txt"}, {"text", ".log"}};
inline constexpr Form kTopForms[] = {{"text", ".txt"}, {"json", ".json"}, {"openmetrics", ".prom"}};
inline constexpr Form kLogForms[] = {{"log", ".plog"}};

inline bool is_about_stacks(std::string_view report) {
  return report == "stacks" || report == "flame" || report == "hot-stacks";
}

// `word` of --format; empty: by the name of the file, in which .gz after the extension compresses. The first form if
// the name has no extension, or is "-", a folder or a device. If `answer` does not have the form, it throws
// std::runtime_error, which lists the possible forms.
const Form& choose_form(std::span<const Form> possible, std::string_view answer, const std::string& word,
                        const std::string& path);

// The form of a table of that name.
std::optional<TableForm> table_form(std::string_view form);

// "text (.txt), csv (.csv) or json (.json)"
std::string forms_text(std::span<const Form> forms);

// "a, b or c"
std::string words_text(const std::vector<std::string>& words, std::string_view last = "or");

}  // namespace prof::analyzer
