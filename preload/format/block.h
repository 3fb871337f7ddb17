// The containers of the log: a file header, a page of counters, then 4 KiB blocks. docs/log_format.md says it in prose.
//
//   offset 0      FileHeader (struct, then text: the kind table and the counter names)       8 KiB
//   offset 8192   CounterPage: loss counters, mapped, updated in place                       4 KiB
//   offset 12288  block 0, block 1, …  each: BlockHeader (64 bytes) + payload (4,032 bytes); all zero = not used yet
//
// A block belongs to one thread and is decoded alone: no delta crosses its border. `committed` grows with one release
// store per record; a sealed block is full, never changes again and carries checksums. Where the log is a ring, sealed blocks
// of events are used again, the one that was sealed first before all others.
#pragma once

#include "preload/format/control_words.h"

#include <cstddef>
#include <cstdint>

namespace prof::format {

inline constexpr uint64_t kFileMagic = 0x0a474f4c46525089;  // bytes 89 50 52 46 4c 4f 47 0a: "\x89PRFLOG\n"
inline constexpr uint32_t kFormatVersion = 2;
inline constexpr size_t kBlockBytes = 4096;
inline constexpr size_t kHeaderBytes = 8192;
inline constexpr size_t kCounterPageOffset = kHeaderBytes;
inline constexpr size_t kBlocksOffset = kHeaderBytes + 4096;

enum class ClockSource : uint32_t { Monotonic = 0, Tsc = 1, Named = 2 };  // Named: a function the process exports
enum class Backing : uint32_t { Mapped = 0, Written = 1 };  // Written: pwrite once a second; a kill loses up to that

struct FileHeader {
  uint64_t magic;
  uint32_t version;       // a reader reads every version up to its own
  uint32_t header_bytes;  // kHeaderBytes
  uint32_t block_bytes;   // kBlockBytes
  uint32_t pid;
  ClockSource clock;
  Backing backing;
  uint64_t start_tick;  // the three clocks at the moment the log was made
  uint64_t start_monotonic_ns;
  uint64_t start_realtime_ns;
  uint64_t ticks_per_second;     // first estimate; ClockAnchor events are exact
  uint32_t kind_table_bytes;     // text after this struct, one line a kind: see codec.h
  uint32_t counter_names_bytes;  // then: one line a counter, in CounterPage order
};
static_assert(sizeof(FileHeader) == 72);

inline constexpr size_t kMaxCounters = 500;

// A log that keeps the last bytes or seconds of a run. All 0: the log is no ring.
struct RingWords {
  uint64_t bytes;         // of event blocks, as the user asked for; ~0: so many seconds of them
  uint64_t horizon_tick;  // every event recorded after it is in the log; what is older may be there or not
  uint64_t blocks;        // that were used again: their records are gone on purpose
  uint64_t records;       // that were in them
  uint64_t
      copied_ns;  // CLOCK_MONOTONIC when this copy was made of the log, whose recording went on; 0: it is the log itself
};

struct CounterPage {
  uint64_t magic;            // kFileMagic
  uint64_t finished;         // 0 while recording; monotonic ns when the log was closed in order
  uint64_t blocks_reserved;  // blocks the file had room for when last extended
  uint64_t gpu_pending;      // launches whose GPU record had not arrived at the last flush
  ControlWords control;      // format/control_words.h
  RingWords ring;
  uint64_t reserved[1];
  uint64_t counter[kMaxCounters];
};
static_assert(sizeof(CounterPage) == 4096);

inline constexpr uint32_t kBlockMagic = 0x314b4250;      // "PBK1"
inline constexpr uint32_t kBlockGoneMagic = 0x304b4250;  // "PBK0": of a ring, taken to be used again; it holds nothing
enum class BlockKind : uint16_t { Events = 1, Definitions = 2 };
inline constexpr uint16_t kBlockSealed = 1;

inline constexpr size_t kBlockHeaderBytes = 64;
inline constexpr size_t kPayloadBytes = kBlockBytes - kBlockHeaderBytes;
inline constexpr size_t kMaxRecordBytes = 2048;  // longer texts are split (StringPart) or cut, counted
inline constexpr size_t kMaxTextBytes = 1536;

struct BlockHeader {
  uint32_t magic;  // written last when a block is opened: 0 means the block holds nothing
  BlockKind kind;
  uint16_t flags;      // kBlockSealed
  uint32_t thread;     // ThreadOrdinal
  uint32_t committed;  // payload bytes that are whole records
  uint64_t sequence;   // 0, 1, 2 … per (thread, kind)
  uint64_t base_tick;  // times in the block count from here
  uint64_t
      in_call_tick;      // since when the thread is inside in_call_api; in a sealed block of a ring: when it was sealed
  uint32_t in_call_api;  // ApiId; 0: inside none of ours
  uint32_t records;      // in a sealed block, how many records it holds
  uint32_t crc[4];       // CRC32C of each KiB of the sealed block, these 16 bytes taken as zero
};
static_assert(sizeof(BlockHeader) == kBlockHeaderBytes);

struct Block {
  BlockHeader header;
  uint8_t payload[kPayloadBytes];
};
static_assert(sizeof(Block) == kBlockBytes);

}  // namespace prof::format
