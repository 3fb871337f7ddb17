// Offline. Which source lines and inlined functions does the line table of a cubin have for its instructions? Called
// only by symbols/symbol_workers.cpp, in a separate process, because libdw trusts its input (debug_lines.h).
#pragma once

#include "analyzer/symbols/cubin_file.h"
#include "analyzer/symbols/debug_lines.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace prof::analyzer {

// `addresses` are those of CubinFile::address(), sorted. Calls found(i, frames), innermost function first, for every
// address that has a line. The outermost frame has no function: CubinFile::function_at() knows it. Returns why lines
// are missing; empty: no error.
std::string read_cubin_line_table(const CubinFile& cubin, std::span<const uint64_t> addresses,
                                  const std::function<void(size_t, std::span<const DebugFrame>)>& found);

}  // namespace prof::analyzer
