#include "preload/capture/cupti/cupti_buffers.h"

#include <sys/mman.h>

#include <cstring>

namespace prof::preload {

bool CuptiBuffers::open() {
  if (memory_ == nullptr) {
    void* const memory =
        mmap(nullptr, kTotalBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    memory_ = static_cast<uint8_t*>(memory);
  }
  for (std::atomic<uint64_t>& word : free_) word.store(~0ull, std::memory_order_release);
  return true;
}

uint8_t* CuptiBuffers::take(size_t& bytes) {
  for (uint32_t w = 0; w < kWords; ++w) {
    uint64_t bits = free_[w].load(std::memory_order_relaxed);
    while (bits != 0) {  // the lowest free one: its pages were used before
      const uint64_t lowest = bits & (~bits + 1);
      if (free_[w].compare_exchange_weak(bits, bits & ~lowest, std::memory_order_acquire, std::memory_order_relaxed)) {
        const uint32_t index = w * 64 + static_cast<uint32_t>(__builtin_ctzll(lowest));
        bytes = bytes_of(index);
        return memory_ + offset_of(index);
      }
    }
  }
  return nullptr;
}

bool CuptiBuffers::give_back(uint8_t* buffer, size_t used) {
  const int64_t index = index_of(buffer);
  if (index < 0) return false;
  std::atomic<uint64_t>& word = free_[index / 64];
  const uint64_t bit = 1ull << (index % 64);
  if ((word.load(std::memory_order_relaxed) & bit) != 0) return false;
  // Zeroed here, on CUPTI's thread, so that CUPTI need not do it inside a launch (ZEROED_OUT_ACTIVITY_BUFFER).
  const size_t bytes = bytes_of(static_cast<uint32_t>(index));
  std::memset(buffer, 0, used < bytes ? used : bytes);
  word.fetch_or(bit, std::memory_order_release);
  return true;
}

bool CuptiBuffers::all_free() const {
  for (const std::atomic<uint64_t>& word : free_) {
    if (word.load(std::memory_order_acquire) != ~0ull) return false;
  }
  return true;
}

void* CuptiBuffers::scratch(const uint8_t* buffer) const {
  const int64_t index = index_of(buffer);
  if (index < 0) return nullptr;
  return memory_ + kBufferBytes + static_cast<size_t>(index) * kScratchBytes;
}

void CuptiBuffers::abandon() {
  if (memory_ != nullptr) munmap(memory_, kTotalBytes);
  memory_ = nullptr;
  for (std::atomic<uint64_t>& word : free_) word.store(0, std::memory_order_relaxed);
}

int64_t CuptiBuffers::index_of(const uint8_t* buffer) const {
  if (memory_ == nullptr || buffer < memory_ || buffer >= memory_ + kBufferBytes) return -1;
  const size_t offset = static_cast<size_t>(buffer - memory_);
  constexpr size_t kLargeEnd = kLarge * kLargeBytes;
  const uint32_t index =
      static_cast<uint32_t>(offset < kLargeEnd ? offset / kLargeBytes : kLarge + (offset - kLargeEnd) / kSmallBytes);
  return offset_of(index) == offset ? static_cast<int64_t>(index) : -1;
}

}  // namespace prof::preload
