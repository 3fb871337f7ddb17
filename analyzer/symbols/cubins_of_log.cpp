#include "analyzer/symbols/cubins_of_log.h"

#include "analyzer/symbols/elf_file.h"

#include "preload/format/kept_cubins.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace prof::analyzer {

KeptCubins::KeptCubins(const std::string& log) : name_(log + format::kCubinFileEnding) {
  const int fd = open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) {
    problem_ = fmt::format("{}: {}", name_, std::strerror(errno));
    return;
  }
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    problem_ = fmt::format("{}: no regular file", name_);
  } else if (status.st_size > 0) {
    const auto bytes = static_cast<size_t>(status.st_size);
    void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) {
      problem_ = fmt::format("{}: {}", name_, std::strerror(errno));
    } else {
      mapped_ = mapped;
      bytes_ = {static_cast<const uint8_t*>(mapped), bytes};
    }
  }
  close(fd);
  if (problem_.empty()) read();
}

KeptCubins::KeptCubins(std::string name, std::span<const uint8_t> bytes) : name_(std::move(name)), bytes_(bytes) {
  read();
}

KeptCubins::~KeptCubins() {
  if (mapped_ != nullptr) munmap(mapped_, bytes_.size());
}

void KeptCubins::read() {
  format::CubinFileHeader header;
  if (!load(bytes_, 0, header) || header.magic != format::CubinFileHeader().magic) {
    problem_ = fmt::format("{}: no file of cubins", name_);
    return;
  }
  if (header.version != format::CubinFileHeader().version) {
    problem_ = fmt::format("{}: version {} is not known; a newer prof reads it", name_, header.version);
    return;
  }
  for (uint32_t i = 0; i < header.count; ++i) {
    const uint64_t at = sizeof header + uint64_t{i} * sizeof(format::CubinFileEntry);
    format::CubinFileEntry entry;
    if (!load(bytes_, at, entry)) {
      problem_ = fmt::format("{}: cut at offset {}, inside its list of {} cubins", name_, bytes_.size(), header.count);
      return;
    }
    const bool inside = entry.offset <= bytes_.size() && bytes_.size() - entry.offset >= entry.bytes;
    found_.try_emplace(entry.crc, inside ? bytes_.subspan(entry.offset, entry.bytes) : std::span<const uint8_t>());
  }
}

std::span<const uint8_t> KeptCubins::find(uint64_t crc, uint64_t bytes, std::string& why) const {
  const auto found = found_.find(crc);
  if (found == found_.end()) {
    why = problem_.empty() ? fmt::format("{}: no cubin with checksum {:#x}", name_, crc) : problem_;
    return {};
  }
  if (found->second.empty()) {
    why = fmt::format("{}: the cubin with checksum {:#x} is outside the file, which was cut", name_, crc);
    return {};
  }
  if (bytes != 0 && bytes != found->second.size()) {
    why = fmt::format("{}: the cubin with checksum {:#x} has {} bytes, {} when it was loaded", name_, crc,
                      found->second.size(), bytes);
    return {};
  }
  return found->second;
}

}  // namespace prof::analyzer
