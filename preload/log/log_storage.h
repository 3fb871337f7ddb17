// The log's file: its name, its header and counter page, and stretches of it mapped into memory ("slabs"). Where mapping is
// not to be trusted (network and unknown file systems) slabs are private memory that write_back() copies to the file.
// Called by runtime/ and chunks.cpp; never on the record path.
#pragma once

#include "preload/format/block.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::preload {

struct LogLimits {
  uint64_t max_bytes;  // PROF_MAX_SIZE
};

class LogFile {
 public:
  // Creates the file named by `output` (a folder, or a name with %p %h %r %t), below `folder` if that is not empty, and its first
  // pages. False: the reason has been reported. `backing` tells how the blocks will be stored.
  // `part`: of the run, in this process; the second one's name ends in "-2".
  bool create(std::string_view folder, std::string_view output, const LogLimits& limits, unsigned part = 1);

  // Makes `bytes` (a multiple of the block size) more of the log usable and returns their memory; fewer when the disk or a
  // limit leaves less (then `bytes` is changed), null when there is no room at all. Any thread; no lock.
  format::Block* extend(uint64_t& bytes, uint64_t& offset);

  // Written backing only: copies `bytes` at `from` to `offset`, and the header pages.
  void write_back(const void* from, uint64_t bytes, uint64_t offset);
  void write_back_header();

  // Cuts the file behind `end` (offset), marks it finished.
  void finish(uint64_t end, uint64_t monotonic_ns);

  // In the child of a fork: lets go of the parent's file without changing it. Of an earlier part of the run: `life` is the one that ended.
  void abandon();
  void retire(uint64_t life);

  bool is_open() const { return fd_ >= 0; }
  const char* path() const { return path_; }
  format::FileHeader* header() const { return header_; }
  format::CounterPage* counters() const { return counters_.load(std::memory_order_acquire); }
  format::Backing backing() const { return backing_; }

 private:
  bool open_new(std::string_view folder, std::string_view output, unsigned part);
  bool ours();  // the descriptor still shows our file (programs close all descriptors and reuse the numbers)
  bool room_for(uint64_t end, uint64_t bytes, uint64_t& allowed);
  bool reserve(uint64_t offset, uint64_t bytes);

  int fd_ = -1;
  uint64_t device_ = 0, inode_ = 0;
  uint64_t max_bytes_ = 0;
  std::atomic<uint64_t> end_{0};
  static constexpr uint64_t kNotClosed = ~0ull;
  std::atomic<uint64_t> blocks_at_end_{kNotClosed};  // when the log was closed; a thread may just be extending it
  format::Backing backing_ = format::Backing::Mapped;
  format::FileHeader* header_ = nullptr;
  std::atomic<format::CounterPage*> counters_{nullptr};  // threads count while another one starts the life
  char path_[4096] = {};
};

extern LogFile g_log;

}  // namespace prof::preload
