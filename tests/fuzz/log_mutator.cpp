// How libFuzzer changes a log: in five of eight cases its values, in two the bytes of a block's records or of its
// header, and in one any bytes of the file. After the first two, checksums, lengths and counts are corrected, so that
// the changed parts are read.
#include "preload/format/crc.h"
#include "tests/fuzz/log_lines.h"
#include "tests/golden/undump_log.h"

#include <algorithm>
#include <cstring>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using namespace prof::tests;
namespace format = prof::format;

// The size of the log that the text makes; 0 if it makes none or the log does not fit.
size_t log_of_text(const std::string& text, uint8_t* to, size_t max_size) {
  std::vector<uint8_t> log;
  if (!undump_log(text, log).empty() || log.size() > max_size) return 0;
  std::memcpy(to, log.data(), log.size());
  return log.size();
}

size_t change_values(uint8_t* data, size_t size, size_t max_size, FuzzRandom& random) {
  const std::string text = text_of_log({data, data + size});
  for (int tries = 0; tries < 4 && !text.empty(); ++tries) {
    if (const size_t made = log_of_text(change_lines(text, random), data, max_size)) return made;
  }
  return 0;
}

bool change_block(uint8_t* data, size_t size, FuzzRandom& random) {
  if (size < format::kBlocksOffset + format::kBlockBytes) return false;
  uint8_t* const at = data + format::kBlocksOffset +
                      random() % ((size - format::kBlocksOffset) / format::kBlockBytes) * format::kBlockBytes;
  format::Block block;
  std::memcpy(&block, at, sizeof block);
  format::BlockHeader& header = block.header;
  header.magic = format::kBlockMagic;
  header.committed = std::min<uint32_t>(header.committed, format::kPayloadBytes);
  if (random() % 8 == 0) {
    uint8_t* const fields = reinterpret_cast<uint8_t*>(&block) + offsetof(format::BlockHeader, kind);
    LLVMFuzzerMutate(fields, offsetof(format::BlockHeader, crc) - offsetof(format::BlockHeader, kind),
                     offsetof(format::BlockHeader, crc) - offsetof(format::BlockHeader, kind));
  } else {
    header.committed = static_cast<uint32_t>(LLVMFuzzerMutate(block.payload, header.committed, format::kPayloadBytes));
  }
  if (header.flags & format::kBlockSealed) format::block_crc(block, header.crc);
  std::memcpy(at, &block, sizeof block);
  return true;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  FuzzRandom random(seed);
  const uint64_t way = random() % 8;
  if (way < 5) {
    if (const size_t made = change_values(data, size, max_size, random)) return made;
  }
  if (way < 7 && change_block(data, size, random)) return size;
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size, const uint8_t* second,
                                            size_t second_size, uint8_t* out, size_t max_size, unsigned seed) {
  FuzzRandom random(seed);
  const std::string text = text_of_log({first, first + first_size}),
                    other = text_of_log({second, second + second_size});
  return text.empty() || other.empty() ? 0 : log_of_text(splice_lines(text, other, random), out, max_size);
}
