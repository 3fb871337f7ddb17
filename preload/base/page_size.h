// How large are the pages of this kernel? 4 KiB on x86-64; 4, 16 or 64 KiB on aarch64. Addresses and file offsets of
// mappings are multiples of it, while the log has blocks of 4 KiB.
#pragma once

#include <sys/auxv.h>

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// Of static objects that have pages of their own.
#if defined(__aarch64__)
inline constexpr size_t kLargestPage = 65536;
#else
inline constexpr size_t kLargestPage = 4096;
#endif

inline uint64_t page_size() {
  const uint64_t bytes = getauxval(AT_PAGESZ);
  return bytes != 0 ? bytes : 4096;
}
inline uint64_t page_begin(uint64_t address) { return address & ~(page_size() - 1); }
// The distance of `memory` from the beginning of its page, in bytes.
inline size_t bytes_into_page(const void* memory) { return reinterpret_cast<uintptr_t>(memory) & (page_size() - 1); }

}  // namespace prof::preload
