// Which databases of other tools does prof write? An export of Nsight Systems and a profile of nvprof, both SQLite. The
// files have what their readers read; docs/export.md lists the tables, and what has no place in them.
#pragma once

#include "analyzer/model/trace.h"
#include "analyzer/output/sqlite/database_file.h"

#include <string>
#include <vector>

namespace prof::analyzer {

// Writes the model into an empty file. Returns what the file does not have, one line each.
std::vector<std::string> write_nsys_database(const Trace& trace, DatabaseFile& file);
std::vector<std::string> write_nvprof_database(const Trace& trace, DatabaseFile& file);

}  // namespace prof::analyzer
