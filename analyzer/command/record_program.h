// What must prof record know about a program before it runs it? Whether a preloaded library works in it, and whether
// another library must precede it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace prof::analyzer {

struct ProgramFacts {
  std::string path;          // empty if not found in PATH
  bool elf = false;          // false: a script or an unknown format
  bool dynamic = false;      // has a loader that supports LD_PRELOAD
  bool other_class = false;  // 32 bits
  bool setuid = false;       // or other raised privileges: the loader ignores LD_PRELOAD
  bool other_libc = false;   // musl: the library is loaded and does nothing
  std::string asan;          // soname of its gcc libasan, which must be the first library; empty: none
};

// `command` as a shell finds it. For a script, the facts are those of its interpreter if that one cannot be recorded or
// needs another library first.
ProgramFacts look_at_program(std::string_view command);

struct Obstacle {
  std::string reason, remedy;
};
// Why nothing of the program can be recorded; empty if nothing prevents it.
std::optional<Obstacle> why_not_recordable(const ProgramFacts& facts);

}  // namespace prof::analyzer
