#include "preload/capture/cupti_buffers.h"

#include <sys/mman.h>

#include <cstring>

namespace prof::preload {

namespace {
constexpr size_t kTotalBytes = CuptiBuffers::kBuffers * (CuptiBuffers::kBufferBytes + CuptiBuffers::kScratchBytes);
static_assert(kTotalBytes <= 40u << 20, "what GPU activity may cost a program in memory");
}  // namespace

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

uint8_t* CuptiBuffers::take() {
  for (uint32_t w = 0; w < kWords; ++w) {
    uint64_t bits = free_[w].load(std::memory_order_relaxed);
    while (bits != 0) {  // the lowest free one: its pages were used before
      const uint64_t lowest = bits & (~bits + 1);
      if (free_[w].compare_exchange_weak(bits, bits & ~lowest, std::memory_order_acquire, std::memory_order_relaxed)) {
        const uint32_t index = w * 64 + static_cast<uint32_t>(__builtin_ctzll(lowest));
        return memory_ + index * kBufferBytes;
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
  std::memset(buffer, 0, used < kBufferBytes ? used : kBufferBytes);
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
  return memory_ + kBuffers * kBufferBytes + static_cast<size_t>(index) * kScratchBytes;
}

void CuptiBuffers::forget() {
  if (memory_ != nullptr) munmap(memory_, kTotalBytes);
  memory_ = nullptr;
  for (std::atomic<uint64_t>& word : free_) word.store(0, std::memory_order_relaxed);
}

int64_t CuptiBuffers::index_of(const uint8_t* buffer) const {
  if (memory_ == nullptr || buffer < memory_ || buffer >= memory_ + kBuffers * kBufferBytes) return -1;
  const size_t offset = static_cast<size_t>(buffer - memory_);
  return offset % kBufferBytes == 0 ? static_cast<int64_t>(offset / kBufferBytes) : -1;
}

}  // namespace prof::preload
