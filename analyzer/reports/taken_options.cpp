#include "analyzer/reports/taken_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace prof::analyzer {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end != 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// Whether a word matches the form: "stack:N" matches stack:4.
bool fits(std::string_view word, std::string_view form) {
  if (!form.ends_with(":N")) return word == form;
  form.remove_suffix(1);
  if (!word.starts_with(form) || word.size() == form.size()) return false;
  return word.find_first_not_of("0123456789", form.size()) == std::string_view::npos;
}

bool takes(const Report& report, const GivenOption& given) {
  for (const TakenOption& option : options_of(report)) {
    if (option.flag != given.flag) continue;
    return option.words.empty() || std::all_of(given.words.begin(), given.words.end(), [&](const std::string& word) {
             return std::any_of(option.words.begin(), option.words.end(),
                                [&](std::string_view form) { return fits(word, form); });
           });
  }
  return false;
}

// "--metric flops" if the report knows --metric, else "--metric".
std::string text_of(std::span<const Report* const> reports, const GivenOption& given) {
  const bool known = std::any_of(reports.begin(), reports.end(), [&](const Report* report) {
    const std::vector<TakenOption> options = options_of(*report);
    return std::any_of(options.begin(), options.end(), [&](const TakenOption& o) { return o.flag == given.flag; });
  });
  return known ? fmt::format("{} {}", given.flag, fmt::join(given.words, ",")) : given.flag;
}

std::string names_of(const std::vector<const Report*>& reports) {
  std::string names;
  for (const Report* const report : reports) names += fmt::format("{}{}", names.empty() ? "" : ", ", report->name);
  return names;
}

// The members that an option sets. An option that a report does not take is reset to its default.
struct OptionMember {
  std::string_view flag;
  void (*copy)(const ReportOptions& from, ReportOptions& to);
};
constexpr OptionMember kMembers[] = {
    {"--definitions", [](const ReportOptions& from, ReportOptions& to) { to.definitions = from.definitions; }},
    {"--wall", [](const ReportOptions& from, ReportOptions& to) { to.wall_ms = from.wall_ms; }},
    {"--group-by", [](const ReportOptions& from, ReportOptions& to) { to.group_by = from.group_by; }},
    {"--range", [](const ReportOptions& from, ReportOptions& to) { to.range = from.range; }},
    {"--peaks", [](const ReportOptions& from, ReportOptions& to) { to.peaks = from.peaks; }},
    {"--dtype", [](const ReportOptions& from, ReportOptions& to) { to.dtype = from.dtype; }},
    {"--devices", [](const ReportOptions& from, ReportOptions& to) { to.devices = from.devices; }},
    {"--device-as", [](const ReportOptions& from, ReportOptions& to) { to.device_as = from.device_as; }},
    {"--kernel", [](const ReportOptions& from, ReportOptions& to) { to.kernel = from.kernel; }},
    {"--lines", [](const ReportOptions& from, ReportOptions& to) { to.lines = from.lines; }},
    {"--metric", [](const ReportOptions& from, ReportOptions& to) { to.metric = from.metric; }},
};

}  // namespace

std::vector<TakenOption> options_of(const Report& report) {
  std::vector<TakenOption> options;
  for (const std::string_view option : split(report.options, ' ')) {
    const size_t equals = std::min(option.find('='), option.size());
    options.push_back({option.substr(0, equals), split(option.substr(std::min(equals + 1, option.size())), '|')});
  }
  return options;
}

bool is_option_of_reports(std::string_view flag) {
  return std::any_of(std::begin(kReports), std::end(kReports), [&](const Report& report) {
    const std::vector<TakenOption> options = options_of(report);
    return std::any_of(options.begin(), options.end(), [&](const TakenOption& option) { return option.flag == flag; });
  });
}

std::vector<std::string> check_options(std::span<const Report* const> reports, std::span<const GivenOption> given) {
  std::vector<std::string> lines;
  for (const GivenOption& option : given) {
    std::vector<const Report*> with, without;
    for (const Report* const report : reports) (takes(*report, option) ? with : without).push_back(report);
    if (without.empty()) continue;
    if (!with.empty()) {
      lines.push_back(fmt::format("{} applies to {}; it has no effect on {}", text_of(reports, option), names_of(with),
                                  names_of(without)));
      continue;
    }
    std::string text = reports.size() == 1
                           ? fmt::format("{} does not take {}", reports[0]->name, text_of(reports, option))
                           : fmt::format("none of {} takes {}", names_of(without), text_of(reports, option));
    for (const Report* const report : reports) {
      text += report->options.empty() ? fmt::format("; {} has no options of its own", report->name)
                                      : fmt::format("; options of {}: {}", report->name, report->options);
    }
    throw std::runtime_error(fmt::format("{}; `prof report {} --help` describes them", text, reports.front()->name));
  }
  return lines;
}

ReportOptions taken_options(const Report& report, std::span<const GivenOption> given, const ReportOptions& options) {
  const ReportOptions defaults;
  ReportOptions taken = options;
  for (const GivenOption& option : given) {
    if (takes(report, option)) continue;
    for (const OptionMember& member : kMembers) {
      if (member.flag == option.flag) member.copy(defaults, taken);
    }
  }
  return taken;
}

}  // namespace prof::analyzer
