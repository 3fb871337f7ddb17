#include "analyzer/base/file_head.h"

#include <sys/stat.h>
#include <zlib.h>

#include <memory>

namespace prof::analyzer {

FileHead read_head(const std::string& path) {
  constexpr size_t kLookAt = 256 << 10;
  FileHead head{path, {}, false};
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return head;
  // gzread also reads uncompressed files.
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) return head;
  head.bytes.resize(kLookAt);
  const int size = gzread(file.get(), head.bytes.data(), static_cast<unsigned>(head.bytes.size()));
  head.compressed = gzdirect(file.get()) == 0;
  head.bytes.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return head;
}

}  // namespace prof::analyzer
