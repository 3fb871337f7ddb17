// What does `prof report` print about its reports? The list by area, and the help of one report.
#pragma once

#include "analyzer/reports/reports.h"

#include <cstddef>
#include <string>

namespace CLI {
class App;
}

namespace prof::analyzer {

// One line for each report, below the title of its area.
std::string report_list();

// Question, options, columns and an example. `verb` is the parser of `prof report`, which has the options'
// descriptions.
std::string report_help(const Report& report, const CLI::App& verb);

}  // namespace prof::analyzer
