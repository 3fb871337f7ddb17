// Where are the files that were installed with prof? They are found from the place of the running program, so that an
// installation can be moved, copied or be part of a Python package.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

struct InstalledFile {
  std::string path;                 // empty: not found
  std::vector<std::string> looked;  // the paths that were tried, in order
};

// Finds `name`, such as "libprof.so" or "prof/parquet/libprof_parquet.so", in the folders of libraries of an
// installation: that of the program itself, then the folder that was configured, ../lib, ../lib64 and ../lib/<triplet>.
// A file counts if it can be read. Without /proc, the program is known by the path that started it; throws
// std::filesystem::filesystem_error if that path leads nowhere any more.
InstalledFile find_installed(std::string_view name);
// The same for the program `program`, a path without symbolic links.
InstalledFile find_installed(std::string_view name, const std::string& program);

}  // namespace prof::analyzer
