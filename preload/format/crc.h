// What are the checksums of a sealed block? CRC32C (Castagnoli, reflected 0x82f63b78, start and end inverted), one for
// each KiB, so damage is located to the KiB. The recorder stores them and the reader checks them. Four independent
// lanes keep the CPU's crc32 unit busy. A hook that seals a block must stay far below half a microsecond.
#pragma once

#include "preload/format/block.h"

#include <cstring>

namespace prof::format {

namespace detail {

struct CrcTable {
  uint32_t row[256];
};
constexpr CrcTable make_crc_table() {
  CrcTable table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1)));
    table.row[i] = crc;
  }
  return table;
}
inline constexpr CrcTable kCrcTable = make_crc_table();

inline uint64_t load64(const uint8_t* at) {
  uint64_t value;
  std::memcpy(&value, at, 8);
  return value;
}

// Eight bytes of a lane. The crc field of the header is read as 0.
inline uint64_t block_word(const uint8_t* bytes, size_t offset) {
  constexpr size_t kCrcAt = offsetof(BlockHeader, crc);
  static_assert(kCrcAt % 8 == 0 && sizeof(BlockHeader::crc) == 16);
  return offset == kCrcAt || offset == kCrcAt + 8 ? 0 : load64(bytes + offset);
}

inline void block_crc_table(const Block& block, uint32_t out[4]) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(&block);
  for (size_t lane = 0; lane < 4; ++lane) {
    uint32_t crc = ~0u;
    for (size_t at = lane * 1024; at < lane * 1024 + 1024; at += 8) {
      uint64_t word = block_word(bytes, at);
      for (int i = 0; i < 8; ++i, word >>= 8) crc = (crc >> 8) ^ kCrcTable.row[(crc ^ word) & 0xff];
    }
    out[lane] = ~crc;
  }
}

#if defined(__x86_64__)
__attribute__((target("sse4.2,crc32"))) inline void block_crc_hardware(const Block& block, uint32_t out[4]) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(&block);
  uint64_t a = 0xffffffff, b = a, c = a, d = a;
  for (size_t at = 0; at < 1024; at += 8) {
    a = __builtin_ia32_crc32di(a, block_word(bytes, at));
    b = __builtin_ia32_crc32di(b, load64(bytes + 1024 + at));
    c = __builtin_ia32_crc32di(c, load64(bytes + 2048 + at));
    d = __builtin_ia32_crc32di(d, load64(bytes + 3072 + at));
  }
  out[0] = ~static_cast<uint32_t>(a);
  out[1] = ~static_cast<uint32_t>(b);
  out[2] = ~static_cast<uint32_t>(c);
  out[3] = ~static_cast<uint32_t>(d);
}
#endif

}  // namespace detail

// Computes the checksums for block.header.crc. The current contents of that field do not matter.
inline void block_crc(const Block& block, uint32_t out[4]) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return detail::block_crc_hardware(block, out);
#endif
  detail::block_crc_table(block, out);
}

}  // namespace prof::format
