// Offline. Names that were found once, in a folder of the user's: reading the debug information of a large library again takes
// seconds a report, reading this takes none. One file for each pair of files that names come from; a file that was changed since
// is another pair. What cannot be read, is damaged or cannot be written is as if it were not there.
#pragma once

#include "analyzer/symbols/symbol_workers.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

struct SymbolCacheLimits {
  uint64_t file_bytes = uint64_t{64} << 20;     // a larger one is not written
  uint64_t folder_bytes = uint64_t{256} << 20;  // then the files that were not used for longest go
};

// What find_symbols() gives; asks it only for what is not in the folder yet. Empty folder: for everything.
std::vector<SymbolAnswer> find_symbols_cached(const std::vector<SymbolRequest>& requests, StringTable& strings,
                                              const WorkerLimits& limits, const std::string& folder,
                                              const SymbolCacheLimits& cache_limits = {});

// $XDG_CACHE_HOME/prof/symbols, else ~/.cache/prof/symbols; empty where neither variable is set.
std::string default_symbol_cache();

}  // namespace prof::analyzer
