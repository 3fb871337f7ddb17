// The first bytes of a file, by which its format is known: contents decide, never the name.
#pragma once

#include <string>

namespace prof::analyzer {

// At most 256 KiB, inflated if the file is gzip.
struct FileHead {
  std::string path;
  std::string bytes;
  bool compressed = false;
};

// Empty bytes if the file cannot be read; opening it for real then says why.
FileHead read_head(const std::string& path);

}  // namespace prof::analyzer
