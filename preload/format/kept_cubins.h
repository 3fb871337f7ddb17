// What are the bytes of the file of cubins beside a log? The recorder writes it when a recording with PC samples ends
// in order; the reader finds a cubin by its checksum (CubinDef::crc). Little-endian. docs/log_format.md describes it.
//
//   CubinFileHeader | CubinFileEntry × count | contents
#pragma once

#include <cstdint>

namespace prof::format {

inline constexpr char kCubinFileEnding[] = ".cubins";             // after the name of the log
inline constexpr uint64_t kCubinFileMagic = 0x534e4942'55434250;  // "PBCUBINS"

struct CubinFileHeader {
  uint64_t magic = kCubinFileMagic;
  uint32_t version = 1;
  uint32_t count = 0;
};
static_assert(sizeof(CubinFileHeader) == 16);

struct CubinFileEntry {
  uint64_t crc = 0;
  uint64_t offset = 0;  // in the file
  uint64_t bytes = 0;
};
static_assert(sizeof(CubinFileEntry) == 24);

}  // namespace prof::format
