// Which memory does CUPTI fill with records? cupti_front.cpp passes it buffers of a fixed pool that is mapped once.
// They are taken and returned without a lock, because CUPTI requests them on program threads (inside their launches)
// and completes them on its own thread.
//
//   free bits   1 = free            buffers     | 2 MiB | … 14 | 64 KiB | … 114 |   pages come with use
//               request: clear one  scratch     room of the reader, one for each buffer: CUPTI may complete
//               completed: set it               several at once on several threads
//
// Large buffers come first, because a change of buffer happens inside a launch. Measured on H200s: with 256 KiB instead
// of 1 MiB each launch takes 4 % longer; beside CUPTI alone, a launch takes 1.028 times as long with 1 MiB, 1.011 with
// 2 MiB and 1.015 with 4 MiB (22 processes each, +-0.010). CUPTI keeps one per launching thread, so many small ones
// follow. If the pool is empty, records are lost and counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace prof::preload {

class CuptiBuffers {
 public:
  static constexpr size_t kLargeBytes = 2 * 1024 * 1024;
  static constexpr size_t kSmallBytes = 64 * 1024;
  static constexpr uint32_t kLarge = 14;
  static constexpr uint32_t kBuffers = 128;
  static constexpr size_t kScratchBytes = 32 * 1024;

  bool open();
  // A zeroed buffer and its size. Null: none is free.
  uint8_t* take(size_t& bytes);
  // Clears the `used` bytes at the front and frees the buffer. False: it is not a buffer of the pool, or it is not in
  // use.
  bool give_back(uint8_t* buffer, size_t used);
  bool all_free() const;
  // The reader's room for a buffer of the pool. Null: it is not one.
  void* scratch(const uint8_t* buffer) const;
  // After fork: the parent's buffers will never be returned.
  void abandon();

 private:
  static constexpr uint32_t kWords = kBuffers / 64;
  static constexpr size_t kBufferBytes = kLarge * kLargeBytes + (kBuffers - kLarge) * kSmallBytes;  // of all together
  static constexpr size_t kTotalBytes = kBufferBytes + kBuffers * kScratchBytes;
  static_assert(kTotalBytes <= 40u << 20, "what GPU activity may cost a program in memory");
  static constexpr size_t bytes_of(uint32_t index) { return index < kLarge ? kLargeBytes : kSmallBytes; }
  static constexpr size_t offset_of(uint32_t index) {
    return index < kLarge ? index * kLargeBytes : kLarge * kLargeBytes + (index - kLarge) * kSmallBytes;
  }
  int64_t index_of(const uint8_t* buffer) const;

  uint8_t* memory_ = nullptr;
  std::atomic<uint64_t> free_[kWords]{};
};

}  // namespace prof::preload
