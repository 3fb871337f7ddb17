// Offline. Where on this machine are the code and the debug information of a module that a log names? Searched in this
// order:
//
//   1. --symbol-path: a file, or a folder that has it under its recorded path, its name, NAME.debug or
//      .build-id/xx/yyyy.debug
//   2. the recorded path
//   3. the name in .gnu_debuglink of 1 or 2: in the folder of the file, in .debug/ there, below /usr/lib/debug
//   4. /usr/lib/debug/.build-id/xx/yyyy.debug
//   5. --sysroot: 2, 3 and 4 below that folder
//   6. debuginfod, only on request
//
// A file with another build-id is never used. For a module without a build-id, the file at its path is used if its size
// and modification time are the recorded ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

struct SymbolSearch {
  std::vector<std::string> symbol_path;
  std::string sysroot;
  bool debuginfod = false;
  std::string debug_folder = "/usr/lib/debug";
};

struct ModuleName {
  std::string path;
  std::string build_id;                    // hex digits
  uint64_t file_bytes = 0, file_time = 0;  // 0: unknown
};

struct ModuleFiles {
  std::string lines;      // has DWARF; empty: none found
  std::string functions;  // has the larger symbol table; empty: no file found
  std::string problem;    // why something is missing, in a few words; empty: nothing is missing
};

ModuleFiles find_module_files(const ModuleName& module, const SymbolSearch& search);

// The file of a build-id from a debuginfod server, in its client's cache; if there is none, empty, and `why` has the
// reason.
std::string ask_debuginfod(const std::string& build_id, std::string& why);

}  // namespace prof::analyzer
