// Offline. A cache of names in a folder of the user. Reading the debug information of a large library again takes
// seconds per report; reading the cache takes almost none. There is one file per pair of files that names come from; a
// changed file makes another pair. A cache file that is unreadable, damaged or cannot be written is ignored.
#pragma once

#include "analyzer/symbols/symbol_workers.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

struct SymbolCacheLimits {
  uint64_t file_bytes = uint64_t{64} << 20;     // a larger file is not written
  uint64_t folder_bytes = uint64_t{256} << 20;  // above it the least recently used files are removed
};

// The result of find_symbols(), which is called only for what is not in the folder. If `folder` is empty, it is called
// for everything.
std::vector<SymbolAnswer> find_symbols_cached(const std::vector<SymbolRequest>& requests, StringTable& strings,
                                              const WorkerLimits& limits, const std::string& folder,
                                              const SymbolCacheLimits& cache_limits = {});

// $XDG_CACHE_HOME/prof/symbols, else ~/.cache/prof/symbols; empty if neither variable is set.
std::string default_symbol_cache();

}  // namespace prof::analyzer
