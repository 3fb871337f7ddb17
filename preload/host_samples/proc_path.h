// The path of a file below /proc, for example "/proc/self/task/42/syscall". No allocation.
#pragma once

#include "preload/base/decimal.h"
#include "preload/base/raw_call.h"

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace prof::preload {

class ProcPath {
 public:
  explicit ProcPath(std::string_view begin) { add(begin); }
  ProcPath& add(std::string_view text) {
    std::memcpy(text_ + size_, text.data(), text.size());
    size_ += text.size();
    text_[size_] = '\0';
    return *this;
  }
  ProcPath& add(uint64_t number) { return add(Decimal(number).text()); }

  // The descriptor, or a negative error number.
  long open(int flags = O_RDONLY) const { return raw_call(SYS_openat, AT_FDCWD, word_of(text_), flags | O_CLOEXEC); }
  // Reads the first bytes of the file. Returns their number, or a negative error number.
  long read(char* to, size_t size) const {
    const long file = open();
    if (file < 0) return file;
    const long result = raw_call(SYS_read, file, word_of(to), static_cast<long>(size));
    raw_call(SYS_close, file);
    return result;
  }
  // Reads what the link leads to. Empty: there is no such link.
  std::string_view link(char* to, size_t size) const {
    const long result = raw_call(SYS_readlinkat, AT_FDCWD, word_of(text_), word_of(to), static_cast<long>(size));
    return {to, result > 0 ? static_cast<size_t>(result) : 0};
  }
  bool exists() const { return raw_call(SYS_faccessat, AT_FDCWD, word_of(text_), 0) == 0; }

 private:
  char text_[96];
  size_t size_ = 0;
};

// The kernel's linux_dirent64.
struct DirectoryEntry {
  uint64_t inode;
  int64_t next;
  uint16_t size;
  uint8_t type;
  char name[1];
};

// Calls take(entry) for the entries of an open directory, until it returns false.
template <class Take> void each_entry(long directory, Take&& take) {
  alignas(8) char room[4096] = {};
  for (;;) {
    const long size = raw_call(SYS_getdents64, directory, word_of(room), sizeof room);
    if (size <= 0) return;
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const DirectoryEntry*>(room + at);
      if (!take(*entry)) return;
      at += entry->size;
    }
  }
}

// A process or thread id. False: the text is something else.
inline bool read_id(std::string_view text, uint32_t& to) {
  to = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || to > 400'000'000) return false;
    to = to * 10 + static_cast<uint32_t>(c - '0');
  }
  return !text.empty();
}

}  // namespace prof::preload
