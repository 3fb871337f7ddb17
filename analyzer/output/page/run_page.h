// A run as one HTML file that fetches nothing: what was run, what to change first, the timeline, and the tables of
// several reports. page.html, page.css and *.js are its shell; the data is JSON in a script element, which is never
// executed. A Content-Security-Policy admits this one script by its hash, and forbids the network and event handlers in
// markup.
#pragma once

#include "analyzer/analysis/analysis.h"
#include "analyzer/base/sink.h"
#include "analyzer/table/table.h"

#include <string>
#include <vector>

namespace prof::analyzer {

struct RunPageOptions {
  bool redact = false;                // no command line, path, host or user
  std::vector<std::string> messages;  // about the input, such as its damage
  const Table* changes = nullptr;     // since earlier runs (diff_table.h), stored; null: none are given
};

void write_run_page(const AnalysisInput& input, const RunPageOptions& options, Sink& sink);

}  // namespace prof::analyzer
