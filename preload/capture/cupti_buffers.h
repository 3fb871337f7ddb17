// The buffers CUPTI fills: a fixed pool, mapped once, handed out and taken back without a lock. CUPTI asks on program threads
// (inside their launches) and returns buffers on its own thread.
//
//   free bits   1 = free            buffers     | 256 KiB | 256 KiB | … 128 of them, pages come with use
//               request: clear one  scratch     room of the reader, one beside each buffer: CUPTI may complete
//               completed: set it               several at once on several threads
//
// CUPTI keeps a buffer per launching thread, so many small ones beat few large ones. An empty pool costs records, counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace prof::preload {

class CuptiBuffers {
 public:
  static constexpr size_t kBufferBytes = 256 * 1024;
  static constexpr uint32_t kBuffers = 128;
  static constexpr size_t kScratchBytes = 32 * 1024;

  bool open();
  // A buffer of zeros, or null: none free.
  uint8_t* take();
  // Clears the `used` bytes at the front and makes it free. False: none of ours, or not out.
  bool give_back(uint8_t* buffer, size_t used);
  bool all_free() const;
  // The reader's room beside a buffer of ours; null: none of ours.
  void* scratch(const uint8_t* buffer) const;
  // After fork: the parent's buffers will never come back.
  void forget();

 private:
  static constexpr uint32_t kWords = kBuffers / 64;
  int64_t index_of(const uint8_t* buffer) const;

  uint8_t* memory_ = nullptr;
  std::atomic<uint64_t> free_[kWords]{};
};

}  // namespace prof::preload
