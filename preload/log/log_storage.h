// Where is the log stored? LogFile has the log's name, its header and counter page, and the parts of it that are mapped
// into memory ("slabs"). On file systems where mappings are not reliable (network and unknown ones), slabs are private
// memory that write_back() copies to the file. lifecycle/ and chunks.cpp call it, never the record path.
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
  // Creates the file and its first pages, and the folders of its path that do not exist (mode 0700). Folder and file
  // have these modes whatever the umask is. `output` is a folder, or a name with %p %h %r %t; it is below `folder` if
  // that is not empty. Returns false after it reported the reason. backing() is then known: how blocks are stored.
  // `part` is the number of the recording in this process; the name of the second one ends in "-2".
  bool create(std::string_view folder, std::string_view output, const LogLimits& limits, unsigned part = 1);

  // Moves the descriptor to a high number, after other threads may record: in a process with several threads the kernel
  // needs up to 20 ms to make its table of descriptors larger (synchronize_rcu).
  void move_descriptor();

  // Makes `bytes` more of the log usable, a multiple of the block size, and returns their memory. If the disk or a
  // limit leaves less, `bytes` becomes smaller. Returns null if there is no room at all. Any thread may call it; no
  // lock.
  format::Block* extend(uint64_t& bytes, uint64_t& offset);

  // Written backing only: copies `bytes` at `from` to file offset `offset`; the second function copies the header
  // pages.
  void write_back(const void* from, uint64_t bytes, uint64_t offset);
  void write_back_header();

  // The recording cannot start: closes the file and deletes it.
  void discard();

  // Cuts the file at offset `end` and marks it as finished.
  void finish(uint64_t end, uint64_t monotonic_ns);

  // abandon(): in the child of a fork, releases the parent's file without changing it. retire(): releases the file of
  // an earlier recording of this process; `life` is the epoch that ended.
  void abandon();
  void retire(uint64_t life);

  bool is_open() const { return fd_ >= 0; }
  const char* path() const { return path_; }
  format::FileHeader* header() const { return header_; }
  format::CounterPage* counters() const { return counters_.load(std::memory_order_acquire); }
  format::Backing backing() const { return backing_; }

 private:
  bool open_new(std::string_view folder, std::string_view output, unsigned part);
  // Whether the descriptor still refers to our file. Programs close all descriptors and reuse the numbers.
  bool ours();
  bool room_for(uint64_t end, uint64_t bytes, uint64_t& allowed);
  bool reserve(uint64_t offset, uint64_t bytes);
  void* map(uint64_t offset, uint64_t bytes);

  bool is_ours(int fd) const;

  std::atomic<int> fd_{-1};
  std::atomic<uint32_t> users_{0};  // threads that extend the log: they may use a descriptor that was replaced
  uint64_t device_ = 0, inode_ = 0;
  uint64_t max_bytes_ = 0;
  std::atomic<uint64_t> end_{0};
  static constexpr uint64_t kNotClosed = ~0ull;
  std::atomic<uint64_t> blocks_at_end_{kNotClosed};  // when the log was closed; a thread may be extending it then
  format::Backing backing_ = format::Backing::Mapped;
  format::FileHeader* header_ = nullptr;
  std::atomic<format::CounterPage*> counters_{nullptr};  // threads count while another one starts the recording
  char path_[4096] = {};
};

extern LogFile g_log;

}  // namespace prof::preload
