// What `prof check` says of a trace that another tool wrote: what it is and holds, what was set aside, what is damaged.
#pragma once

#include "analyzer/input/importer.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string>

namespace prof::analyzer {

// Reads the file with its importer. A null `json` means text. Returns the exit status.
int check_trace(const FileHead& head, const Importer& importer, rapidjson::Writer<rapidjson::StringBuffer>* json);

}  // namespace prof::analyzer
