// Offline. Which functions and lines does debug information (DWARF, through elfutils' libdw) have for addresses of a
// file? Called only by symbols/symbol_workers.cpp, in a separate process: libdw trusts its input too much for files of
// unknown origin. In a build without libdw no file has debug information.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace prof::analyzer {

// One function at an address. The views are valid until the next address.
struct DebugFrame {
  std::string_view function;  // mangled, if it has such a name; empty: unknown
  bool plain = false;         // `function` is the name in the source, without namespace and arguments
  std::string_view file;
  uint32_t line = 0;
  bool inlined = false;  // into the next frame
  // Of the file that was compiled, if the line table of a cubin has them; 0: unknown.
  uint32_t modified_s = 0;  // since 1970
  uint32_t file_bytes = 0;
};

bool has_debug_lines();  // whether built with libdw

// `addresses` must be sorted. Calls found(i, frames), innermost function first, for every address that the debug
// information covers. Returns why nothing could be read; empty: no error.
std::string read_debug_lines(const std::string& path, std::span<const uint64_t> addresses,
                             const std::function<void(size_t, std::span<const DebugFrame>)>& found);

}  // namespace prof::analyzer
