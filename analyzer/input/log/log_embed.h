// The same log with the names of its native frames inside, so that it can be read on a machine that has none of the program's
// files. Blocks are copied as they are; what is new follows them in definition blocks of a thread that never was.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/input/log/log_file.h"
#include "analyzer/symbols/symbols.h"

#include <cstdint>

namespace prof::analyzer {

struct EmbedResult {
  uint64_t addresses = 0;                      // named now that the log did not name before
  uint64_t bytes_before = 0, bytes_after = 0;  // not compressed
};

// `trace` is made of that log alone. Throws std::runtime_error where the log cannot be made longer: it is still being written,
// its end is missing, or its header has no room.
EmbedResult write_with_symbols(const LogFile& log, const Trace& trace, const Symbols& symbols, Sink& sink);

}  // namespace prof::analyzer
