// Offline. What does a log contain, and which of it can be trusted? Opens a log (plain, gzip, zstd, or still being
// written), checks its header and every sealed block's checksum, and lists its blocks and its damage. Used by every
// reader of logs; log_decode.h converts the blocks to records. It never crashes on any bytes and never guesses:
// everything that is not delivered is in damage().
#pragma once

#include "analyzer/base/column.h"
#include "analyzer/base/inflater.h"
#include "analyzer/input/log/log_kinds.h"
#include "preload/format/block.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class LogErrorKind {
  None,
  NotFound,
  NoPermission,
  Directory,
  CannotRead,
  Empty,
  NotALog,
  TruncatedHeader,
  BadHeader,
  NewerVersion,
};

// Why a file cannot be used at all.
struct LogError {
  LogErrorKind kind = LogErrorKind::None;
  std::string what;     // what was found and what was expected
  uint64_t offset = 0;  // in the file
  std::string advice;   // what to do
  // "PATH: what (at offset N); advice"
  std::string text(std::string_view path) const;
};

enum class DamageKind {
  BadMagic,        // a block that is neither a block of a log nor empty
  BadBlockHeader,  // impossible fields in a block header
  BadChecksum,     // a KiB of a sealed block changed after it was sealed
  BadRecord,       // bytes that are no record (found by decoding)
  MissingBlocks,   // sequence numbers of a thread that no block has
  DuplicateBlock,  // two blocks with one sequence number
  TruncatedBlock,  // the file ends inside a block
  TruncatedFile,   // the file ends before blocks that it had
  BadCompression,  // the gzip or zstd data is damaged or ends early
};

struct Damage {
  DamageKind kind{};
  uint64_t offset = 0;      // in the (decompressed) file
  uint64_t bytes_lost = 0;  // maximum number of payload bytes whose records are not delivered
  std::string what;
};

// A used block whose header is valid.
struct BlockRef {
  uint64_t offset = 0;  // of the block in the file
  format::BlockKind kind{};
  uint32_t thread = 0;
  uint64_t sequence = 0;
  uint64_t base_tick = 0;
  uint32_t committed = 0;  // payload bytes according to the header
  uint32_t readable = 0;   // payload bytes to decode: less than committed if a checksum is wrong or the file ends
  uint32_t records = 0;    // according to the header of a sealed block
  bool sealed = false;
  uint32_t in_call_api = 0;   // format::ApiId
  uint64_t in_call_tick = 0;  // of a sealed block of a ring: time of sealing
};

struct LogCounter {
  std::string_view name;
  uint64_t value = 0;
};

class LogFile;
struct LogOpenResult {
  std::unique_ptr<LogFile> log;  // null: see error
  LogError error;
  explicit operator bool() const { return log != nullptr; }
};

class LogFile {
 public:
  static LogOpenResult open(const std::string& path);
  // compressed data that inflates to this many bytes without a block is refused: it is no log, whatever its header is.
  static constexpr uint64_t kMostRubbish = uint64_t{64} << 20;
  // Opens the bytes of a plain or compressed log. For tests and fuzzing.
  static LogOpenResult from_memory(std::vector<uint8_t> bytes, std::string name, uint64_t most_rubbish = kMostRubbish);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t file_bytes() const { return file_bytes_; }  // size on disk
  uint64_t log_bytes() const { return size_; }         // decompressed
  bool compressed() const { return compression_ != Compression::None; }
  Compression compression() const { return compression_; }

  const format::FileHeader& header() const { return header_; }
  const format::CounterPage& counter_page() const { return *page_; }  // a copy made when the log was opened
  bool finished() const { return page_->finished != 0; }
  // Its process is alive and has not finished it: the content is consistent and will grow.
  bool still_written() const { return still_written_; }
  bool changes() const { return changes_; }  // and the bytes are those of the file, not of a copy

  // A flight recorder's log: blocks were overwritten, and records before the horizon remain only by chance.
  bool is_ring() const { return page_->ring.bytes != 0; }
  uint64_t horizon_tick() const { return is_ring() ? page_->ring.horizon_tick : 0; }

  const std::vector<LogCounter>& counters() const { return counters_; }  // all of the file's own names
  std::optional<uint64_t> counter(std::string_view name) const;
  std::string_view kind_table_text() const { return kind_text_; }
  std::string_view counter_names_text() const { return counter_text_; }
  const KindTable& kinds() const { return kinds_; }

  const std::vector<BlockRef>& blocks() const { return blocks_; }  // sorted by thread, kind, sequence
  const std::vector<Damage>& damage() const { return damage_; }
  uint64_t whole_blocks() const;  // blocks for which the file has room, used or not
  uint64_t unused_blocks() const { return unused_blocks_; }

  // Valid as long as the log. `offset` of a block; its payload may be shorter if the file ends.
  const uint8_t* bytes_at(uint64_t offset) const { return data_ + offset; }
  const uint8_t* payload(const BlockRef& block) const { return data_ + block.offset + format::kBlockHeaderBytes; }
  // Whether every byte of the block at `offset` is zero.
  bool block_is_zero(uint64_t offset) const;

 private:
  LogFile() = default;
  bool map(const std::string& path, LogError& error);
  bool inflate_all(LogError& error);
  // What is inflated since the last block and is no block.
  struct Rubbish {
    uint64_t begin = 0, bytes = 0;
  };
  bool keep_inflated(const uint8_t* bytes, uint64_t size, Rubbish& rubbish);
  bool copy_of_ring(LogError& error);
  bool read_header(LogError& error);
  void index_blocks();
  void look_at_block(uint64_t offset, uint64_t bytes);
  void add_block(uint64_t offset, const format::BlockHeader& header, uint64_t available);
  void find_late_blocks();
  void verify_checksums();
  void sort_and_check_sequences();
  format::BlockHeader load_header(uint64_t offset) const;
  void add_damage(DamageKind kind, uint64_t offset, uint64_t bytes_lost, std::string what);
  static LogOpenResult finish(std::unique_ptr<LogFile> log);

  std::string path_;
  int fd_ = -1;
  const uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
  uint64_t file_bytes_ = 0;
  bool mapped_ = false;
  Compression compression_ = Compression::None;
  bool changes_ = false;  // while it is read
  bool still_written_ = false;
  std::vector<uint8_t> memory_;
  Column<uint8_t> inflated_;  // pages of zeros take no memory
  uint64_t most_rubbish_ = kMostRubbish;
  format::FileHeader header_{};
  std::unique_ptr<format::CounterPage> page_;
  std::string_view kind_text_, counter_text_;
  KindTable kinds_;
  std::vector<LogCounter> counters_;
  std::vector<BlockRef> blocks_;
  std::vector<uint64_t> lost_blocks_;  // offsets of used blocks that are unreadable
  std::vector<Damage> damage_;
  uint64_t unused_blocks_ = 0;
};

}  // namespace prof::analyzer
