// Where is what in a log? A file header, a page of counters, then blocks of 4 KiB. The recorder writes these structs
// and the reader reads them. Fields must never change their meaning. docs/log_format.md describes the format in prose.
//
//   offset 0      FileHeader (struct, then text: the kind table and the counter names)       8 KiB
//   offset 8192   CounterPage: loss counters, mapped, updated in place                       4 KiB
//   offset 12288  block 0, block 1, …  each: BlockHeader (64 bytes) + payload (4,032 bytes); all zero = not used yet
//
// A block belongs to one thread and is decoded alone: no delta refers to another block. `committed` grows with one
// release store per record. A sealed block is full, never changes again and has checksums. If the log is a ring, sealed
// blocks of events are reused. The block that was sealed first is reused first.
#pragma once

#include "preload/format/control_words.h"

#include <cstddef>
#include <cstdint>

namespace prof::format {

inline constexpr uint64_t kFileMagic = 0x0a474f4c46525089;  // bytes 89 50 52 46 4c 4f 47 0a: "\x89PRFLOG\n"
inline constexpr uint32_t kFormatVersion = 4;
inline constexpr size_t kBlockBytes = 4096;
inline constexpr size_t kHeaderBytes = 8192;
inline constexpr size_t kCounterPageOffset = kHeaderBytes;
inline constexpr size_t kBlocksOffset = kHeaderBytes + 4096;

enum class ClockSource : uint32_t { Monotonic = 0, Tsc = 1, Named = 2 };  // Named: an exported function of the process
enum class Backing : uint32_t { Mapped = 0, Written = 1 };  // Written: pwrite once a second; a kill loses up to 1 s

struct FileHeader {
  uint64_t magic;
  uint32_t version;       // a reader accepts every version up to its own
  uint32_t header_bytes;  // kHeaderBytes
  uint32_t block_bytes;   // kBlockBytes
  uint32_t pid;
  ClockSource clock;
  Backing backing;
  uint64_t start_tick;  // the three clocks at the moment when the log was created
  uint64_t start_monotonic_ns;
  uint64_t start_realtime_ns;
  uint64_t ticks_per_second;     // first estimate; ClockAnchor events are exact
  uint32_t kind_table_bytes;     // text after this struct, one line for each kind: see codec.h
  uint32_t counter_names_bytes;  // text after that, one line for each counter, in CounterPage order
};
static_assert(sizeof(FileHeader) == 72);

inline constexpr size_t kMaxCounters = 500;

// State of a log that keeps the last bytes or seconds of a run. If all words are 0, the log is no ring.
struct RingWords {
  uint64_t bytes;         // requested size of the event blocks; ~0: the ring is limited by seconds
  uint64_t horizon_tick;  // every event recorded after it is in the log; older ones may be missing
  uint64_t blocks;        // number of blocks that were reused, so their records were overwritten
  uint64_t records;       // number of records in those blocks
  // CLOCK_MONOTONIC when this copy of a log was made while its recording continued; 0: this file is the log itself.
  uint64_t copied_ns;
};

struct CounterPage {
  uint64_t magic;            // kFileMagic
  uint64_t finished;         // 0 while recording; monotonic ns when the log was closed in order
  uint64_t blocks_reserved;  // number of blocks that the file had room for when it was last extended
  uint64_t gpu_pending;      // launches whose GPU record had not arrived at the last flush
  ControlWords control;      // format/control_words.h
  RingWords ring;
  uint64_t reserved[1];
  uint64_t counter[kMaxCounters];
};
static_assert(sizeof(CounterPage) == 4096);

inline constexpr uint32_t kBlockMagic = 0x314b4250;      // "PBK1"
inline constexpr uint32_t kBlockGoneMagic = 0x304b4250;  // "PBK0": an empty block of a ring, about to be reused
enum class BlockKind : uint16_t { Events = 1, Definitions = 2 };
inline constexpr uint16_t kBlockSealed = 1;

inline constexpr size_t kBlockHeaderBytes = 64;
inline constexpr size_t kPayloadBytes = kBlockBytes - kBlockHeaderBytes;
inline constexpr size_t kMaxRecordBytes = 2048;  // longer texts are split (StringPart), or cut and counted
inline constexpr size_t kMaxTextBytes = 1536;

struct BlockHeader {
  uint32_t magic;  // written last when a block is opened; 0: the block is empty
  BlockKind kind;
  uint16_t flags;      // kBlockSealed
  uint32_t thread;     // ThreadOrdinal
  uint32_t committed;  // bytes of complete records in the payload
  uint64_t sequence;   // 0, 1, 2 … per (thread, kind)
  uint64_t base_tick;  // base of the first tick in the block
  // Tick at which the thread entered in_call_api. In a sealed block of a ring: tick at which the block was sealed.
  uint64_t in_call_tick;
  uint32_t in_call_api;  // ApiId of the function that the thread is inside; 0: none
  uint32_t records;      // number of records in a sealed block
  uint32_t crc[4];       // CRC32C of each KiB of the sealed block, computed with these 16 bytes as 0
};
static_assert(sizeof(BlockHeader) == kBlockHeaderBytes);

struct Block {
  BlockHeader header;
  uint8_t payload[kPayloadBytes];
};
static_assert(sizeof(Block) == kBlockBytes);

}  // namespace prof::format
