// What must prof record know about a program before it runs it? Whether a preloaded library works in it, and whether
// another library must precede it.
#pragma once

#include <string>
#include <string_view>

namespace prof::analyzer {

struct ProgramFacts {
  std::string path;          // empty if not found in PATH
  bool elf = false;          // false: a script or an unknown format
  bool dynamic = false;      // has a loader that supports LD_PRELOAD
  bool other_class = false;  // 32 bits
  bool setuid = false;       // the loader ignores LD_PRELOAD
  std::string asan;          // soname of its gcc libasan, which must be the first library; empty: none
};

ProgramFacts look_at_program(std::string_view command);

}  // namespace prof::analyzer
