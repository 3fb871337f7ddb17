// What is new in a log that is being written? Each call of read() delivers the records that were committed since the
// last call, and reads nothing else: the open block of each thread, and the blocks after the last used one. Used by
// `prof top`. The program is not affected: the file is read with pread, never mapped, because it may shrink when the
// log is closed.
//
//   |sealed|sealed|open |sealed|open |·····|          read() looks at the open blocks, the empty ones before the last
//                   ^             ^    ^                used one, and from the frontier on
//                   polled     polled  frontier
//
// A long log has millions of blocks. open() delivers only its end. Then each read() looks at some of the older blocks,
// backward and for a limited time: it delivers the definitions among them and polls those that are still open. Their
// events are older than the first call and are not delivered.
#pragma once

#include "analyzer/input/log/log_decode.h"
#include "analyzer/input/log/log_kinds.h"
#include "preload/format/block.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace prof::analyzer {

class LogTail {
 public:
  // The last blocks whose events open() delivers.
  static constexpr uint64_t kRecentBlocks = 2048;

  // Throws InputError if the file is no log, or a compressed one.
  explicit LogTail(std::string path);
  ~LogTail();
  LogTail(const LogTail&) = delete;
  LogTail& operator=(const LogTail&) = delete;

  const std::string& path() const { return path_; }
  const format::FileHeader& header() const { return header_; }
  // As of the last read().
  const format::CounterPage& counter_page() const { return *page_; }
  // The names of the counters in the page, in its order.
  const std::vector<std::string>& counter_names() const { return counter_names_; }
  bool is_ring() const { return page_->ring.bytes != 0; }
  uint64_t file_bytes() const { return file_bytes_; }
  // Every event of the log was delivered, from the first one.
  bool from_the_start() const { return from_the_start_; }
  // All definitions of the log were delivered.
  bool surveyed() const { return survey_ == 0; }
  uint64_t damaged_blocks() const { return damaged_; }
  // Whether another file has the path now: the recording continues elsewhere.
  bool replaced() const;

  // Handler: as of decode_block(). Older blocks are looked at for at most `survey`.
  template <class Handler> void read(Handler& handler, std::chrono::nanoseconds survey) {
    look_at_file();
    const auto deliver = [&](uint32_t already, bool definitions_only) {
      Later<Handler> later{handler, already, definitions_only};
      const DecodeResult result = decode_block(*this, block_, later);
      if (result.bad_record) ++damaged_;
    };
    if (is_ring()) {
      for (uint64_t block = 0; block < blocks_; ++block) {
        if (uint32_t already = 0; load_of_ring(block, already)) deliver(already, false);
      }
      return;
    }
    for (size_t i = 0; i < polled_.size(); ++i) {
      if (uint32_t already = 0; load_polled(i, already)) deliver(already, false);
    }
    drop_final();
    while (next_new()) deliver(0, false);
    const auto until = std::chrono::steady_clock::now() + survey;
    while (next_old(until)) deliver(0, true);
  }

  // For decode_block(): the block that was loaded last.
  const KindTable& kinds() const { return kinds_; }
  const uint8_t* payload(const BlockRef&) const { return bytes_.data() + format::kBlockHeaderBytes; }

 private:
  // Passes on records from a payload offset on.
  template <class Handler> struct Later {
    Handler& to;
    uint32_t from;
    bool definitions_only;
    template <class T>
    requires std::is_invocable_v<Handler&, const T&, RecordPlace>
    void operator()(const T& record, RecordPlace place) {
      if (place.payload_offset < from) return;
      if constexpr (!is_definition<T>()) {
        if (definitions_only) return;
      }
      to(record, place);
    }
  };
  template <class T> static constexpr bool is_definition() { return format::is_one_of<T>(format::DefinitionKinds{}); }

  // A block that may still grow.
  struct Polled {
    uint64_t block = 0;
    uint32_t read = 0;  // payload bytes that were delivered
    bool final = false;
  };
  // The contents of a block of a ring that were delivered.
  struct Seen {
    uint64_t sequence = UINT64_MAX;
    uint32_t thread = 0, read = 0;
    format::BlockKind kind{};
    bool sealed = false;
  };

  void look_at_file();
  bool read_at(void* to, size_t bytes, uint64_t offset) const;
  bool read_header(uint64_t block, format::BlockHeader& header) const;
  // Reads the whole block into bytes_ and block_. False: it is not a used block.
  bool load(uint64_t block);
  bool load_polled(size_t i, uint32_t& already);
  bool load_of_ring(uint64_t block, uint32_t& already);
  void drop_final();
  bool next_new();
  bool next_old(std::chrono::steady_clock::time_point until);
  void find_end();

  std::string path_;
  int fd_ = -1;
  uint64_t device_ = 0, inode_ = 0;
  uint64_t file_bytes_ = 0, blocks_ = 0;
  format::FileHeader header_{};
  std::string text_;  // of the header, which kinds_ refers to
  KindTable kinds_;
  std::vector<std::string> counter_names_;
  std::unique_ptr<format::CounterPage> page_ = std::make_unique<format::CounterPage>();
  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(format::kBlockBytes);
  BlockRef block_;
  std::vector<Polled> polled_;
  std::vector<Seen> ring_;
  uint64_t frontier_ = 0;            // all blocks before it are delivered, polled or surveyed
  uint64_t scan_ = 0;                // where next_new() is
  std::vector<uint64_t> stretches_;  // where the file ended earlier: a thread may have taken a stretch from there on
  uint64_t survey_ = 0;              // blocks before it are not surveyed yet
  bool from_the_start_ = false;
  uint64_t damaged_ = 0;
};

}  // namespace prof::analyzer
