// The first bytes of a file. Importers recognise their format by them, never by the name of the file.
#pragma once

#include <string>
#include <string_view>

namespace prof::analyzer {

// At most 256 KiB, inflated if the file is gzip or zstd.
struct FileHead {
  std::string path;
  std::string bytes;
  bool compressed = false;
  std::string_view compression = "gzip";  // if it is compressed
};

// Empty bytes if the file cannot be read; the importer that opens the file then reports the error.
FileHead read_head(const std::string& path);

}  // namespace prof::analyzer
