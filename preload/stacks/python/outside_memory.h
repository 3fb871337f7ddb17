// How is memory of this process read that another thread may free at any time? Through the kernel, which reports an
// error where a load would crash. Only the helper thread and the end of a recording read so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace prof::preload {

// Copies up to `bytes` bytes from `at`, as far as they can be read. Returns the number of copied bytes.
size_t read_outside(uint64_t at, void* to, size_t bytes);

// Reads a window at a time: the fields of an object are next to each other.
class OutsideMemory {
 public:
  template <class T> bool read(uintptr_t at, T& to) const { return bytes(at, &to, sizeof to); }
  bool bytes(uintptr_t at, void* to, size_t size) const {
    if (at < at_ || at - at_ > size_ || size_ - (at - at_) < size) {
      if (size > sizeof window_) return read_outside(at, to, size) == size;
      at_ = at;
      size_ = at < 4096 ? 0 : read_outside(at, window_, sizeof window_);
      if (size_ < size) {
        size_ = 0;
        return false;
      }
    }
    std::memcpy(to, window_ + (at - at_), size);
    return true;
  }

 private:
  mutable uintptr_t at_ = 0;
  mutable size_t size_ = 0;
  mutable uint8_t window_[256];
};

}  // namespace prof::preload
