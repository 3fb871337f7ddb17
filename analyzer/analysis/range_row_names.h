// Which names do the rows of a table of ranges have? Counters in the names are folded, unless --ranges exact was given.
// Used by the reports that group by range.
#pragma once

#include "analyzer/analysis/analysis.h"

#include <string>
#include <vector>

namespace prof::analyzer {

inline const EventNames& range_row_names(const AnalysisInput& input) {
  return input.options.exact_ranges ? input.views.event_names() : input.views.range_names();
}

// Adds the note that lists the folded names.
inline void note_folded_ranges(const AnalysisInput& input, std::vector<std::string>& notes) {
  if (input.options.exact_ranges) return;
  std::string note = folded_note(input.views.range_counters().folded());
  if (!note.empty()) notes.push_back(std::move(note));
}

}  // namespace prof::analyzer
