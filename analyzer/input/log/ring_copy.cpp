// See ring_copy.h.
//
// A block is reused only when it was sealed before all others, and a (thread, kind, sequence) is never used twice. So a
// block with the same three values before and after its copy changed only by records at its end, after what its header
// promised. The file is scanned again until little changes, then the horizon is read. Records sealed after the horizon
// cannot be missing, except in blocks opened after the last scan, which are left out.
#include "analyzer/input/log/ring_copy.h"

#include "preload/format/block.h"
#include "preload/format/crc.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <tuple>

namespace prof::analyzer {

namespace {

using format::Block;
using format::BlockHeader;
using format::BlockKind;
using format::CounterPage;
using format::kBlockBytes;
using format::kBlocksOffset;

constexpr int kMostLooks = 8;

bool is_used(const BlockHeader& header) { return header.magic == format::kBlockMagic; }
bool same_block(const BlockHeader& a, const BlockHeader& b) {
  return a.magic == b.magic && a.kind == b.kind && a.thread == b.thread && a.sequence == b.sequence;
}
bool has_checksums(const BlockHeader& h) { return (h.crc[0] | h.crc[1] | h.crc[2] | h.crc[3]) != 0; }
bool is_sealed(const BlockHeader& h) { return (h.flags & format::kBlockSealed) != 0 && has_checksums(h); }

class Copier {
 public:
  Copier(int fd, std::vector<uint8_t>& bytes) : fd_(fd), bytes_(bytes) {}

  bool run(std::string& why) {
    if (!grow()) {
      why = "is no log that can be read";
      return false;
    }
    uint64_t recycled = UINT64_MAX;  // during the last scan
    for (int look = 0; look < kMostLooks; ++look) {
      const uint64_t before = page().ring.blocks;
      if (!grow()) break;
      const uint64_t changed = look_over(Wanted::All);
      if (!read(format::kCounterPageOffset, sizeof(CounterPage), bytes_.data() + format::kCounterPageOffset)) break;
      recycled = page().ring.blocks - before;
      if (changed <= blocks() / 256) break;
    }
    // The definitions that the copied events need were written before them.
    const format::RingWords words = page().ring;
    if (!grow()) {
      why = "was cut off while it was copied";
      return false;
    }
    look_over(Wanted::Definitions);
    if (recycled > blocks() / 2) {
      why = "was written over faster than it could be copied; a larger ring lasts longer";
      return false;
    }
    reinterpret_cast<CounterPage*>(bytes_.data() + format::kCounterPageOffset)->ring = words;
    leave_one_run_each(words.horizon_tick);
    return true;
  }

 private:
  enum class Wanted { All, Definitions };

  uint64_t blocks() const { return (bytes_.size() - kBlocksOffset) / kBlockBytes; }
  const CounterPage& page() const {
    return *reinterpret_cast<const CounterPage*>(bytes_.data() + format::kCounterPageOffset);
  }
  Block& block(uint64_t i) { return *reinterpret_cast<Block*>(bytes_.data() + kBlocksOffset + i * kBlockBytes); }

  // What a later call reads is not older: a processor may exchange reads, also those of the kernel.
  bool read(uint64_t offset, size_t size, void* to) const {
    const bool whole = pread(fd_, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
    std::atomic_thread_fence(std::memory_order_acquire);
    return whole;
  }

  // Reads the current size of the file and its first pages.
  bool grow() {
    struct stat info {};
    if (fstat(fd_, &info) != 0 || static_cast<uint64_t>(info.st_size) < kBlocksOffset) return false;
    const uint64_t size = static_cast<uint64_t>(info.st_size);
    const uint64_t whole = kBlocksOffset + (size - kBlocksOffset) / kBlockBytes * kBlockBytes;
    if (whole > bytes_.size()) bytes_.resize(whole);
    return read(0, kBlocksOffset, bytes_.data());
  }

  // Copies every block that differs from the copy. Returns the number of blocks that were replaced by another block.
  uint64_t look_over(Wanted wanted) {
    uint64_t changed = 0;
    for (uint64_t i = 0; i < blocks(); ++i) {
      Block& ours = block(i);
      BlockHeader header{};
      if (!read(kBlocksOffset + i * kBlockBytes, sizeof header, &header)) header = {};
      if (wanted == Wanted::Definitions && header.kind != BlockKind::Definitions) continue;
      const bool same = same_block(header, ours.header);
      if (same && (is_sealed(ours.header) || header.committed == ours.header.committed)) continue;
      changed += same || !is_used(header) ? 0 : 1;
      take(i, header);
    }
    return changed;
  }

  void take(uint64_t i, BlockHeader header) {
    Block& ours = block(i);
    for (int tries = 0; tries < kMostLooks && is_used(header); ++tries) {
      Block there{};
      BlockHeader after{};
      const uint64_t offset = kBlocksOffset + i * kBlockBytes;
      if (!read(offset, sizeof there, &there) || !read(offset, sizeof after, &after)) break;
      // A header that was read while its block was opened again may have the old `committed`.
      if (same_block(header, after) && same_block(header, there.header) && header.committed <= there.header.committed) {
        keep(ours, there, header);
        return;
      }
      header = after;
    }
    std::memset(&ours, 0, sizeof ours);
  }

  // Stores the block as sealed, or as an open block with the committed bytes.
  static void keep(Block& ours, const Block& there, const BlockHeader& header) {
    uint32_t crc[4];
    format::block_crc(there, crc);
    if (is_sealed(there.header) && std::memcmp(crc, there.header.crc, sizeof crc) == 0) {
      ours = there;
      return;
    }
    const size_t committed = std::min<size_t>(header.committed, format::kPayloadBytes);
    std::memset(&ours, 0, sizeof ours);
    ours.header = header;
    ours.header.flags = 0;
    ours.header.records = 0;
    std::memset(ours.header.crc, 0, sizeof ours.header.crc);
    std::memcpy(ours.payload, there.payload, committed);
  }

  // Keeps consecutive event blocks of each thread. If there is a gap after a block that was sealed before the horizon,
  // that block and the earlier ones have been overwritten since. After any other gap, or after a block that was open
  // when it was copied, blocks were opened after the last scan.
  void leave_one_run_each(uint64_t horizon) {
    std::vector<uint64_t> events;
    for (uint64_t i = 0; i < blocks(); ++i) {
      if (is_used(block(i).header) && block(i).header.kind == BlockKind::Events) events.push_back(i);
    }
    const auto key = [&](uint64_t i) { return std::tuple(block(i).header.thread, block(i).header.sequence); };
    std::sort(events.begin(), events.end(), [&](uint64_t a, uint64_t b) { return key(a) < key(b); });
    for (size_t first = 0, last; first < events.size(); first = last) {
      last = first + 1;
      while (last < events.size() && block(events[last]).header.thread == block(events[first]).header.thread) ++last;
      size_t begin = first, end = last;
      for (size_t i = first + 1; i < last; ++i) {
        const BlockHeader& before = block(events[i - 1]).header;
        const bool next = block(events[i]).header.sequence == before.sequence + 1;
        if (next && is_sealed(before)) continue;
        if (!next && is_sealed(before) && before.in_call_tick <= horizon) {
          begin = i;
        } else {
          end = i;
          break;
        }
      }
      for (size_t i = first; i < last; ++i) {
        if (i < begin || i >= end) std::memset(&block(events[i]), 0, kBlockBytes);
      }
    }
  }

  int fd_;
  std::vector<uint8_t>& bytes_;
};

}  // namespace

bool copy_ring(int fd, std::vector<uint8_t>& bytes, std::string& why) {
  bytes.clear();
  return Copier(fd, bytes).run(why);
}

std::vector<uint8_t> as_closed_log(const std::vector<uint8_t>& copy, uint64_t monotonic_ns) {
  std::vector<uint8_t> log(copy.begin(), copy.begin() + kBlocksOffset);
  for (uint64_t at = kBlocksOffset; at < copy.size(); at += kBlockBytes) {
    uint32_t magic = 0;
    std::memcpy(&magic, copy.data() + at, sizeof magic);
    if (magic == format::kBlockMagic) log.insert(log.end(), copy.data() + at, copy.data() + at + kBlockBytes);
  }
  CounterPage page;
  std::memcpy(&page, log.data() + format::kCounterPageOffset, sizeof page);
  page.finished = monotonic_ns;
  page.ring.copied_ns = monotonic_ns;
  page.control = {};
  page.blocks_reserved = (log.size() - kBlocksOffset) / kBlockBytes;
  std::memcpy(log.data() + format::kCounterPageOffset, &page, sizeof page);
  return log;
}

}  // namespace prof::analyzer
