#include "analyzer/base/file_head.h"

#include "analyzer/base/inflater.h"

#include <sys/stat.h>

#include <cstdio>
#include <memory>

namespace prof::analyzer {

FileHead read_head(const std::string& path) {
  constexpr size_t kLookAt = 256 << 10;
  FileHead head;
  head.path = path;
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return head;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return head;
  const auto read = [&](char* to, size_t room) { return std::fread(to, 1, room, file.get()); };
  head.bytes.resize(kLookAt);
  head.bytes.resize(read(head.bytes.data(), kLookAt));
  const Compression compression = compression_of(head.bytes);
  if (compression == Compression::None) return head;
  head.compressed = true;
  head.compression = compression_name(compression);
  if (std::fseek(file.get(), 0, SEEK_SET) != 0) return head;
  Inflater inflater(read, compression);
  head.bytes.resize(kLookAt);
  head.bytes.resize(inflater.read(head.bytes.data(), kLookAt));
  return head;
}

}  // namespace prof::analyzer
