// What prof record must know of a program before it runs it: can a preloaded library work in it, and must another one
// come first?
#pragma once

#include <string>
#include <string_view>

namespace prof::analyzer {

struct ProgramFacts {
  std::string path;          // empty: not found in PATH
  bool elf = false;          // else a script or something we know nothing about
  bool dynamic = false;      // has a loader that obeys LD_PRELOAD
  bool other_class = false;  // 32 bits
  bool setuid = false;       // the loader ignores LD_PRELOAD
  std::string asan;          // soname of gcc's libasan it needs, which must be the first library; empty: none
};

ProgramFacts look_at_program(std::string_view command);

}  // namespace prof::analyzer
