// Offline. Where on this machine are the code and the debug information of a module that a log names? In this order:
//
//   1. --symbol-path: a file, or a folder in which it lies under its recorded path, its name, NAME.debug or .build-id/xx/yyyy.debug
//   2. the recorded path
//   3. what .gnu_debuglink of 1 or 2 names: beside the file, in .debug/ beside it, below /usr/lib/debug
//   4. /usr/lib/debug/.build-id/xx/yyyy.debug
//   5. --sysroot: 2, 3 and 4 below that folder
//   6. debuginfod, only where asked for
//
// A file with another build-id is never used. A module without a build-id is believed to be the file at its path if size and
// time of change are those that were recorded.
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
  uint64_t file_bytes = 0, file_time = 0;  // 0: not known
};

struct ModuleFiles {
  std::string lines;      // has DWARF; empty: none found
  std::string functions;  // has the fuller symbol table; empty: no file found
  std::string problem;    // why something is missing, in a few words; empty: nothing is
};

ModuleFiles find_module_files(const ModuleName& module, const SymbolSearch& search);

// The file that a debuginfod server has for a build-id, in its client's cache; empty, and why, if none.
std::string ask_debuginfod(const std::string& build_id, std::string& why);

}  // namespace prof::analyzer
