// What do the stall reasons of PC samples mean, and what can be tried? The list is stall_reasons.def.
#pragma once

#include <iterator>
#include <string_view>

namespace prof::analyzer {

struct StallReason {
  std::string_view name;     // "long_scoreboard"
  std::string_view words;    // "wait for global or local memory": what samples do
  std::string_view meaning;  // a sentence
  std::string_view action;   // what to try
};

inline constexpr StallReason kStallReasons[] = {
#define PROF_STALL(name, words, meaning, action) {#name, words, meaning, action},
#include "analyzer/analysis/kernel_lines/stall_reasons.def"
#undef PROF_STALL
};

inline constexpr std::string_view kStallPrefix = "smsp__pcsamp_warps_issue_stalled_";
inline constexpr std::string_view kIssued = "selected", kReady = "not_selected";  // no stalls

// The row of a name of CUPTI. A name that the list does not have is shown as it is.
inline StallReason stall_reason(std::string_view cupti_name) {
  if (cupti_name.starts_with(kStallPrefix)) cupti_name.remove_prefix(kStallPrefix.size());
  for (const StallReason& each : kStallReasons) {
    if (each.name == cupti_name) return each;
  }
  if (cupti_name.empty()) return {"unknown", "have an unknown reason", "The log does not name the reason.", ""};
  return {cupti_name, cupti_name, "", ""};  // the texts are views of the argument
}

}  // namespace prof::analyzer
