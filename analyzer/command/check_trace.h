// What does `prof check` report about a trace of another tool? Its format and contents, what was skipped, and what is
// damaged.
#pragma once

#include "analyzer/input/importer.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string>

namespace prof::analyzer {

// Reads the file with its importer. If `json` is null, the output is text. Returns the exit status.
int check_trace(const FileHead& head, const Importer& importer, rapidjson::Writer<rapidjson::StringBuffer>* json);

}  // namespace prof::analyzer
