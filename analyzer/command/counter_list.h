// What the sets of `prof record --counters` are made of. Called by record.
#pragma once

#include <string>

namespace prof::analyzer {

// Each set with its metrics and their units, one a line.
std::string counter_list();

}  // namespace prof::analyzer
