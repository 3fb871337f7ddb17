#include "preload/base/processor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace prof::preload {

// x86: the brand string, 16 bytes in each of three leaves. aarch64: the identification register in Linux's format,
// "0x00000000413fd0c1".
ProcessorModel::ProcessorModel() {
#if defined(__x86_64__)
  constexpr uint32_t kFirst = 0x80000002, kLeaves = 3;
  uint32_t words[4 * kLeaves] = {};
  for (uint32_t i = 0; i < kLeaves; ++i) {
    uint32_t* const to = words + size_t{4} * i;
    if (__get_cpuid(kFirst + i, to, to + 1, to + 2, to + 3) == 0) return;
  }
  std::memcpy(text_, words, sizeof text_);
  end_ = static_cast<uint32_t>(strnlen(text_, sizeof text_));
#else
  const int fd = open("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t size = read(fd, text_, sizeof text_);
  close(fd);
  end_ = size > 0 ? static_cast<uint32_t>(size) : 0;
#endif
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\0'; };
  while (end_ > 0 && blank(text_[end_ - 1])) --end_;
  while (begin_ < end_ && blank(text_[begin_])) ++begin_;
}

uint64_t online_processors() {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? static_cast<uint64_t>(count) : 0;
}

}  // namespace prof::preload
