// See log_file.h. This file: which blocks of the file are used, which of them can be trusted, and what is missing?
//
// A log that is still being written grows while it is read, and its unused end is cut off when it is closed. Therefore
// block headers are read with pread, because a mapping would fault after a cut end. Everything that a header promises
// was committed before the header. If a block of a thread is missing, because it was opened during the scan, it is
// searched once more.
#include "analyzer/input/log/log_file.h"

#include "preload/format/crc.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

namespace prof::analyzer {

using format::Block;
using format::BlockHeader;
using format::kBlockBytes;
using format::kBlockHeaderBytes;
using format::kBlocksOffset;
using format::kPayloadBytes;

namespace {

constexpr uint64_t kCrcLaneBytes = 1024;

bool all_zero(const uint8_t* data, uint64_t size) {
  return size == 0 || (data[0] == 0 && std::memcmp(data, data + 1, size - 1) == 0);
}

// Offset in a sealed block of the first KiB whose checksum is wrong or whose bytes are incomplete; kBlockBytes: none.
uint64_t first_bad_byte(const uint8_t* bytes, uint64_t available_payload) {
  const uint64_t available = kBlockHeaderBytes + available_payload;
  Block copy{};
  const Block* block = reinterpret_cast<const Block*>(bytes);
  if (available < kBlockBytes) {
    std::memcpy(&copy, bytes, available);
    block = &copy;
  }
  uint32_t computed[4];
  uint32_t stored[4];
  format::block_crc(*block, computed);
  std::memcpy(stored, bytes + offsetof(BlockHeader, crc), sizeof stored);
  for (uint64_t lane = 0; lane < 4; ++lane) {
    const bool whole = (lane + 1) * kCrcLaneBytes <= available;
    if (!whole || stored[lane] != computed[lane]) return lane * kCrcLaneBytes;
  }
  return kBlockBytes;
}

}  // namespace

uint64_t LogFile::whole_blocks() const { return (size_ - kBlocksOffset) / kBlockBytes; }

bool LogFile::block_is_zero(uint64_t offset) const {
  return all_zero(data_ + offset, std::min<uint64_t>(kBlockBytes, size_ - offset));
}

BlockHeader LogFile::load_header(uint64_t offset) const {
  BlockHeader header{};
  if (!changes_) {
    std::memcpy(&header, data_ + offset, sizeof header);
  } else if (pread(fd_, &header, sizeof header, static_cast<off_t>(offset)) != static_cast<ssize_t>(sizeof header)) {
    header = {};  // cut off meanwhile: it was unused
  }
  return header;
}

void LogFile::index_blocks() {
  const uint64_t blocks = whole_blocks();
  for (uint64_t i = 0; i < blocks; ++i) look_at_block(kBlocksOffset + i * kBlockBytes, kBlockBytes);
  const uint64_t end = kBlocksOffset + blocks * kBlockBytes;
  if (size_ > end && !all_zero(data_ + end, size_ - end)) look_at_block(end, size_ - end);
  if (changes_) {
    find_late_blocks();
  } else if (!still_written_ && (page_->blocks_reserved > size_ / kBlockBytes ||
                                 size_ < kBlocksOffset + page_->blocks_reserved * kBlockBytes)) {
    add_damage(DamageKind::TruncatedFile, size_, 0,
               fmt::format("the file ends here; it had room for {} blocks and has {} of them now, used or not",
                           page_->blocks_reserved, whole_blocks()));
  }
  verify_checksums();
  sort_and_check_sequences();
  std::stable_sort(damage_.begin(), damage_.end(),
                   [](const Damage& a, const Damage& b) { return a.offset < b.offset; });
}

void LogFile::look_at_block(uint64_t offset, uint64_t bytes) {
  if (bytes < kBlockHeaderBytes) {
    add_damage(DamageKind::TruncatedBlock, offset, 0,
               fmt::format("the file ends {} bytes into a block's header", bytes));
    return;
  }
  const BlockHeader header = load_header(offset);
  // A kill while a block is opened leaves header fields without magic. Records without magic are damage.
  if (header.magic == 0 && (changes_ || all_zero(data_ + offset + kBlockHeaderBytes, bytes - kBlockHeaderBytes))) {
    ++unused_blocks_;
    return;
  }
  if (header.magic == format::kBlockGoneMagic && is_ring()) {  // killed while the block was being reused
    ++unused_blocks_;
    return;
  }
  if (header.magic != format::kBlockMagic) {
    lost_blocks_.push_back(offset);
    add_damage(DamageKind::BadMagic, offset, kPayloadBytes,
               fmt::format("a block starts with {:08x} instead of {:08x} and is not empty", header.magic,
                           format::kBlockMagic));
    return;
  }
  add_block(offset, header, bytes - kBlockHeaderBytes);
}

void LogFile::add_block(uint64_t offset, const BlockHeader& header, uint64_t available) {
  // The writer sets the flag, computes the checksums over it and stores them. If all are zero, the writer is (or was
  // killed) in between.
  const bool has_checksums = (header.crc[0] | header.crc[1] | header.crc[2] | header.crc[3]) != 0;
  const bool sealed = (header.flags & format::kBlockSealed) != 0 && has_checksums;
  const auto kind = static_cast<uint16_t>(header.kind);
  std::string wrong;
  if (header.committed > kPayloadBytes) {
    wrong = fmt::format("a block claims {} bytes of records; it has room for {}", header.committed, kPayloadBytes);
  } else if (kind != 1 && kind != 2) {
    wrong = fmt::format("a block is of kind {}, which does not exist", kind);
  } else if ((header.flags & ~format::kBlockSealed) != 0) {
    wrong = fmt::format("a block has flags {:#x}; {:#x} exist", header.flags, format::kBlockSealed);
  }
  if (!wrong.empty()) {
    lost_blocks_.push_back(offset);
    add_damage(DamageKind::BadBlockHeader, offset, std::min<uint64_t>(header.committed, kPayloadBytes), wrong);
    return;
  }
  BlockRef block;
  block.offset = offset;
  block.kind = header.kind;
  block.thread = header.thread;
  block.sequence = header.sequence;
  block.base_tick = header.base_tick;
  block.committed = block.readable = header.committed;
  block.records = header.records;
  block.sealed = sealed;
  block.in_call_api = header.in_call_api;
  block.in_call_tick = header.in_call_tick;
  if (available < kPayloadBytes) {
    const uint64_t checked = sealed ? first_bad_byte(data_ + offset, available) : kBlockHeaderBytes + available;
    block.readable = static_cast<uint32_t>(
        std::min<uint64_t>(block.committed, checked < kBlockHeaderBytes ? 0 : checked - kBlockHeaderBytes));
    block.sealed = false;  // its checksums were checked here
    if (block.readable < block.committed) {
      add_damage(DamageKind::TruncatedBlock, offset + kBlockHeaderBytes + available, block.committed - block.readable,
                 fmt::format("the file ends inside a block: {} of {} bytes of records are there", block.readable,
                             block.committed));
    }
    if (checked == 0) {
      lost_blocks_.push_back(offset);
      return;
    }
  } else if (!sealed && has_checksums && !changes_) {
    Block as_sealed;
    std::memcpy(&as_sealed, data_ + offset, sizeof as_sealed);
    as_sealed.header.flags |= format::kBlockSealed;
    const bool right = first_bad_byte(reinterpret_cast<const uint8_t*>(&as_sealed), kPayloadBytes) == kBlockBytes;
    add_damage(
        DamageKind::BadBlockHeader, offset, 0,
        fmt::format("a block is not marked as sealed but carries checksums, which are {} (a kill in the moment of "
                    "sealing, or damage); its records are given",
                    right ? "right" : "wrong"));
  }
  blocks_.push_back(block);
}

void LogFile::find_late_blocks() {
  // Sequence numbers per (thread, kind): their count and the largest. A thread opens block n + 1 after block n, so a
  // missing block below the largest one has been opened by now.
  std::map<std::pair<uint32_t, format::BlockKind>, uint64_t> largest;
  for (const BlockRef& block : blocks_) {
    uint64_t& at = largest[{block.thread, block.kind}];
    at = std::max(at, block.sequence);
  }
  std::vector<std::tuple<uint32_t, format::BlockKind, uint64_t>> seen;
  for (const BlockRef& block : blocks_) seen.emplace_back(block.thread, block.kind, block.sequence);
  std::sort(seen.begin(), seen.end());
  uint64_t expected = 0;
  for (const auto& [key, last] : largest) expected += last + 1;
  if (expected == seen.size()) return;
  for (uint64_t i = 0; i < whole_blocks(); ++i) {
    const uint64_t offset = kBlocksOffset + i * kBlockBytes;
    const BlockHeader header = load_header(offset);
    if (header.magic != format::kBlockMagic) continue;
    const auto found = largest.find({header.thread, header.kind});
    if (found == largest.end() || header.sequence > found->second) continue;
    if (std::binary_search(seen.begin(), seen.end(), std::tuple(header.thread, header.kind, header.sequence))) continue;
    add_block(offset, header, kPayloadBytes);
    --unused_blocks_;
  }
}

void LogFile::verify_checksums() {
  std::vector<uint16_t> first_bad(blocks_.size(), kBlockBytes);
  const auto verify = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      if (!blocks_[i].sealed) continue;
      first_bad[i] = static_cast<uint16_t>(first_bad_byte(data_ + blocks_[i].offset, kPayloadBytes));
    }
  };
  const size_t workers = blocks_.size() < 1024 ? 1 : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t w = 1; w < workers; ++w) {
    threads.emplace_back(verify, blocks_.size() * w / workers, blocks_.size() * (w + 1) / workers);
  }
  verify(0, blocks_.size() / workers);
  for (std::thread& thread : threads) thread.join();

  std::vector<BlockRef> trusted;
  trusted.reserve(blocks_.size());
  for (size_t i = 0; i < blocks_.size(); ++i) {
    BlockRef& block = blocks_[i];
    if (first_bad[i] == kBlockBytes) {
      trusted.push_back(block);
      continue;
    }
    const uint64_t lane_begin = first_bad[i];
    const uint64_t good = lane_begin < kBlockHeaderBytes ? 0 : lane_begin - kBlockHeaderBytes;
    block.readable = static_cast<uint32_t>(std::min<uint64_t>(good, block.committed));
    const uint64_t claimed = std::min<uint64_t>(block.committed, kPayloadBytes);
    add_damage(
        DamageKind::BadChecksum, block.offset + lane_begin, claimed - std::min<uint64_t>(block.readable, claimed),
        fmt::format("bytes {}..{} changed after the block was sealed (thread {}, block {})", block.offset + lane_begin,
                    block.offset + lane_begin + kCrcLaneBytes - 1, block.thread, block.sequence));
    if (first_bad[i] == 0) {
      lost_blocks_.push_back(block.offset);  // the header itself: nothing in the block can be placed
    } else {
      trusted.push_back(block);
    }
  }
  blocks_ = std::move(trusted);
}

void LogFile::sort_and_check_sequences() {
  const auto key = [](const BlockRef& b) { return std::tuple(b.thread, b.kind, b.sequence, b.offset); };
  std::sort(blocks_.begin(), blocks_.end(), [&](const BlockRef& a, const BlockRef& b) { return key(a) < key(b); });
  std::vector<BlockRef> kept;
  kept.reserve(blocks_.size());
  uint64_t unexplained =
      lost_blocks_.size();  // blocks that exist but are unreadable explain as many missing sequence numbers
  const BlockRef* last = nullptr;
  size_t row_begin = 0;
  for (const BlockRef& block : blocks_) {
    const bool same_row = last != nullptr && last->thread == block.thread && last->kind == block.kind;
    if (same_row && last->sequence == block.sequence) {
      add_damage(DamageKind::DuplicateBlock, block.offset, block.readable,
                 fmt::format("thread {} has two blocks number {}; the one at offset {} is used", block.thread,
                             block.sequence, last->offset));
      continue;
    }
    // In a ring, the first blocks of a thread were reused, and so were the blocks after one that was sealed before the
    // horizon. That one was taken, too, by a thread that was killed before it emptied the block.
    const bool used_again = is_ring() && block.kind == format::BlockKind::Events &&
                            (!same_row || (last->sealed && last->in_call_tick <= horizon_tick()));
    const uint64_t expected = used_again ? block.sequence : same_row ? last->sequence + 1 : 0;
    if (used_again && same_row && block.sequence != last->sequence + 1) {
      unused_blocks_ += kept.size() - row_begin;
      kept.resize(row_begin);
    }
    if (!same_row) row_begin = kept.size();
    if (block.sequence > expected) {
      const uint64_t missing = block.sequence - expected;
      const uint64_t explained = std::min(missing, unexplained);
      unexplained -= explained;
      const uint64_t lost = std::min<uint64_t>(missing - explained, whole_blocks());  // a damaged number may be huge
      add_damage(
          DamageKind::MissingBlocks, block.offset, lost * kPayloadBytes,
          fmt::format("blocks {}..{} of thread {} ({}) are missing before this one", expected, block.sequence - 1,
                      block.thread, block.kind == format::BlockKind::Events ? "events" : "definitions"));
    }
    kept.push_back(block);
    last = &kept.back();  // kept never exceeds its reserve, so the pointer remains valid
  }
  blocks_ = std::move(kept);
}

}  // namespace prof::analyzer
