// Writes a log again with the names of its native frames, so that it can be read on a machine without the program's
// files. Blocks are copied unchanged. New records follow in definition blocks of a thread that did not exist. Used by
// `prof symbolize --embed`.
#pragma once

#include "analyzer/base/sink.h"
#include "analyzer/input/log/log_file.h"
#include "analyzer/symbols/symbols.h"

#include <cstdint>

namespace prof::analyzer {

struct EmbedResult {
  uint64_t addresses = 0;                      // named by this call and not by the log
  uint64_t bytes_before = 0, bytes_after = 0;  // not compressed
};

// `trace` must be made of this log alone. Throws std::runtime_error if the log cannot be extended: it is still being
// written, its end is missing, or its header has no room.
EmbedResult write_with_symbols(const LogFile& log, const Trace& trace, const Symbols& symbols, Sink& sink);

}  // namespace prof::analyzer
