// Offline. Which functions and lines does debug information (DWARF, through elfutils' libdw) give for addresses of a file? Only
// symbols/symbol_workers.cpp calls this, in a process of its own: libdw trusts what it reads more than bytes from anywhere
// deserve. Built without libdw every file has no debug information.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace prof::analyzer {

// One function at an address. The views last until the next address.
struct DebugFrame {
  std::string_view function;  // mangled, where it has such a name; empty: not known
  bool plain = false;         // `function` is the name in the source, without namespace and arguments
  std::string_view file;
  uint32_t line = 0;
  bool inlined = false;  // into the frame that follows
};

bool has_debug_lines();  // built with libdw

// `addresses` are sorted. Calls found(i, frames), innermost function first, for every address that the debug information knows
// something of. Returns why nothing could be read; empty: it could.
std::string read_debug_lines(const std::string& path, std::span<const uint64_t> addresses,
                             const std::function<void(size_t, std::span<const DebugFrame>)>& found);

}  // namespace prof::analyzer
