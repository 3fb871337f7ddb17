// Which metrics do the sets of `prof record --counters` contain? Called by record.
#pragma once

#include <string>

namespace prof::analyzer {

// Returns each set with its metrics and their units, one per line.
std::string counter_list();

}  // namespace prof::analyzer
