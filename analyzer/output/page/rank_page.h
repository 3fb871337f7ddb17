// How do the steps of all ranks look? A picture with a row for each rank and a column for each step: which rank needs
// longer, and when. Part of `prof report ranks -o FILE.html` and of `prof page`.
#pragma once

#include "analyzer/model/trace.h"
#include "analyzer/reports/ranks/rank_job.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace prof::analyzer {

// What ranks.js draws, as JSON, with at most that many cells: more steps are joined, and more ranks than cells are left
// out. `name_json` gives the name of a rank as JSON. "null" if there are fewer than two ranks with steps.
std::string rank_steps_json(const Trace& trace, const RankJob& job, size_t most_cells,
                            const std::function<std::string(std::string_view)>& name_json);

// A page with the picture. Empty if there is none.
std::string rank_steps_page(const Trace& trace, const RankJob& job);

}  // namespace prof::analyzer
